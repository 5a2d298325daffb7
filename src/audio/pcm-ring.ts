// Native rings as TypeScript sees them: bounded queues between one writer and
// one reader, anywhere in the process. A handle may be sent to a worker, which
// attaches to it.
//
//   writer: write… end(error)       reader: read… until ended and empty
//
// The side that opened a ring closes it; either side may abort. Tests use both ends from one thread.
import { loadAddon } from '../addon.js';
import { attempt, type ErrorCode, ParleyError } from '../errors.js';
import { unwatchReady, watchReady } from './ready.js';

type Side = 'read' | 'write';

interface RingAddon {
  ringOpen(capacityBytes: number): number;
  ringWrite(handle: number, data: Uint8Array | Float32Array): number;
  ringRead(handle: number, data: Uint8Array | Float32Array): number;
  ringEnd(handle: number, errorCode: string): void;
  ringAbort(handle: number): void;
  ringStatus(handle: number): RingStatus | null;
  ringWatch(handle: number, side: Side): boolean;
  ringClose(handle: number): void;
}

interface RingStatus {
  /** In units of the ring: bytes of a ByteRing, samples of a PcmRing. */
  readonly readable: number;
  readonly writable: number;
  /** Accepted since the ring was opened. */
  readonly written: number;
  /** True once the writer has ended the ring: no data follows the readable data. */
  readonly ended: boolean;
  readonly aborted: boolean;
  /** An error code, or empty when the end is a complete one. */
  readonly error: string;
}

let loaded: RingAddon | undefined;
function addon(): RingAddon {
  return (loaded ??= loadAddon<RingAddon>());
}

function aborted(what: string): ParleyError {
  return new ParleyError('ABORTED', `${what} was aborted`);
}

const RING = { work: 'ring' };

/** The callbacks that wait for one handle in this thread. */
class Waiters {
  readonly #handle: number;
  readonly #waiting: Record<Side, Set<() => void>> = { read: new Set(), write: new Set() };
  readonly #look = () => this.#fireWhatHolds();

  constructor(handle: number) {
    this.#handle = handle;
  }

