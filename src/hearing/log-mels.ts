// The features of Smart Turn, which are those of Whisper: logarithms of 80 mel bands, 100 frames a second.
//
// The sound is brought to mean 0 and variance 1. A frame is 400 samples under a Hann window, its spectrum is
// that of a Fourier transform of the same length. Two frames are transformed together: one is the real part.
import { SAMPLE_RATE } from './ear-source.js';
import { Fourier400, FOURIER_SIZE } from './fourier-400.js';

export const MEL_SAMPLES = 8 * SAMPLE_RATE;
export const MEL_BANDS = 80;
export const MEL_FRAMES = 800;

const SIZE = FOURIER_SIZE;
const HOP = MEL_SAMPLES / MEL_FRAMES;
const PAD = SIZE / 2; // mirrored samples before the first one and behind the last one
const BINS = SIZE / 2 + 1;
const LEAST_POWER = 1e-10;
const RANGE = 8; // decades below the loudest value

/** The bins that a band weighs. */
interface Band {
  readonly from: number;
  readonly weights: Float64Array;
}

export class LogMels {
  readonly #bands = melBands();
  readonly #window = Float64Array.from(
    { length: SIZE },
    (_, n) => 0.5 - 0.5 * Math.cos((2 * Math.PI * n) / SIZE),
  );
  readonly #fourier = new Fourier400();
  readonly #padded = new Float64Array(MEL_SAMPLES + 2 * PAD);
  readonly #powers = new Float64Array(2 * BINS);

  /** `sound`: 8 s. Returns 80 rows of 800 frames. */
  of(sound: Float32Array): Float32Array {
    this.#normalise(sound);
    const mels = new Float32Array(MEL_BANDS * MEL_FRAMES);
    let most = -Infinity;
    for (let frame = 0; frame < MEL_FRAMES; frame += 2) {
      this.#transform(frame);
      for (const [band, { from, weights }] of this.#bands.entries()) {
        for (const second of [0, 1]) {
          const value = Math.log10(Math.max(LEAST_POWER, this.#powerOf(second * BINS + from, weights)));
          mels[band * MEL_FRAMES + frame + second] = value;
          most = Math.max(most, value);
        }
      }
    }
    return mels.map((value) => (Math.max(value, most - RANGE) + 4) / 4);
  }

  #normalise(sound: Float32Array): void {
    let sum = 0;
    for (const sample of sound) sum += sample;
    const mean = sum / MEL_SAMPLES;
    let squares = 0;
    for (const sample of sound) squares += (sample - mean) ** 2;
    const scale = 1 / Math.sqrt(squares / MEL_SAMPLES + 1e-7);
    const padded = this.#padded;
    for (let n = 0; n < MEL_SAMPLES; n++) padded[PAD + n] = ((sound[n] as number) - mean) * scale;
    const end = PAD + MEL_SAMPLES - 1;
    for (let n = 1; n <= PAD; n++) {
      padded[PAD - n] = padded[PAD + n] as number;
      padded[end + n] = padded[end - n] as number;
    }
  }

  /** The power spectra of two frames. */
  #transform(frame: number): void {
    const { real, imaginary } = this.#fourier.numbers;
    const start = frame * HOP;
    for (let n = 0; n < SIZE; n++) {
      const weight = this.#window[n] as number;
      real[n] = weight * (this.#padded[start + n] as number);
      imaginary[n] = weight * (this.#padded[start + HOP + n] as number);
    }
    this.#fourier.transform();
    for (let bin = 0; bin < BINS; bin++) {
      const mirrored = (SIZE - bin) % SIZE;
      const [r, i] = [real[bin] as number, imaginary[bin] as number];
      const [mr, mi] = [real[mirrored] as number, imaginary[mirrored] as number];
      this.#powers[bin] = ((r + mr) ** 2 + (i - mi) ** 2) / 4;
      this.#powers[BINS + bin] = ((i + mi) ** 2 + (r - mr) ** 2) / 4;
    }
  }

  #powerOf(from: number, weights: Float64Array): number {
    let sum = 0;
    for (let n = 0; n < weights.length; n++)
      sum += (weights[n] as number) * (this.#powers[from + n] as number);
    return sum;
  }
}

/** Triangles of equal area whose corners are equally far apart on Slaney's mel scale. */
function melBands(): readonly Band[] {
  const most = melOf(SAMPLE_RATE / 2);
  const corners = Array.from({ length: MEL_BANDS + 2 }, (_, n) => hertzOf((most * n) / (MEL_BANDS + 1)));
  return Array.from({ length: MEL_BANDS }, (_, band) => {
    const [low = 0, middle = 0, high = 0] = corners.slice(band, band + 3);
    const weights = Array.from({ length: BINS }, (__, bin) => {
      const hertz = (bin * SAMPLE_RATE) / SIZE;
      const rise = (hertz - low) / (middle - low);
      const fall = (high - hertz) / (high - middle);
      return Math.max(0, Math.min(rise, fall)) * (2 / (high - low));
    });
    const from = weights.findIndex((weight) => weight > 0);
    const to = weights.findLastIndex((weight) => weight > 0);
    return { from, weights: Float64Array.from(weights.slice(from, to + 1)) };
  });
}

/** Linear up to 1,000 Hz, which is mel 15, then logarithmic. */
function melOf(hertz: number): number {
  return hertz < 1000 ? (hertz * 3) / 200 : 15 + (Math.log(hertz / 1000) * 27) / Math.log(6.4);
}

function hertzOf(mel: number): number {
  return mel < 15 ? (mel * 200) / 3 : 1000 * Math.exp(((mel - 15) * Math.log(6.4)) / 27);
}
