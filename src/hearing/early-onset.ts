// Suspects the beginning of a word before the voice model is sure of it. Many words begin with a fricative
// and a closure ("stop"), in which the model finds no speech for up to 230 ms.
//
// A window is suspect if the model finds speech in it more likely than in any noise, or if it is a hiss after
// silence. A hiss has most of its energy high in the band and does not fade: a click or a knock does. On a
// line that returned an echo of our voice the first window is never suspect: the guard may miss one window of
// an echo.
import { WINDOW_SAMPLES } from '../media/ears.js';

/** Probability of speech. */
const LIKELY = 0.45;
const HALF = WINDOW_SAMPLES / 2; // 16 ms
/** Each half of a hiss is so much louder than the least level of a voice. */
const ABOVE = 10 ** 0.6;
/** The second half is at most so much weaker than the first. */
const MOST_FALL = 10 ** 0.2;
/** Correlation of neighbouring samples: a vowel has some 0.95, white noise none. */
const MOST_CORRELATION = 0.7;
/** Windows in a row: silence before a hiss, and the sound in which it may begin. */
const LEAST_SILENCE = 3;
const LONGEST_SOUND = 8;
/** Windows for which a line counts as one that returns echoes: 16 s. */
const ECHO_MEMORY = 500;

/** A window has sound of the caller, an echo of ours, or nothing as loud as a voice. */
export type WindowSound = 'caller' | 'echo' | 'silence';

export class EarlyOnset {
  /** Windows in a row without sound of the caller, and with it. */
  #silence = 0;
  #sound = 0;
  #isAfterSilence = false;
  /** Windows for which echoes are still expected. */
  #echoing = 0;
  #isHiss = false;

  /** Windows since the present sound began; 0: silence. */
  get windows(): number {
    return this.#sound;
  }

  /** One window. A voice of the caller is louder than `thresholdDb`. */
  window(samples: Float32Array, sound: WindowSound, thresholdDb: number): void {
    this.#echoing = sound === 'echo' ? ECHO_MEMORY : Math.max(0, this.#echoing - 1);
    if (sound !== 'caller') {
      this.#silence++;
      this.#sound = 0;
      return;
    }
    if (this.#sound++ === 0) this.#isAfterSilence = this.#silence >= LEAST_SILENCE;
    this.#silence = 0;
    this.#isHiss =
      this.#isAfterSilence && this.#sound <= LONGEST_SOUND && isHiss(samples, 10 ** (thresholdDb / 10));
  }

  /** `probability`: that of speech in the last window. */
  isLikely(probability: number): boolean {
    return this.#sound > (this.#echoing > 0 ? 1 : 0) && (probability >= LIKELY || this.#isHiss);
  }
}

/** `threshold`: mean power. */
function isHiss(samples: Float32Array, threshold: number): boolean {
  const least = HALF * threshold * ABOVE;
  const first = hissOf(samples, 0);
  if (first < least) return false;
  const second = hissOf(samples, HALF);
  return second >= least && second * MOST_FALL >= first;
}

/** Energy of half a window; 0 if most of it is low in the band. */
function hissOf(samples: Float32Array, from: number): number {
  let energy = 0;
  let correlation = 0;
  let last = 0;
  for (let n = from; n < from + HALF; n++) {
    const sample = samples[n] as number;
    energy += sample * sample;
    correlation += sample * last;
    last = sample;
  }
  return correlation < MOST_CORRELATION * energy ? energy : 0;
}
