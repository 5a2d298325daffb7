// Estimates the echo path from our sent signal to the caller's sound: two adaptive filters in the frequency
// domain, in partitions (multidelay block filter, overlap-save).
//
// The background filter always adapts. The foreground filter is a copy of it from a moment at which it was
// better; speech of the caller spoils the background filter only (two-path method).
import { Fft } from './fft.js';

export interface EchoFilterSize {
  /** Samples of a block: those of one window. */
  readonly block: number;
  /** The longest echo, in blocks. */
  readonly partitions: number;
}

const STEP = 0.6;
/** The foreground takes over a background with so much less residual energy. */
const BETTER = 0.7;
/** A background with so much more residual energy than the foreground has diverged. */
const DIVERGED = 2;
const SMOOTHING = 0.5;
/** Energy per bin below which the filter does not adapt: -70 dBFS. */
const LEAST_POWER = 1e-7;

type Spectra = { readonly real: Float32Array; readonly imaginary: Float32Array };

/** Buffers and transform that all filters of one thread share. */
export class EchoWorkspace {
  readonly fft: Fft;
  readonly real: Float64Array;
  readonly imaginary: Float64Array;
  /** Spectrum of the foreground's prediction, while the background's is computed. */
  readonly other: { readonly real: Float64Array; readonly imaginary: Float64Array };
  readonly error: Float64Array;
  readonly power: Float64Array;
  constructor({ block }: EchoFilterSize) {
    this.fft = new Fft(2 * block);
    this.real = new Float64Array(2 * block);
    this.imaginary = new Float64Array(2 * block);
    this.other = { real: new Float64Array(block + 1), imaginary: new Float64Array(block + 1) };
    this.error = new Float64Array(block);
    this.power = new Float64Array(block + 1);
  }
}

export class EchoFilter {
  readonly #block: number;
  readonly #bins: number;
  readonly #partitions: number;
  readonly #work: EchoWorkspace;
  /** Spectra of our signal, a ring of partitions. */
  readonly #ours: Spectra;
  #newest = 0;
  /** Blocks at the end of the history that are not transformed yet. */
  #waiting = 0;
  readonly #foreground: Spectra;
  readonly #background: Spectra;
  #constrained = 0;
  #predicted = 0;
  #foregroundError = 0;
  #backgroundError = 0;

  constructor(size: EchoFilterSize, work: EchoWorkspace) {
    this.#block = size.block;
    this.#bins = size.block + 1;
    this.#partitions = size.partitions;
    this.#work = work;
    this.#ours = this.#spectra();
    this.#foreground = this.#spectra();
    this.#background = this.#spectra();
  }

  /** One more block of our signal is in the history. It costs nothing until `residual` is called. */
  push(): void {
    this.#waiting = Math.min(this.#partitions, this.#waiting + 1);
  }

  /** Transforms the blocks that came since the last time. */
  #catchUp(ours: Float32Array): void {
    for (; this.#waiting > 0; this.#waiting--) this.#transform(ours, this.#waiting);
  }

