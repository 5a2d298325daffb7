// A bucket of messages that fills at a steady rate: bursts pass, floods do not.

export interface MessageRateLimits {
  readonly perSecond: number;
  /** Messages that may come at once after a rest. */
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

  /** True when one more message is within the limits. */
  admits(nowMs: number): boolean {
    const { perSecond, burst } = this.#limits;
    this.#left = Math.min(burst, this.#left + ((nowMs - this.#asOfMs) / 1000) * perSecond);
    this.#asOfMs = nowMs;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
