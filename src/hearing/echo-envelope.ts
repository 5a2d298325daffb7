// Predicts the echo of our voice from the energy of its bands. Codecs, small loudspeakers and drifting clocks
// change the waveform and leave that energy nearly as it was.
//
// For each delay and band it follows a low quantile of the caller's level over ours. Speech of the caller
// only adds energy. So at the delay of the echo the quantile is the gain of its path. At other delays our
// voice is often loud while the caller is quiet, and the quantile is far below that gain. The prediction is
// the loudest echo of all delays. That covers reverberation, and drift needs no search for the delay.
//
// The space of band envelopes is that of C. Faller and J. Chen, "Suppressing Acoustic Echo in a Spectral
// Envelope Space", IEEE Transactions on Speech and Audio Processing 13 (5), 2005. A quantile in place of
// their regression needs no detector of double talk: V. Stahl, A. Fischer and R. Bippus, "Quantile Based
// Noise Estimation for Spectral Subtraction and Wiener Filtering", ICASSP 2000.
import { Fft } from './fft.js';

/** Samples at 8 kHz: a frame of 32 ms every 16 ms. */
const FRAME = 256;
const HOP = FRAME / 2;
/** Frames of one window. */
const HOPS = 2;
/** First bins of the bands, 31.25 Hz each: from 250 to 3750 Hz, a third to a fifth of an octave. */
const EDGES = [8, 10, 12, 15, 18, 21, 25, 29, 34, 39, 45, 52, 60, 69, 79, 90, 104, 120] as const;
const BANDS = EDGES.length - 1;
/** Delays of 0 to 560 ms. */
const LAGS = 36;
const ROW = LAGS * BANDS;

const LEAST_POWER = 1e-10;
const LEAST_DB = -100;
/** The quantile of the caller's level over ours that is followed. */
const QUANTILE = 0.25;
/** Before anything is known, every sound that is this much weaker than ours may be its echo. */
const FIRST_GAIN_DB = -3;
/** A band in which we were never loud has at most so much more gain than the others of its delay. */
const UNKNOWN_ABOVE_DB = 6;
const LEAST_GAIN_DB = -60;
const MOST_GAIN_DB = 6;
const FIRST_STEP_DB = 6;
const STEP_DB = 0.8;
const STEP_FALL = 0.9;
/** A frame with more unexplained energy has a voice in it. */
const VOICE = 0.5;
/** While the caller speaks the gains follow so much more slowly. */
const VOICE_SLOWER = 0.1;
/** Only the loud part of our voice teaches: the echo of the rest is covered by louder sound before it. */
const ACTIVE_BELOW_PEAK_DB = 15;
const ACTIVE_DB = -62;
const PEAK_FALL_DB = 0.05;
/** A band this much above its prediction has a voice in it. */
const MARGIN = 10 ** 0.8;
/** An overdriven loudspeaker plays soft sound louder: by this part of the distance to our peak. */
const COMPRESSION = 0.2;
/** Energies are averaged over some 30 ms. */
const SMOOTHING = 0.5;
const NATS = Math.LN10 / 10;

/** Buffers that all predictions of one thread share. */
export class EnvelopeWorkspace {
  readonly fft = new Fft(FRAME);
  readonly window = Float64Array.from({ length: FRAME }, (_, n) => Math.sin((Math.PI * n) / FRAME) ** 2);
  readonly real = new Float64Array(FRAME);
  readonly imaginary = new Float64Array(FRAME);
  /** Powers of the bands of both frames. */
  readonly caller = new Float64Array(HOPS * BANDS);
  readonly ours = new Float64Array(HOPS * BANDS);
  readonly callerDb = new Float64Array(BANDS);
  readonly predictedDb = new Float64Array(BANDS);
}

export class EchoEnvelope {
  readonly #work: EnvelopeWorkspace;
  /** Our levels in dB, a ring of frames. */
  readonly #ours = new Float32Array(ROW).fill(LEAST_DB);
  /** The same levels as a loudspeaker that compresses plays them. */
  readonly #played = new Float32Array(ROW).fill(LEAST_DB);
  #newest = 0;
  readonly #gains = new Float32Array(ROW).fill(FIRST_GAIN_DB);
  /** 1 where a gain was learned. */
  readonly #known = new Uint8Array(ROW);
  readonly #steps = new Float32Array(LAGS).fill(FIRST_STEP_DB);
  readonly #peaks = new Float32Array(BANDS).fill(LEAST_DB);
  #energy = 0;
  #unexplained = 0;

  constructor(work: EnvelopeWorkspace) {
    this.#work = work;
  }

  /**
   * One window of both sides, which ends both signals. Returns the part of the caller's energy that our voice
   * does not explain, from 0 to 1.
   */
  unexplained(caller: Float32Array, ours: Float32Array): number {
    const work = this.#work;
    powersOf(caller, work.caller, work);
    powersOf(ours, work.ours, work);
    for (let hop = 0; hop < HOPS; hop++) {
      this.#enter(hop * BANDS);
      this.#predict();
      const isVoice = this.#compare(hop * BANDS) > VOICE;
      this.#learn(isVoice ? VOICE_SLOWER : 1);
    }
    return this.#energy > 0 ? this.#unexplained / this.#energy : 0;
  }