  /** The block number `fromEnd` of the history, from 1, with the one before it. */
  #transform(ours: Float32Array, fromEnd: number): void {
    const { real, imaginary, fft } = this.#work;
    const start = ours.length - (fromEnd + 1) * this.#block;
    real.set(ours.subarray(start, start + 2 * this.#block));
    imaginary.fill(0);
    fft.transform(real, imaginary);
    this.#newest = (this.#newest + this.#partitions - 1) % this.#partitions;
    store(this.#ours, this.#newest * this.#bins, this.#bins, this.#work);
  }

  /** Forgets our signal, not the path: nothing was sent for as long as the longest echo. */
  pause(): void {
    this.#ours.real.fill(0);
    this.#ours.imaginary.fill(0);
    this.#waiting = 0;
  }

  /** Energy of the echo that the foreground filter predicted for the last block. */
  get predicted(): number {
    return this.#predicted;
  }

  /**
   * Energy of the caller's block that the better filter leaves. The history of our signal ends at the same
   * moment, and is at least one block longer than the longest echo. Only if it adapts, the background filter
   * is computed, which is most of the work.
   */
  residual(caller: Float32Array, ours: Float32Array, adapts: boolean): number {
    this.#catchUp(ours);
    const { real, imaginary, other } = this.#work;
    this.#predict(this.#foreground, real, imaginary);
    if (!adapts) {
      mirror(real, imaginary);
      this.#work.fft.transform(imaginary, real); // swapped: the inverse
      return this.#errorOf(real, caller, true);
    }
    other.real.set(real.subarray(0, this.#bins));
    other.imaginary.set(imaginary.subarray(0, this.#bins));
    this.#predict(this.#background, real, imaginary);
    // Two real signals in one complex transform: the foreground becomes its real part.
    combine(other, real, imaginary);
    this.#work.fft.transform(imaginary, real);
    const foreground = this.#errorOf(real, caller, true);
    const background = this.#errorOf(imaginary, caller, false); // leaves its error in the workspace
    this.#adapt();
    this.#foregroundError = SMOOTHING * this.#foregroundError + foreground;
    this.#backgroundError = SMOOTHING * this.#backgroundError + background;
    if (this.#backgroundError < BETTER * this.#foregroundError)
      this.#copy(this.#background, this.#foreground);
    else if (this.#backgroundError > DIVERGED * this.#foregroundError)
      this.#copy(this.#foreground, this.#background);
    return Math.min(foreground, background);
  }

  /** The path is one delay, found by other means: the background filter begins there. */
  seed(lag: number, gain: number): void {
    this.#background.real.fill(0);
    this.#background.imaginary.fill(0);
    const partition = Math.floor(lag / this.#block);
    if (partition >= this.#partitions) return;
    const { real, imaginary, fft } = this.#work;
    real.fill(0);
    imaginary.fill(0);
    real[lag % this.#block] = gain;
    fft.transform(real, imaginary);
    store(this.#background, partition * this.#bins, this.#bins, this.#work);
    this.#backgroundError = 0;
    this.#foregroundError = 0;
  }

  #spectra(): Spectra {
    const length = this.#partitions * this.#bins;
    return { real: new Float32Array(length), imaginary: new Float32Array(length) };
  }

  /** Leaves half of the spectrum of the predicted echo in the arrays. */
  #predict(weights: Spectra, real: Float64Array, imaginary: Float64Array): void {
    real.fill(0);
    imaginary.fill(0);
    for (let partition = 0; partition < this.#partitions; partition++) {
      const x = this.#at(partition);
      multiplyAdd(weights, partition * this.#bins, { spectra: this.#ours, at: x }, this.#bins, this.#work);
    }
  }

  /** Energy that a prediction leaves of the caller's block. */
  #errorOf(prediction: Float64Array, caller: Float32Array, isForeground: boolean): number {
    const { error } = this.#work;
    const scale = 1 / (2 * this.#block);
    let energy = 0;
    let predicted = 0;
    for (let n = 0; n < this.#block; n++) {
      const echo = (prediction[this.#block + n] as number) * scale;
      const left = (caller[n] as number) - echo;
      error[n] = left;
      energy += left * left;
      predicted += echo * echo;
    }
    if (isForeground) this.#predicted = predicted;
    return energy;
  }

  #at(partition: number): number {
    return ((this.#newest + partition) % this.#partitions) * this.#bins;
  }

  #adapt(): void {
    const { real, imaginary, fft, error, power } = this.#work;
    real.fill(0, 0, this.#block);
    real.set(error, this.#block);
    imaginary.fill(0);
    fft.transform(real, imaginary);
    power.fill(LEAST_POWER * 2 * this.#block * this.#partitions);
    addPower(this.#ours, power);
    for (let k = 0; k < this.#bins; k++) {
      const step = STEP / (power[k] as number);
      real[k] = (real[k] as number) * step;
      imaginary[k] = (imaginary[k] as number) * step;
    }
    for (let partition = 0; partition < this.#partitions; partition++) {
      const x = this.#at(partition);
      correct(
        this.#background,
        partition * this.#bins,
        { spectra: this.#ours, at: x },
        this.#bins,
        this.#work,
      );
    }
    this.#constrain();
  }

  /** Makes one partition a filter of a block again: the circular part of its impulse response is cut. */
  #constrain(): void {
    const { real, imaginary, fft } = this.#work;
    this.#constrained = (this.#constrained + 1) % this.#partitions;
    const at = this.#constrained * this.#bins;
    for (let k = 0; k < this.#bins; k++) {
      real[k] = this.#background.real[at + k] as number;
      imaginary[k] = this.#background.imaginary[at + k] as number;
    }
    mirror(real, imaginary);
    fft.transform(imaginary, real);
    const scale = 1 / (2 * this.#block);
    for (let n = 0; n < this.#block; n++) real[n] = (real[n] as number) * scale;
    real.fill(0, this.#block);
    imaginary.fill(0);
    fft.transform(real, imaginary);
    store(this.#background, at, this.#bins, this.#work);
  }

  #copy(from: Spectra, to: Spectra): void {
    to.real.set(from.real);
    to.imaginary.set(from.imaginary);
    const error = Math.min(this.#foregroundError, this.#backgroundError);
    this.#foregroundError = error;
    this.#backgroundError = error;
  }
}

interface Place {
  readonly spectra: Spectra;
  readonly at: number;
}

function store(spectra: Spectra, at: number, bins: number, { real, imaginary }: EchoWorkspace): void {
  for (let k = 0; k < bins; k++) {
    spectra.real[at + k] = real[k] as number;
    spectra.imaginary[at + k] = imaginary[k] as number;
  }
}

/** Completes the spectrum of a real signal. */
function mirror(real: Float64Array, imaginary: Float64Array): void {
  const size = real.length;
  for (let k = 1; k < size / 2; k++) {
    real[size - k] = real[k] as number;
    imaginary[size - k] = -(imaginary[k] as number);
  }
}

/** The spectrum of a complex signal from half of the spectra of its parts; the imaginary part is in place. */
function combine(part: EchoWorkspace['other'], real: Float64Array, imaginary: Float64Array): void {
  const size = real.length;
  for (let k = 0; k <= size / 2; k++) {
    const fr = part.real[k] as number;
    const fi = part.imaginary[k] as number;
    const br = real[k] as number;
    const bi = imaginary[k] as number;
    const other = (size - k) % size;
    real[other] = fr + bi;
    imaginary[other] = br - fi;
    real[k] = fr - bi;
    imaginary[k] = fi + br;
  }
}

/** Adds weights times signal. */
function multiplyAdd(weights: Spectra, from: number, x: Place, bins: number, to: EchoWorkspace): void {
  const { real: wr, imaginary: wi } = weights;
  const { real: xr, imaginary: xi } = x.spectra;
  const { real, imaginary } = to;
  for (let k = 0, w = from, s = x.at; k < bins; k++, w++, s++) {
    const a = wr[w] as number;
    const b = wi[w] as number;
    const c = xr[s] as number;
    const d = xi[s] as number;
    real[k] = (real[k] as number) + a * c - b * d;
    imaginary[k] = (imaginary[k] as number) + a * d + b * c;
  }
}

/** Adds the conjugated signal times the error. */
function correct(weights: Spectra, from: number, x: Place, bins: number, error: EchoWorkspace): void {
  const { real: wr, imaginary: wi } = weights;
  const { real: xr, imaginary: xi } = x.spectra;
  for (let k = 0, w = from, s = x.at; k < bins; k++, w++, s++) {
    const a = error.real[k] as number;
    const b = error.imaginary[k] as number;
    const c = xr[s] as number;
    const d = xi[s] as number;
    wr[w] = (wr[w] as number) + a * c + b * d;
    wi[w] = (wi[w] as number) + b * c - a * d;
  }
}

/** Adds the energy of all partitions, bin by bin. */
function addPower({ real, imaginary }: Spectra, power: Float64Array): void {
  const bins = power.length;
  for (let at = 0; at < real.length; at += bins) {
    for (let k = 0; k < bins; k++) {
      const a = real[at + k] as number;
      const b = imaginary[at + k] as number;
      power[k] = (power[k] as number) + a * a + b * b;
    }
  }
}
