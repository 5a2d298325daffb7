// How often each source may come, in bounded memory: one number a source says
// when everything it has asked for will be paid off (the generic cell rate
// algorithm), so there are no windows at whose edge twice as many pass.
import type { Time } from '../../src/time.js';

export interface RateBounds {
  readonly perSecond: number;
  /** So many may come at once. */
  readonly burst: number;
  /** Sources that are remembered; whoever has not come for longest is forgotten. */
  readonly mostSources: number;
}

export class SourceRates {
  readonly #bounds: RateBounds;
  readonly #time: Time;
  readonly #paidOffMs = new Map<string, number>();

  constructor(bounds: RateBounds, time: Time) {
    this.#bounds = bounds;
    this.#time = time;
  }

  /** Sources that are remembered. */
  get size(): number {
    return this.#paidOffMs.size;
  }

  /**
   * Counts one more, or as many as it costs: 0 if the source is within bounds, else the milliseconds after which the
   * next one will be.
   */
  take(source: string, cost = 1): number {
    const waitMs = this.waitMs(source);
    if (waitMs > 0) return waitMs;
    const nowMs = this.#time.now();
    const beforeMs = Math.max(this.#paidOffMs.get(source) ?? 0, nowMs);
    this.#paidOffMs.delete(source);
    this.#paidOffMs.set(source, beforeMs + (cost * 1000) / this.#bounds.perSecond);
    if (this.#paidOffMs.size > this.#bounds.mostSources) {
      const [oldest] = this.#paidOffMs.keys();
      if (oldest !== undefined) this.#paidOffMs.delete(oldest);
    }
    return 0;
  }

  /** What `take` would answer; counts nothing. */
  waitMs(source: string): number {
    const { perSecond, burst } = this.#bounds;
    const owedMs = (this.#paidOffMs.get(source) ?? 0) - this.#time.now();
    const waitMs = owedMs + 1000 / perSecond - (burst * 1000) / perSecond;
    return waitMs > 0.001 ? waitMs : 0; // under a thousandth of a millisecond is the rounding of sums
  }
}
