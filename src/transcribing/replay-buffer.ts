// Keeps a sound from the place where the last piece of it was taken, for those who need it a second time.
import type { PcmRing } from '../audio/pcm-ring.js';

const READ_SAMPLES = 16_384;
/**
 * Seconds of sound that are kept at most. The recogniser works on four pieces of a minute together, and must
 * get their sound before the first of them is taken.
 */
const MOST_SECONDS = 480;

export class ReplayBuffer {
  readonly #ring: PcmRing;
  #chunks: Float32Array[] = [];
  /** Place of the first chunk in the sound, in samples. */
  #first = 0;
  /** Samples that came so far. */
  #came = 0;
  #isOver = false;
  #isFull = false;
  #waiting: (() => void)[] = [];

  /** Reads the ring until it ends or is aborted. */
  constructor(ring: PcmRing) {
    this.#ring = ring;
    this.#read();
  }

  /** Samples that are kept. */
  get size(): number {
    return this.#came - this.#first;
  }

  /** Resolves with a piece once all of it came; what lies before it is dropped. Pieces are taken in order. */
  async take(beginSeconds: number, endSeconds: number): Promise<Float32Array> {
    const [begin, end] = [beginSeconds, endSeconds].map((seconds) => Math.round(seconds * this.#ring.rate));
    this.#dropBefore(begin ?? 0);
    while (!this.#isOver && this.#came < (end ?? 0))
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    const samples = this.#slice(begin ?? 0, Math.min(end ?? 0, this.#came));
    this.#dropBefore(end ?? 0);
    return samples;
  }

  #slice(begin: number, end: number): Float32Array {
    const samples = new Float32Array(Math.max(0, end - begin));
    let at = this.#first;
    for (const chunk of this.#chunks) {
      const from = Math.max(begin, at);
      const to = Math.min(end, at + chunk.length);
      if (from < to) samples.set(chunk.subarray(from - at, to - at), from - begin);
      at += chunk.length;
    }
    return samples;
  }

  #dropBefore(place: number): void {
    while (this.#first + (this.#chunks[0]?.length ?? Infinity) <= place)
      this.#first += this.#chunks.shift()?.length ?? 0;
    if (!this.#isFull) return;
    this.#isFull = false;
    this.#read();
  }

  readonly #read = (): void => {
    for (;;) {
      if (this.size >= MOST_SECONDS * this.#ring.rate) {
        this.#isFull = true;
        break;
      }
      const chunk = new Float32Array(READ_SAMPLES);
      const count = this.#ring.read(chunk);
      if (count > 0) {
        this.#chunks.push(count === READ_SAMPLES ? chunk : chunk.slice(0, count));
        this.#came += count;
      }
      if (count === READ_SAMPLES) continue;
      this.#isOver = count < 0 || this.#ring.status()?.ended !== false;
      // The end may have come after the last samples were read.
      if (this.#isOver && count > 0) continue;
      break;
    }
    for (const look of this.#waiting.splice(0)) look();
    if (!this.#isOver && !this.#isFull) this.#ring.onReadable(this.#read);
  };
}
