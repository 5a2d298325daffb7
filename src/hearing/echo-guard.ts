// Tells the echo of our own voice from the caller's voice, window by window.
//
// It asks how much of the caller's energy our sent signal explains. An adaptive filter answers for a path
// that it has learned. A search over all lags answers for a path that is new or has changed: the jitter
// buffer changes its delay. While nothing is sent the guard costs nothing.
import { Correlator } from './correlation.js';
import { WINDOW_SAMPLES } from '../media/ears.js';
import { SILENCE_DB } from './ear-source.js';
import { EchoFilter, type EchoFilterSize, EchoWorkspace } from './echo-filter.js';

/** At half the rate: speech has little above 4 kHz, and a telephone nothing. */
const BLOCK = WINDOW_SAMPLES / 2;
/** The longest echo, with its reverberation: 480 ms. */
const PARTITIONS = 15;
const SIZE: EchoFilterSize = { block: BLOCK, partitions: PARTITIONS };
/** Windows that are compared together: 96 ms. */
const SPAN = 3;
const SEGMENT = SPAN * BLOCK;
const HISTORY = SEGMENT + 14 * BLOCK; // lags to 448 ms
const PRE_EMPHASIS = 0.9; // speech has most energy in its lowest octaves, which resemble each other

const AUDIBLE_DB = -65; // of our signal; weaker sound returns no echo that opens the gate
/** Our signal explains this part of an echo, once the path is learned. */
const EXPLAINED = 0.5;
/** While no path is learned yet, and the caller is weaker than we are, less is enough. */
const EARLY_EXPLAINED = 0.15;
const EARLY_WINDOWS = 60;
const EARLY_LOSS_DB = 3;
/** A first guess explains one sound of the echo well, and not yet the next. */
const SEEDED_WINDOWS = 30;
/** A filter that has explained this much knows the path. */
const LEARNED = 0.7;
/** So long, in windows of echo or voice, the knowledge holds. */
const LEARNED_WINDOWS = 150;
/** Blocks for each that a filter adapts to, once it has learned the path. */
const ADAPT_EVERY = 2;
/** The caller's energy over the predicted echo, up to which it may be a distorted echo. */
const DISTORTED = 1.5;
/** A residual up to this many times the noise of the line has no voice in it. */
const NOISE_MARGIN = 3;
/** -62 dBFS of white noise, with its pre-emphasis. */
const NOISE_START = BLOCK * 10 ** -6;
const NOISE_FALL = 0.3;
const NOISE_RISE = 0.05;
/** Searches over all lags: so many at once, then one in REFILL windows. A search costs about 1 ms. */
const SEARCHES = 12;
const REFILL = 8;

/** Buffers that the guards of one thread share. */
export class EchoGuardWorkspace {
  readonly filter = new EchoWorkspace(SIZE);
  readonly correlator = new Correlator(SEGMENT, HISTORY);
}

/** In dBFS. */
interface EchoLevels {
  readonly callerDb: number;
  readonly oursDb: number;
  /** Level of the caller above which a sound may be a voice. */
  readonly thresholdDb: number;
}

/** A guard's memory while our voice is heard. */
interface Memory {
  readonly filter: EchoFilter;
  readonly ours: Float32Array;
  readonly caller: Float32Array;
  readonly residuals: Float64Array;
  readonly predictions: Float64Array;
}

export class EchoGuard {
  readonly #work: EchoGuardWorkspace;
  #memory: Memory | undefined;
  /** Windows until the last echo of what was sent has come back. */
  #echoing = 0;
  #oursLast = 0;
  #callerLast = 0;
  /** Loudest window that was sent within the longest echo. */
  #oursDb = SILENCE_DB;
  #compared = 0;
  #learned = 0;
  /** Energy of a block of the caller's line noise. */
  #noise = NOISE_START;
  #searches = SEARCHES;
  #refill = 0;

  constructor(work: EchoGuardWorkspace) {
    this.#work = work;
  }

