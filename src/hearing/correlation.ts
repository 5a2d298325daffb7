// Finds the lag at which one signal repeats another: normalized cross-correlation over all lags by FFT.
import { Fft } from './fft.js';

interface Match {
  /** Samples by which the segment comes after the history. */
  readonly lag: number;
  /** Signed gain of the segment over the history at that lag. */
  readonly gain: number;
  /** Part of the segment's energy that the history explains at that lag, 0 to 1. */
  readonly explained: number;
}

const NO_MATCH: Match = { lag: 0, gain: 0, explained: 0 };

/** A history that is this much weaker than the segment (40 dB, in energy) cannot be its source. */
const LEAST_POWER = 1e-4;

/** Correlates segments with histories of fixed lengths. It keeps its buffers: one serves all calls. */
export class Correlator {
  readonly segmentLength: number;
  readonly historyLength: number;
  readonly #fft: Fft;
  readonly #real: Float64Array;
  readonly #imaginary: Float64Array;

  constructor(segmentLength: number, historyLength: number) {
    this.segmentLength = segmentLength;
    this.historyLength = historyLength;
    // The correlation is circular: at this size the lags that are asked for do not wrap around.
    this.#fft = new Fft(2 ** Math.ceil(Math.log2(historyLength)));
    this.#real = new Float64Array(this.#fft.size);
    this.#imaginary = new Float64Array(this.#fft.size);
  }

  /** The best of all lags. At 0 the segment lies at the end of the history, at the most at its beginning. */
  best(segment: Float32Array, history: Float32Array): Match {
    const energy = energyOf(segment, segment.length);
    if (energy === 0) return NO_MATCH;
    this.#correlate(segment, history);
    const lags = this.historyLength - this.segmentLength;
    let power = energyOf(history, this.segmentLength);
    let best = NO_MATCH;
    for (let start = 0; start <= lags; start++) {
      const product = this.#real[start] as number;
      if (power > energy * LEAST_POWER && product * product > best.explained * power * energy) {
        best = {
          lag: lags - start,
          gain: product / power,
          explained: (product * product) / (power * energy),
        };
      }
      const entering = history[start + this.segmentLength] ?? 0;
      const leaving = history[start] as number;
      power += entering * entering - leaving * leaving;
    }
    return best;
  }

  /** Leaves in `#real[start]` the product of the segment with the history from `start` on. */
  #correlate(segment: Float32Array, history: Float32Array): void {
    const { size } = this.#fft;
    const real = this.#real.fill(0);
    const imaginary = this.#imaginary.fill(0);
    // Two real signals in one complex transform.
    real.set(history);
    imaginary.set(segment);
    this.#fft.transform(real, imaginary);
    for (let k = 0; k <= size / 2; k++) {
      const other = (size - k) % size;
      const a = real[k] as number;
      const b = imaginary[k] as number;
      const c = real[other] as number;
      const d = imaginary[other] as number;
      // Twice the spectra of the history and of the segment; the product is H conj(S).
      const [hr, hi, sr, si] = [a + c, b - d, b + d, c - a];
      const productReal = (hr * sr + hi * si) / (4 * size);
      const productImaginary = (hi * sr - hr * si) / (4 * size);
      real[k] = productReal;
      real[other] = productReal;
      imaginary[k] = productImaginary;
      imaginary[other] = -productImaginary;
    }
    this.#fft.transform(imaginary, real); // swapped: the inverse
  }
}

function energyOf(signal: Float32Array, length: number): number {
  let sum = 0;
  for (let n = 0; n < length; n++) sum += (signal[n] as number) ** 2;
  return sum;
}
