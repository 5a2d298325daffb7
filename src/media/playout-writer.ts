// A playout as a producer in any thread sees it: push until it is full, then
// wait to be called.
import { unwatchReady, watchReady } from '../audio/ready.js';
import { mediaAddon, type PushAnswer } from './media-addon.js';

export class PlayoutWriter {
  readonly handle: number;
  readonly #waiting = new Set<() => void>();
  readonly #look = () => this.#callIfRoom();

  /** Of a playout that any thread owns. Owns nothing itself: there is nothing to close but `forget`. */
  constructor(handle: number) {
    this.handle = handle;
  }

  /** One frame, at most 1500 bytes; copied. */
  push(generation: number, track: number, payload: Uint8Array): PushAnswer {
    return mediaAddon().streamPush(this.handle, generation, track, payload);
  }

  mark(generation: number, track: number, mark: number, endOfTrack: boolean): PushAnswer {
    return mediaAddon().streamMark(this.handle, generation, track, mark, endOfTrack);
  }

  /** What comes next is not there yet, and nobody is late: an empty queue after this is no underrun. */
  rest(generation: number, track: number): PushAnswer {
    return mediaAddon().streamRest(this.handle, generation, track);
  }

  /** No frame waits to be sent. */
  isDry(): boolean {
    return (mediaAddon().streamStats(this.handle)?.queuedMs ?? 0) === 0;
  }

  /**
   * Called once, never before this returns: when less than the low mark is queued, or the playout was cleared or
   * closed. One thread at a time may wait for one playout.
   */
  onRoom(callback: () => void): void {
    this.#waiting.add(callback);
    watchReady(this.handle, this.#look);
    if (mediaAddon().streamWatchRoom(this.handle)) queueMicrotask(this.#look);
  }

  /** Takes a callback back. */
  forget(callback: () => void): void {
    this.#waiting.delete(callback);
    this.#rest();
  }

  #callIfRoom(): void {
    if (this.#waiting.size === 0 || !mediaAddon().streamWatchRoom(this.handle)) return;
    const callbacks = [...this.#waiting];
    this.#waiting.clear();
    this.#rest();
    for (const callback of callbacks) callback();
  }

  #rest(): void {
    if (this.#waiting.size === 0) unwatchReady(this.handle, this.#look);
  }
}