  /** One window of both sides. True: all that could be a voice in it is the echo of ours. */
  isEcho(caller: Float32Array, ours: Float32Array, levels: EchoLevels): boolean {
    if (!this.#isEchoPossible(levels.oursDb)) return false;
    const memory = (this.#memory ??= newMemory(this.#work.filter));
    this.#store(memory, caller, ours);
    if (levels.callerDb <= levels.thresholdDb) return this.#skip(memory);
    return this.#compare(memory, levels);
  }

  /** True if this call has an echo, which the guard has learned. */
  get hasEcho(): boolean {
    return this.#learned > 0;
  }

  /** The call moved to another path. */
  reset(): void {
    this.#memory = undefined;
    this.#echoing = 0;
    this.#compared = 0;
    this.#learned = 0;
  }

  #isEchoPossible(oursDb: number): boolean {
    if (oursDb > AUDIBLE_DB) {
      this.#oursDb = Math.max(oursDb, this.#oursDb);
      this.#echoing = PARTITIONS + SPAN;
    } else if (this.#echoing > 0) {
      this.#echoing--;
      if (this.#echoing === 0) this.#forget();
    }
    return this.#echoing > 0;
  }

  #forget(): void {
    const memory = this.#memory;
    this.#oursDb = SILENCE_DB;
    this.#oursLast = 0;
    if (memory === undefined) return;
    memory.filter.pause();
    memory.ours.fill(0);
    memory.caller.fill(0);
    memory.residuals.fill(0);
    memory.predictions.fill(0);
  }

  #store(memory: Memory, caller: Float32Array, ours: Float32Array): void {
    this.#oursLast = append(memory.ours, ours, this.#oursLast);
    this.#callerLast = append(memory.caller, caller, this.#callerLast);
    memory.filter.push();
    memory.residuals.copyWithin(0, 1);
    memory.predictions.copyWithin(0, 1);
    if (this.#searches < SEARCHES && ++this.#refill >= REFILL) {
      this.#searches++;
      this.#refill = 0;
    }
  }

  /** The caller is too quiet for a voice: only the noise of the line is learned. */
  #skip({ residuals, predictions, caller }: Memory): true {
    const energy = energyOf(caller.subarray(SEGMENT - BLOCK));
    this.#noise += (energy < this.#noise ? NOISE_FALL : NOISE_RISE) * (energy - this.#noise);
    residuals[SPAN - 1] = energy;
    predictions[SPAN - 1] = 0;
    return true;
  }

  #compare(memory: Memory, { callerDb, thresholdDb }: EchoLevels): boolean {
    const { filter, caller, ours, residuals, predictions } = memory;
    const block = caller.subarray(SEGMENT - BLOCK);
    // A filter that knows the path follows it with half of the blocks.
    const adapts = this.#learned === 0 || this.#compared % ADAPT_EVERY === 0;
    const residual = filter.residual(block, ours, adapts);
    residuals[SPAN - 1] = residual;
    predictions[SPAN - 1] = filter.predicted;
    this.#compared++;
    if (residual < this.#noise) this.#noise = residual;
    const left = (residual - this.#noise) / energyOf(block);
    if (residual <= NOISE_MARGIN * this.#noise || callerDb + decibels(left) <= thresholdDb) return true;
    const energy = Math.max(residual, energyOf(caller) - SPAN * this.#noise);
    const explained = 1 - (sum(residuals) - SPAN * this.#noise) / energy;
    if (explained >= LEARNED) {
      this.#learned = LEARNED_WINDOWS;
      if (this.#compared > SEEDED_WINDOWS) this.#compared = EARLY_WINDOWS;
    } else if (this.#learned > 0) this.#learned--;
    if (explained >= EXPLAINED) return true;
    if (this.#learned > 0 && energy <= DISTORTED * sum(predictions)) return true;
    const isEarly = this.#compared <= EARLY_WINDOWS && callerDb <= this.#oursDb - EARLY_LOSS_DB;
    const least = isEarly ? EARLY_EXPLAINED : EXPLAINED;
    return explained >= least || this.#search(memory, explained, least);
  }

  #search({ filter, caller, ours }: Memory, explained: number, least: number): boolean {
    if (this.#searches === 0) return false;
    this.#searches--;
    const match = this.#work.correlator.best(caller, ours);
    if (match.explained < least) return false;
    if (match.explained >= EXPLAINED && match.explained > explained + 0.2) filter.seed(match.lag, match.gain);
    return true;
  }
}

function newMemory(work: EchoWorkspace): Memory {
  return {
    filter: new EchoFilter(SIZE, work),
    ours: new Float32Array(HISTORY),
    caller: new Float32Array(SEGMENT),
    residuals: new Float64Array(SPAN),
    predictions: new Float64Array(SPAN),
  };
}

/** Shifts a window in, at half the rate and with pre-emphasis. Returns the last sample before that. */
function append(history: Float32Array, window: Float32Array, last: number): number {
  history.copyWithin(0, BLOCK);
  let before = last;
  for (let n = 0, at = history.length - BLOCK; n < BLOCK; n++, at++) {
    const sample = ((window[2 * n] as number) + (window[2 * n + 1] as number)) / 2;
    history[at] = sample - PRE_EMPHASIS * before;
    before = sample;
  }
  return before;
}

function energyOf(signal: Float32Array): number {
  let energy = 0;
  for (const sample of signal) energy += sample * sample;
  return energy;
}

function decibels(ratio: number): number {
  return 10 * Math.log10(ratio);
}

function sum(values: Float64Array): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
