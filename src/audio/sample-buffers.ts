// Buffers of streaming samples: a queue between a producer and a consumer, and a window that a filter looks
// through.
import { ParleyError } from '../errors.js';

const FIRST_CAPACITY = 1024; // samples

/**
 * Samples in order, in one array that grows up to a bound. It grows because most queues stay short and a
 * thousand of them exist: a session holds a second of silence now and then, not all the time. It begins
 * empty, because cached sound passes it by.
 */
export class SampleQueue {
  readonly #limit: number;
  #samples = new Float32Array(0);
  #start = 0;
  #length = 0;

  /** @param limit maximum samples; writing beyond it throws QUEUE_FULL. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get length(): number {
    return this.#length;
  }

  write(input: Float32Array, count: number): void {
    this.#reserve(count);
    const end = this.#start + this.#length;
    for (let i = 0; i < count; i++) this.#samples[end + i] = input[i] as number;
    this.#length += count;
  }

  /** Moves up to `count` samples to `output` from `offset` on; returns how many. */
  read(output: Float32Array, count: number, offset = 0): number {
    const taken = Math.min(count, this.#length);
    for (let i = 0; i < taken; i++) output[offset + i] = this.#samples[this.#start + i] as number;
    this.drop(taken);
    return taken;
  }

  /** Forgets the oldest `count` samples. */
  drop(count: number): void {
    const dropped = Math.min(count, this.#length);
    this.#length -= dropped;
    this.#start = this.#length === 0 ? 0 : this.#start + dropped;
  }

  clear(): void {
    this.#start = 0;
    this.#length = 0;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (this.#start + needed <= this.#samples.length) return;
    if (needed > this.#limit) {
      throw new ParleyError('QUEUE_FULL', `${needed} samples do not fit into a queue of ${this.#limit}`);
    }
    const held = this.#samples.subarray(this.#start, this.#start + this.#length);
    if (needed > this.#samples.length) {
      const capacity = Math.max(FIRST_CAPACITY, 2 ** Math.ceil(Math.log2(needed)));
      this.#samples = new Float32Array(Math.min(this.#limit, capacity));
    }
    this.#samples.set(held); // safe when both are one array: set() copies as if through a buffer
    this.#start = 0;
  }
}

/**
 * The last samples of a stream: those that a filter still reads, then the new ones. Positions count samples
 * of the stream, so a filter need not know which were dropped.
 */
export class SampleWindow {
  /** `samples[n]` is the stream's sample `start + n`; from `end - start` on they are undefined. */
  readonly samples: Float32Array;
  #start = 0;
  #filled = 0;

  /** @param capacity maximum samples; the caller must not append beyond it. */
  constructor(capacity: number) {
    this.samples = new Float32Array(capacity);
  }

  /** The oldest position held; negative for zeros before the first sample. */
  get start(): number {
    return this.#start;
  }

  /** The position after the newest sample. */
  get end(): number {
    return this.#start + this.#filled;
  }

  append(input: Float32Array, at: number, count: number): void {
    const { samples } = this;
    const filled = this.#filled;
    for (let i = 0; i < count; i++) samples[filled + i] = input[at + i] as number;
    this.#filled += count;
  }

  appendZeros(count: number): void {
    this.samples.fill(0, this.#filled, this.#filled + count);
    this.#filled += count;
  }

  /** Clears the room after the newest sample. */
  blankRest(): void {
    this.samples.fill(0, this.#filled);
  }

  /** Drops the samples before `oldest`. */
  forget(oldest: number): void {
    const drop = Math.min(oldest - this.#start, this.#filled);
    if (drop <= 0) return;
    this.samples.copyWithin(0, drop, this.#filled);
    this.#filled -= drop;
    this.#start += drop;
  }

  /** Begins another stream, with so many zeros before its first sample. */
  reset(zeros = 0): void {
    this.#start = 0 - zeros; // never -0: positions would no longer be integers to the compiler, half as fast
    this.#filled = 0;
    this.appendZeros(zeros);
  }
}
