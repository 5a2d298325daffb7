// Ears hear many calls for a voice activity detector: windows of 32 ms of each, the caller's sound and ours.
//
//   main thread:  const ears = Ears.open(plane); ears.add(socket.handle); its handle goes to the worker
//   worker:       const ears = Ears.attach(handle); ears.onWindows(…); ears.take(samples, fields)
//
// Windows of all calls end at the same moments, and those of one moment become ready together. At most 8 wait
// for each call; then the oldest is dropped and counted.
import { unwatchReady, watchReady } from '../audio/ready.js';
import { attempt } from '../errors.js';
import { mediaAddon } from './media-addon.js';
import type { MediaPlane } from './media-plane.js';

/** Samples of the caller in one row of `take`, at 16 kHz; as many of ours follow. */
export const WINDOW_SAMPLES = 512;

/** Places of the fields in one row of `take`. */
export const EAR = {
  /** Handle of the call's socket. */
  socket: 0,
  /** When the sound after the window is due, on the monotonic clock: up to 16 ms ahead of now. */
  endMs: 1,
  /** Mean power in dBFS, a full-scale square wave being 0; -120 is silence. */
  callerLevel: 2,
  oursLevel: 3,
  /** Windows of this call that were dropped before this one, because nobody took them. */
  dropped: 4,
} as const;
export const EAR_FIELDS = Object.keys(EAR).length;

export class Ears {
  readonly handle: number;
  readonly #owner: boolean;
  readonly #waiting = new Set<() => void>();
  readonly #look = () => this.#callIfReady();

  private constructor(handle: number, owner: boolean) {
    this.handle = handle;
    this.#owner = owner;
  }

  /** Ears for calls of this plane. */
  static open(plane: Pick<MediaPlane, 'handle'>): Ears {
    return new Ears(mediaAddon().earsOpen(plane.handle), true);
  }

  /** Another thread's ears, or closed ones: those hear nothing. */
  static attach(handle: number): Ears {
    return new Ears(handle, false);
  }

  /**
   * Hears the call of this socket from its next window on. Returns false if either is closed, they are of two
   * planes, or other ears hear the call.
   */
  add(socket: number): boolean {
    return mediaAddon().earsAdd(this.handle, socket);
  }

  /** Windows that wait are dropped. Idempotent. */
  remove(socket: number): void {
    mediaAddon().earsRemove(this.handle, socket);
  }

  /**
   * Takes the oldest windows, as many as both arrays have room for; returns their number. Row r has 512
   * samples of the caller from 1024 r on and 512 of ours behind them, and its fields from EAR_FIELDS r on.
   */
  take(samples: Float32Array, fields: Float64Array): number {
    return mediaAddon().earsTake(this.handle, samples, fields);
  }

  /** Called once, never before this returns: when windows wait, or the ears were closed. */
  onWindows(callback: () => void): void {
    this.#waiting.add(callback);
    watchReady(this.handle, this.#look);
    if (mediaAddon().earsWatch(this.handle)) queueMicrotask(this.#look);
  }

  /** By the opener it ends the ears for all, and every call is left. Elsewhere it ends that use. */
  close(): void {
    if (this.#owner) mediaAddon().earsClose(this.handle);
    this.#waiting.clear();
    this.#unwatchIfIdle();
  }

  #callIfReady(): void {
    if (this.#waiting.size === 0 || !mediaAddon().earsWatch(this.handle)) return;
    const callbacks = [...this.#waiting];
    this.#waiting.clear();
    this.#unwatchIfIdle();
    for (const callback of callbacks) attempt({ work: 'ears' }, callback);
  }

  #unwatchIfIdle(): void {
    if (this.#waiting.size === 0) unwatchReady(this.handle, this.#look);
  }
}