  add(side: Side, callback: () => void): void {
    this.#waiting[side].add(callback);
    watchReady(this.#handle, this.#look);
    if (addon().ringWatch(this.#handle, side)) queueMicrotask(this.#look);
  }

  delete(side: Side, callback: () => void): void {
    this.#waiting[side].delete(callback);
    this.#rest();
  }

  /** Calls all callbacks: the ring is gone, and their next call reports that. */
  release(): void {
    this.#fire('read');
    this.#fire('write');
  }

  #fireWhatHolds(): void {
    for (const side of ['read', 'write'] as const) {
      if (this.#waiting[side].size > 0 && addon().ringWatch(this.#handle, side)) this.#fire(side);
    }
  }

  #fire(side: Side): void {
    const callbacks = [...this.#waiting[side]];
    this.#waiting[side].clear();
    this.#rest();
    for (const callback of callbacks) attempt(RING, callback);
  }

  #rest(): void {
    if (this.#waiting.read.size + this.#waiting.write.size === 0) unwatchReady(this.#handle, this.#look);
  }
}

/** A ring of bytes. `T` is what a face of it reads and writes. */
export class ByteRing<T extends Uint8Array | Float32Array = Uint8Array> {
  readonly handle: number;
  readonly #owner: boolean;
  readonly #waiters: Waiters;

  private constructor(handle: number, owner: boolean) {
    this.handle = handle;
    this.#owner = owner;
    this.#waiters = new Waiters(handle);
  }

  static open<T extends Uint8Array | Float32Array = Uint8Array>(capacityBytes: number): ByteRing<T> {
    return new ByteRing<T>(addon().ringOpen(capacityBytes), true);
  }

  /** A ring that native code has opened for the caller, who closes it. */
  static adopt<T extends Uint8Array | Float32Array = Uint8Array>(handle: number): ByteRing<T> {
    return new ByteRing<T>(handle, true);
  }

  /** Another thread's ring, or one that is already gone: then every use answers -1 or null. */
  static attach<T extends Uint8Array | Float32Array = Uint8Array>(handle: number): ByteRing<T> {
    return new ByteRing<T>(handle, false);
  }

  /** Bytes accepted; 0 when the ring is full, -1 when it was aborted, ended or closed. */
  write(data: T): number {
    return addon().ringWrite(this.handle, data);
  }

  /** Bytes copied; 0 when nothing is there now (see `status().ended`), -1 when aborted or closed. */
  read(into: T): number {
    return addon().ringRead(this.handle, into);
  }

  /** Writes everything, waiting for room. Rejects with ABORTED when the ring or the signal is. */
  async writeAll(data: T, signal?: AbortSignal): Promise<void> {
    const stop = () => this.#waiters.release();
    signal?.addEventListener('abort', stop);
    try {
      for (let at = 0; at < data.length;) {
        const taken = signal?.aborted === true ? -1 : this.write(data.subarray(at) as T);
        if (taken < 0) throw aborted('the ring');
        at += taken / data.BYTES_PER_ELEMENT;
        if (taken === 0) await this.writable();
      }
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  /** The writer's last word. With an error the reader gets the code after the data. */
  end(error: ErrorCode | '' = ''): void {
    addon().ringEnd(this.handle, error);
  }

  /** Null when the ring is closed. */
  status(): RingStatus | null {
    return addon().ringStatus(this.handle);
  }

  /** Drops what is queued and tells both sides. Idempotent. */
  abort(): void {
    addon().ringAbort(this.handle);
  }

  /** Resolves when there is something to read, or the end, or nothing ever again. */
  readable(): Promise<void> {
    return new Promise((resolve) => this.onReadable(resolve));
  }

  /** Resolves when half of the ring is free, or it was aborted or closed. */
  writable(): Promise<void> {
    return new Promise((resolve) => this.onWritable(resolve));
  }

  /** `readable` as a callback: called once, never before this returns. */
  onReadable(callback: () => void): void {
    this.#waiters.add('read', callback);
  }

  /** `writable` as a callback: called once, never before this returns. */
  onWritable(callback: () => void): void {
    this.#waiters.add('write', callback);
  }

  /** Takes a callback back. */
  forget(callback: () => void): void {
    this.#waiters.delete('read', callback);
    this.#waiters.delete('write', callback);
  }

  /** Closing by the opener ends the ring for all; closing elsewhere ends only that use. Idempotent. */
  close(): void {
    if (this.#owner) addon().ringClose(this.handle);
    this.#waiters.release();
  }
}

const SAMPLE_BYTES = Float32Array.BYTES_PER_ELEMENT;

/** A ring of mono Float32 samples; every count is in samples. */
export class PcmRing {
  /** Hz. */
  readonly rate: number;
  readonly #ring: ByteRing<Float32Array>;

  private constructor(ring: ByteRing<Float32Array>, rate: number) {
    this.#ring = ring;
    this.rate = rate;
  }

  static open(rate: number, capacitySamples: number): PcmRing {
    return new PcmRing(ByteRing.open<Float32Array>(capacitySamples * SAMPLE_BYTES), rate);
  }

  static adopt(handle: number, rate: number): PcmRing {
    return new PcmRing(ByteRing.adopt<Float32Array>(handle), rate);
  }

  static attach(handle: number, rate: number): PcmRing {
    return new PcmRing(ByteRing.attach<Float32Array>(handle), rate);
  }

  get handle(): number {
    return this.#ring.handle;
  }

  /** Samples accepted; 0 when full, -1 when aborted, ended or closed. */
  write(samples: Float32Array): number {
    const taken = this.#ring.write(samples);
    return taken < 0 ? taken : taken / SAMPLE_BYTES;
  }

  /** Samples copied; 0 when nothing is there now, -1 when aborted or closed. */
  read(into: Float32Array): number {
    const taken = this.#ring.read(into);
    return taken < 0 ? taken : taken / SAMPLE_BYTES;
  }

  writeAll(samples: Float32Array, signal?: AbortSignal): Promise<void> {
    return this.#ring.writeAll(samples, signal);
  }

  end(error: ErrorCode | '' = ''): void {
    this.#ring.end(error);
  }

  status(): RingStatus | null {
    const bytes = this.#ring.status();
    if (bytes === null) return null;
    const samples = (count: number) => Math.floor(count / SAMPLE_BYTES);
    return {
      ...bytes,
      readable: samples(bytes.readable),
      writable: samples(bytes.writable),
      written: samples(bytes.written),
    };
  }

  readable(): Promise<void> {
    return this.#ring.readable();
  }

  writable(): Promise<void> {
    return this.#ring.writable();
  }

  onReadable(callback: () => void): void {
    this.#ring.onReadable(callback);
  }

  onWritable(callback: () => void): void {
    this.#ring.onWritable(callback);
  }

  forget(callback: () => void): void {
    this.#ring.forget(callback);
  }

  abort(): void {
    this.#ring.abort();
  }

  close(): void {
    this.#ring.close();
  }
}
