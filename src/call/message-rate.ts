// A bucket that fills at a steady rate: bursts pass, floods do not. It holds
// messages, or bytes of them, or whatever else `cost` counts.

export interface MessageRateLimits {
  readonly perSecond: number;
  /** What may come at once after a rest. */
  readonly burst: number;
}

export class MessageRate {
  readonly #limits: MessageRateLimits;
  #left: number;
  #asOfMs: number;

  constructor(limits: MessageRateLimits, nowMs: number) {
    this.#limits = limits;
    this.#left = limits.burst;
    this.#asOfMs = nowMs;
  }

  /** True when one more message is within the limits; it then counts. */
  admits(nowMs: number, cost = 1): boolean {
    if (this.waitMs(nowMs, cost) > 0) return false;
    this.#left -= cost;
    return true;
  }

  /** Whole milliseconds until one more message is within the limits; 0 where it is now. Nothing counts by asking. */
  waitMs(nowMs: number, cost = 1): number {
    const { perSecond, burst } = this.#limits;
    this.#left = Math.min(burst, this.#left + ((nowMs - this.#asOfMs) / 1000) * perSecond);
    this.#asOfMs = nowMs;
    // One that is larger than any burst passes a full bucket and leaves a debt.
    const lacking = Math.min(cost, burst) - this.#left;
    return lacking <= 0 ? 0 : Math.ceil((lacking / perSecond) * 1000);
  }
}
