// Samples waiting in order, in one array that grows up to a bound.
//
// It grows because most queues stay short and a thousand of them exist: a line
// holds a second of silence now and then, not all the time.
import { ParleyError } from '../errors.js';

const FIRST_CAPACITY = 1024; // samples

export class SampleQueue {
  readonly #limit: number;
  #samples: Float32Array;
  #start = 0;
  #length = 0;

  /** @param limit the most samples it ever holds; writing beyond is a mistake of the caller. */
  constructor(limit: number) {
    this.#limit = limit;
    this.#samples = new Float32Array(Math.min(limit, FIRST_CAPACITY));
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
      this.#samples = new Float32Array(Math.min(this.#limit, 2 ** Math.ceil(Math.log2(needed))));
    }
    this.#samples.set(held); // safe when both are one array: set() copies as if through a buffer
    this.#start = 0;
  }
}
