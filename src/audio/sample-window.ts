// The last samples of a stream: what a filter still looks at, then what came
// since. Positions count samples of the stream, so that a filter need not know
// what was dropped.

export class SampleWindow {
  /** `samples[n]` is the stream's sample `start + n`; those from `end - start` on mean nothing. */
  readonly samples: Float32Array;
  #start = 0;
  #filled = 0;

  /** @param capacity the most samples it ever holds; appending beyond is a mistake of the caller. */
  constructor(capacity: number) {
    this.samples = new Float32Array(capacity);
  }

  /** The oldest position held; negative for zeros before the first sample. */
  get start(): number {
    return this.#start;
  }

  /** After the newest one. */
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

  /** Zeros as far as there is room, which nothing has been appended to yet. */
  blankRest(): void {
    this.samples.fill(0, this.#filled);
  }

  /** Drops what is before `oldest`. */
  forget(oldest: number): void {
    const drop = Math.min(oldest - this.#start, this.#filled);
    if (drop <= 0) return;
    this.samples.copyWithin(0, drop, this.#filled);
    this.#filled -= drop;
    this.#start += drop;
  }

  /** Another stream, with so many zeros before its first sample. */
  reset(zeros = 0): void {
    this.#start = 0 - zeros; // never -0: positions would no longer be integers to the compiler, half as fast
    this.#filled = 0;
    this.appendZeros(zeros);
  }
}
