// Judges how busy one encoder worker is with calls, and chooses the complexity of the Opus encoders that
// begin in it.
//
//   busy > 70 %, or a session waited > 200 ms for a turn ──▶ one step down, at most each second
//   busy would stay < 60 % a step higher, for 10 s    ──▶ one step up
//
// Late sound disturbs more than a lower complexity does. Sessions that have begun keep theirs. Files over
// HTTP do not count: they have no clock, and take whatever time the calls leave.

/** Indices of the counters that a worker writes and the pool resets, in an Int32Array. */
export const COUNTERS = { longestWaitMs: 0, workedUs: 1 } as const;

/** Steps below the configured complexity. */
const STEPS = [5, 3, 1, 0] as const;
/**
 * Relative cost of the complexities 0 to 10, without error correction (the bench `encode`). The whole load is
 * taken to grow by it, resampling too, so a step up is rather too late than too early.
 */
const COSTS = [29, 33, 37, 42, 57, 72, 135, 199, 215, 230, 249] as const;
const TOO_BUSY = 0.7;
/** A turn is 100 ms of sound, and 400 ms are queued when a session asks for one. */
const LONGEST_WAIT_MS = 200;
const BUSY_AFTER_RISE = 0.6;
const CALM_MS = 10_000;

export interface WorkerSample {
  /** Fraction of the time since the last sample in which the worker worked for calls, 0 to 1. */
  readonly busy: number;
  /**
   * The longest time in milliseconds for which a call's session waited for its turn since the last sample.
   */
  readonly longestWaitMs: number;
}

export class WorkerLoad {
  /** Complexities from the configured one down. */
  readonly #steps: readonly number[];
  #step = 0;
  #calmSinceMs: number | undefined;
  #load = 0;
  #wasLate = false;

  constructor(complexity: number) {
    this.#steps = [complexity, ...STEPS.filter((step) => step < complexity)];
  }

  /** Complexity of the encoders that begin now. */
  get complexity(): number {
    return this.#steps[this.#step] as number;
  }

  /**
   * Load in the last sample, 0 to 1: the busy fraction, or 1 if sessions waited too long in it and in the one
   * before. One long wait alone, as of a garbage collection, is no reason to refuse calls.
   */
  get load(): number {
    return this.#load;
  }

  /** Takes a sample, once a second. Returns true if the complexity has changed. */
  sample({ busy, longestWaitMs }: WorkerSample, nowMs: number): boolean {
    const isLate = longestWaitMs > LONGEST_WAIT_MS;
    this.#load = isLate && this.#wasLate ? 1 : busy;
    this.#wasLate = isLate;
    if (isLate || busy > TOO_BUSY) {
      this.#calmSinceMs = undefined;
      return this.#moveTo(this.#step + 1);
    }
    if (busy * this.#costOfRise() >= BUSY_AFTER_RISE) {
      this.#calmSinceMs = undefined;
      return false;
    }
    this.#calmSinceMs ??= nowMs;
    if (nowMs - this.#calmSinceMs < CALM_MS) return false;
    this.#calmSinceMs = nowMs;
    return this.#moveTo(this.#step - 1);
  }

  #moveTo(step: number): boolean {
    if (this.#steps[step] === undefined) return false;
    this.#step = step;
    return true;
  }

  #costOfRise(): number {
    const higher = this.#steps[this.#step - 1];
    return higher === undefined ? 1 : (COSTS[higher] ?? 1) / (COSTS[this.complexity] ?? 1);
  }
}
