// Judges from its energy alone whether a sound can hold speech, as speech_energy.h of the native recogniser
// does. Speech has frames far above the quietest ones; steady noise and silence have none.

const FRAME = 320; // samples of 16 kHz
const LEVELS = 128; // of 1 dB, from full scale down
const ABOVE = 10; // dB
const QUIETEST = 55; // dB below full scale
const LEAST_FRAMES = 5;

export class SpeechEnergy {
  /** Frames by their level. */
  readonly #frames = new Uint32Array(LEVELS);
  #energy = 0;
  #filled = 0;

  add(samples: Float32Array): void {
    for (const sample of samples) {
      this.#energy += sample * sample;
      if (++this.#filled < FRAME) continue;
      const decibels = -10 * Math.log10(this.#energy / FRAME + 1e-13);
      const level = Math.trunc(Math.min(LEVELS - 1, Math.max(0, decibels)));
      this.#frames[level] = (this.#frames[level] ?? 0) + 1;
      this.#energy = 0;
      this.#filled = 0;
    }
  }

  /** True if 100 ms or more lie 10 dB above the quietest fifth of the frames, and above -55 dB. */
  hasSpeech(): boolean {
    const all = this.#frames.reduce((sum, count) => sum + count, 0);
    let quieter = 0;
    let floor = LEVELS;
    while (floor > 0 && quieter * 5 <= all) quieter += this.#frames[--floor] ?? 0;
    if (floor < ABOVE) return false;
    const limit = Math.min(QUIETEST, floor - ABOVE);
    const louder = this.#frames.subarray(0, limit + 1).reduce((sum, count) => sum + count, 0);
    return louder >= LEAST_FRAMES;
  }
}
