// Tells the echo of our own voice from the caller's voice, window by window.
//
// It asks how much of the caller's energy our sent signal explains. The envelopes of its bands answer for a
// path that is learned (`EchoEnvelope`). A search over all lags for the same waveform answers for a path that
// is new or has changed: the jitter buffer changes its delay. While nothing is sent the guard costs nothing.
import { Correlator } from './correlation.js';
import { WINDOW_SAMPLES } from '../media/ears.js';
import { EchoEnvelope, EnvelopeWorkspace } from './echo-envelope.js';

/** At half the rate: speech has little above 4 kHz, and a telephone nothing. */
const BLOCK = WINDOW_SAMPLES / 2;
/** Windows that the search compares: 96 ms. */
const SEGMENT = 3 * BLOCK;
const HISTORY = SEGMENT + 16 * BLOCK; // lags to 512 ms
const PRE_EMPHASIS = 0.9; // speech has most energy in its lowest octaves, which resemble each other

const AUDIBLE_DB = -65; // of our signal; weaker sound returns no echo that opens the gate
/** After so many windows (704 ms) the last echo, with its reverberation, has come back. */
const LONGEST_ECHO = 22;
/** A voice is more than this part of the caller's energy. */
const MOST_UNEXPLAINED = 0.45;
/** A waveform that explains this part of the caller's energy is its source. */
const SAME_WAVEFORM = 0.5;
/** Searches over all lags: so many at once, then one in REFILL windows. A search costs about 1 ms. */
const SEARCHES = 12;
const REFILL = 8;

/** Buffers that the guards of one thread share. */
export class EchoGuardWorkspace {
  readonly envelope = new EnvelopeWorkspace();
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
  readonly envelope: EchoEnvelope;
  readonly ours: Float32Array;
  readonly caller: Float32Array;
}

export class EchoGuard {
  readonly #work: EchoGuardWorkspace;
  #memory: Memory | undefined;
  /** Windows until the last echo of what was sent has come back. */
  #echoing = 0;
  #oursLast = 0;
  #callerLast = 0;
  #searches = SEARCHES;
  #refill = 0;

  constructor(work: EchoGuardWorkspace) {
    this.#work = work;
  }

  /** One window of both sides. True: all that could be a voice in it is the echo of ours. */
  isEcho(caller: Float32Array, ours: Float32Array, levels: EchoLevels): boolean {
    if (!this.#isEchoPossible(levels.oursDb)) return false;
    const memory = (this.#memory ??= newMemory(this.#work));
    this.#store(memory, caller, ours);
    const unexplained = memory.envelope.unexplained(memory.caller, memory.ours);
    const { callerDb, thresholdDb } = levels;
    if (callerDb <= thresholdDb || unexplained <= MOST_UNEXPLAINED) return true;
    return callerDb + 10 * Math.log10(unexplained) <= thresholdDb || this.#search(memory);
  }

  /** The call moved to another path. */
  reset(): void {
    this.#memory = undefined;
    this.#echoing = 0;
  }

  #isEchoPossible(oursDb: number): boolean {
    if (oursDb > AUDIBLE_DB) this.#echoing = LONGEST_ECHO;
    else if (this.#echoing > 0 && --this.#echoing === 0) this.#forget();
    return this.#echoing > 0;
  }

  #forget(): void {
    this.#oursLast = 0;
    this.#memory?.ours.fill(0);
    this.#memory?.caller.fill(0);
    this.#memory?.envelope.pause();
  }

  #store(memory: Memory, caller: Float32Array, ours: Float32Array): void {
    this.#oursLast = append(memory.ours, ours, this.#oursLast);
    this.#callerLast = append(memory.caller, caller, this.#callerLast);
    if (this.#searches < SEARCHES && ++this.#refill >= REFILL) {
      this.#searches++;
      this.#refill = 0;
    }
  }

  #search({ envelope, caller, ours }: Memory): boolean {
    if (this.#searches === 0) return false;
    this.#searches--;
    const { lag, explained } = this.#work.correlator.best(caller, ours);
    if (explained < SAME_WAVEFORM) return false;
    envelope.seed(lag);
    return true;
  }
}

function newMemory(work: EchoGuardWorkspace): Memory {
  return {
    envelope: new EchoEnvelope(work.envelope),
    ours: new Float32Array(HISTORY),
    caller: new Float32Array(SEGMENT),
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