  /** The caller's last frame repeats ours after a delay (in samples): its levels give the gains there. */
  seed(lag: number): void {
    const { callerDb } = this.#work;
    const first = Math.floor(lag / HOP);
    for (let hop = first; hop < Math.min(LAGS, first + 2); hop++) {
      const x = ((this.#newest + hop) % LAGS) * BANDS;
      for (let band = 0; band < BANDS; band++) {
        const gain = (callerDb[band] as number) - (this.#ours[x + band] as number);
        const g = hop * BANDS + band;
        this.#gains[g] = Math.min(MOST_GAIN_DB, Math.max(gain, this.#gains[g] as number));
      }
    }
  }

  /** Forgets our signal, not the path: nothing was sent for as long as the longest echo. */
  pause(): void {
    this.#ours.fill(LEAST_DB);
    this.#played.fill(LEAST_DB);
    this.#energy = 0;
    this.#unexplained = 0;
  }

  /** Takes a frame of our voice into the history. */
  #enter(from: number): void {
    this.#newest = (this.#newest + LAGS - 1) % LAGS;
    const at = this.#newest * BANDS;
    for (let band = 0; band < BANDS; band++) {
      const db = decibels(this.#work.ours[from + band] as number);
      const peak = Math.max(db, (this.#peaks[band] as number) - PEAK_FALL_DB);
      this.#ours[at + band] = db;
      this.#played[at + band] = db > ACTIVE_DB ? db + COMPRESSION * (peak - db) : db;
      this.#peaks[band] = peak;
    }
  }

  #predict(): void {
    const { predictedDb } = this.#work;
    predictedDb.fill(LEAST_DB);
    for (let lag = 0; lag < LAGS; lag++) {
      const x = ((this.#newest + lag) % LAGS) * BANDS;
      const g = lag * BANDS;
      for (let band = 0; band < BANDS; band++) {
        const echo = (this.#played[x + band] as number) + (this.#gains[g + band] as number);
        if (echo > (predictedDb[band] as number)) predictedDb[band] = echo;
      }
    }
  }

  /** Returns the part of the frame's energy above the prediction. */
  #compare(from: number): number {
    const { caller, callerDb, predictedDb } = this.#work;
    let energy = 0;
    let unexplained = 0;
    for (let band = 0; band < BANDS; band++) {
      const power = caller[from + band] as number;
      callerDb[band] = decibels(power);
      energy += power;
      unexplained += Math.max(0, power - MARGIN * Math.exp(NATS * (predictedDb[band] as number)));
    }
    this.#energy = SMOOTHING * this.#energy + energy;
    this.#unexplained = SMOOTHING * this.#unexplained + unexplained;
    return unexplained / Math.max(energy, LEAST_POWER);
  }

  /** Moves the gains by steps whose sizes up and down find the quantile. */
  #learn(slower: number): void {
    const { callerDb } = this.#work;
    for (let lag = 0; lag < LAGS; lag++) {
      const x = ((this.#newest + lag) % LAGS) * BANDS;
      const g = lag * BANDS;
      const step = slower * (this.#steps[lag] as number);
      let isActive = false;
      let most = LEAST_GAIN_DB;
      for (let band = 0; band < BANDS; band++) {
        const ours = this.#ours[x + band] as number;
        if (ours < ACTIVE_DB || ours < (this.#peaks[band] as number) - ACTIVE_BELOW_PEAK_DB) continue;
        isActive = true;
        const gain = this.#gains[g + band] as number;
        const isAbove = (callerDb[band] as number) - ours > gain;
        this.#gains[g + band] = isAbove
          ? Math.min(MOST_GAIN_DB, gain + QUANTILE * step)
          : Math.max(LEAST_GAIN_DB, gain - (1 - QUANTILE) * step);
        this.#known[g + band] = 1;
        most = Math.max(most, this.#gains[g + band] as number);
      }
      if (isActive) this.#bound(g, most + UNKNOWN_ABOVE_DB);
      if (isActive && slower === 1)
        this.#steps[lag] = Math.max(STEP_DB, STEP_FALL * (this.#steps[lag] as number));
    }
  }

  /** Limits the gains of a delay that were not learned yet. */
  #bound(row: number, most: number): void {
    for (let g = row; g < row + BANDS; g++)
      if (this.#known[g] === 0 && (this.#gains[g] as number) > most) this.#gains[g] = most;
  }
}

/** Powers of the bands in the last two frames of a signal, by one transform for both. */
function powersOf(signal: Float32Array, powers: Float64Array, work: EnvelopeWorkspace): void {
  const { fft, window, real, imaginary } = work;
  const start = signal.length - FRAME - HOP;
  for (let n = 0; n < FRAME; n++) {
    const weight = window[n] as number;
    real[n] = weight * (signal[start + n] as number);
    imaginary[n] = weight * (signal[start + HOP + n] as number);
  }
  fft.transform(real, imaginary);
  for (let band = 0; band < BANDS; band++) {
    let first = LEAST_POWER;
    let second = LEAST_POWER;
    const end = EDGES[band + 1] as number;
    for (let k = EDGES[band] as number; k < end; k++) {
      const a = real[k] as number;
      const b = imaginary[k] as number;
      const c = real[FRAME - k] as number;
      const d = imaginary[FRAME - k] as number;
      first += SCALE * ((a + c) ** 2 + (b - d) ** 2);
      second += SCALE * ((b + d) ** 2 + (c - a) ** 2);
    }
    powers[band] = first;
    powers[BANDS + band] = second;
  }
}

/** From the squared sums of two bins of both frames to the mean square of the signal in a band. */
const SCALE = 2 / (4 * FRAME * (3 / 8) * FRAME);

function decibels(power: number): number {
  return 10 * Math.log10(power);
}
