// Finds the pauses in the sound of one sentence while it streams. A pause is a silence between words, as
// after a comma. The closure of a consonant is shorter.
//
//   sound ... │ below 2 % of the loudest block for at least 80 ms │ sound ...
//
// The level is that of blocks of 10 ms. It is compared with the loudest block so far, because some voices
// have noise between their words.

const BLOCK_MS = 10;
const LEAST_MS = 80; // the closure of a stop consonant takes 40 to 80 ms
const SHARE_OF_LOUDEST = 0.02; // -34 dB
const FLOOR = 0.002; // -54 dBFS: as quiet as this is silence, although nothing louder came yet

export class PauseFinder {
  readonly #onPause: (startMs: number, endMs: number) => void;
  readonly #blockSamples: number;
  readonly #msPerSample: number;
  #energy = 0; // of the present block
  #filled = 0; // samples of the present block
  #samples = 0; // before the present block
  #loudest = 0;
  /** First sample of the present silence; negative in sound. */
  #silentFrom = -1;

  /**
   * `onPause` is called at the end of each pause, with milliseconds from the first sample. A silence at the
   * beginning or at the end counts however short it is.
   */
  constructor(rate: number, onPause: (startMs: number, endMs: number) => void) {
    this.#onPause = onPause;
    this.#blockSamples = Math.round((rate * BLOCK_MS) / 1000);
    this.#msPerSample = 1000 / rate;
  }

  add(samples: Float32Array, count: number): void {
    for (let index = 0; index < count; index++) {
      const sample = samples[index] ?? 0;
      this.#energy += sample * sample;
      if (++this.#filled === this.#blockSamples) this.#endBlock();
    }
  }

  /** No sound follows. */
  end(): void {
    this.#samples += this.#filled;
    this.#filled = 0;
    this.#endPause(0);
  }

  #endBlock(): void {
    const level = Math.sqrt(this.#energy / this.#filled);
    if (level > this.#loudest) this.#loudest = level;
    if (level >= FLOOR && level >= this.#loudest * SHARE_OF_LOUDEST) this.#endPause(LEAST_MS);
    else if (this.#silentFrom < 0) this.#silentFrom = this.#samples;
    this.#samples += this.#filled;
    this.#energy = 0;
    this.#filled = 0;
  }

  #endPause(leastMs: number): void {
    const from = this.#silentFrom;
    this.#silentFrom = -1;
    if (from < 0) return;
    const [startMs, endMs] = [from * this.#msPerSample, this.#samples * this.#msPerSample];
    if (from === 0 || endMs - startMs >= leastMs) this.#onPause(startMs, endMs);
  }
}
