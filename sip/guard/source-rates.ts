// Limits the rate of each source in bounded memory with the generic cell rate algorithm: one number
// per source says when its requests are paid off. There are no windows at whose edge twice the rate
// passes.
import type { Time } from '../../src/time.js';

export interface RateBounds {
  readonly perSecond: number;
  /** Number of requests that may arrive at once. */
  readonly burst: number;
  /** Number of sources kept; the least recent one is dropped. */
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

  /** Number of sources kept. */
  get size(): number {
    return this.#paidOffMs.size;
  }

  /**
   * Counts one request, or `cost` of them. Returns 0 if the source is within bounds, else the milliseconds
   * until its next request is.
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

  /** Returns what `take` would return; counts nothing. */
  waitMs(source: string): number {
    const { perSecond, burst } = this.#bounds;
    const owedMs = (this.#paidOffMs.get(source) ?? 0) - this.#time.now();
    const waitMs = owedMs + 1000 / perSecond - (burst * 1000) / perSecond;
    return waitMs > 0.001 ? waitMs : 0; // smaller values are rounding errors
  }
}
