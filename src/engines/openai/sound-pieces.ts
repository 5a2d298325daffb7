// Collects sound and cuts it at quiet places into pieces that one request can carry.

const SEARCH_SECONDS = 5; // before the longest length, in which the quietest place is looked for
const WINDOW_SECONDS = 0.1; // of the loudness that is compared
const FIRST_SECONDS = 4; // room at first; it doubles when it is full

export class SoundPieces {
  readonly #rate: number;
  readonly #longest: number;
  readonly #cutAt: 'quiet' | 'end';
  #samples: Float32Array;
  #count = 0;

  /** `longestSeconds`: more than 5. `end` cuts after the last sample, not at a quiet place. */
  constructor(rate: number, longestSeconds: number, cutAt: 'quiet' | 'end' = 'quiet') {
    this.#rate = rate;
    this.#longest = Math.round(rate * longestSeconds);
    this.#cutAt = cutAt;
    this.#samples = new Float32Array(Math.min(this.#longest, rate * FIRST_SECONDS));
  }

  /** Samples that are not in a piece yet. */
  get count(): number {
    return this.#count;
  }

  /** Takes samples, fewer than a piece has. Returns a piece once there are enough. */
  add(samples: Float32Array): Float32Array | undefined {
    this.#reserve(this.#count + samples.length);
    this.#samples.set(samples, this.#count);
    this.#count += samples.length;
    return this.#count < this.#longest
      ? undefined
      : this.#takeFirst(this.#cutAt === 'end' ? this.#count : this.quietest());
  }

  /** Returns what is there without taking it out. */
  copy(): Float32Array {
    return this.#samples.slice(0, this.#count);
  }

  /** Drops all but the last samples. */
  keepLast(count: number): void {
    if (this.#count > count) this.#takeFirst(this.#count - count);
  }

  /** Takes out all that is left, or the first samples of it. */
  take(count = this.#count): Float32Array {
    return this.#takeFirst(count);
  }

  #reserve(count: number): void {
    if (count <= this.#samples.length) return;
    const larger = new Float32Array(Math.max(count, 2 * this.#samples.length));
    larger.set(this.#samples.subarray(0, this.#count));
    this.#samples = larger;
  }

  #takeFirst(count: number): Float32Array {
    const piece = this.#samples.slice(0, count);
    this.#samples.copyWithin(0, count, this.#count);
    this.#count -= count;
    return piece;
  }

  /** The middle of the quietest window of the last five seconds, by the sum of its squares. */
  quietest(): number {
    const window = Math.round(this.#rate * WINDOW_SECONDS);
    const begin = Math.max(window, this.#count - this.#rate * SEARCH_SECONDS);
    const square = (at: number) => (this.#samples[at] as number) ** 2;
    let sum = 0;
    for (let i = begin - window; i < begin; i++) sum += square(i);
    let [least, end] = [sum, begin];
    for (let i = begin; i < this.#count; i++) {
      sum += square(i) - square(i - window);
      if (sum < least) [least, end] = [sum, i + 1];
    }
    return end - (window >> 1);
  }
}
