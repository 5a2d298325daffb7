// Measures the delay that stalls have left in sound that comes in real time. After a stall, the sound that
// was held back comes at once. It waits behind the silence that was played meanwhile, and so does all later
// sound:
//
//   came     1 2 3             4567 8 9
//   played     1 2 3 (silence)     4 5 6 7 8 9      for good
//
// Sound that a sender sends ahead of time is meant to wait, and is no delay: a bot may send a whole answer at
// once. So the sound that waits is compared with the sound that would wait if there had been no stall.
//
// A sender that is late has either stalled or paused. After a stall it catches up, and goes on in real time.
// After a pause it does not catch up, or it goes on faster than real time.

/** A sender whose sound comes so much behind its time has stalled, or paused. */
const LATE_MS = 60;
/** A sender that has not caught up so long after its first late sound has paused. */
const CATCH_UP_MS = 2000;
/** The sound ahead of its time varies by less, for so long, where a sender sends in real time. */
const JITTER_MS = 100;
const STEADY_MS = 500;
/** The sound ahead of its time counts less by this share of the time: clocks of senders may be fast. */
const DRIFT = 0.01;

export class StallDelay {
  /** Moment at which the sound that came would be played to its end, had there been no stall. */
  #endMs: number | undefined;
  #lastMs = 0;
  /** Moment of the first late sound; undefined while the sender is in time. */
  #lateSinceMs: number | undefined;
  /** The sound was about so much ahead of its time since then. */
  #aheadMs = 0;
  #steadySinceMs = 0;
  /** The same before the sender was late, and the moment at which it had caught up. */
  #usualAheadMs = 0;
  #caughtUpMs = -Infinity;

  /**
   * Takes note that `ms` of sound came. `waitingMs` tells how much waits to be played, with it. Returns the
   * milliseconds that wait because of stalls: 0 unless the sound comes in real time.
   */
  came(nowMs: number, ms: number, waitingMs: () => number): number {
    const endMs = this.#driftedTo(nowMs);
    if (this.#lateSinceMs === undefined && nowMs - endMs > LATE_MS) {
      this.#lateSinceMs = nowMs;
      this.#usualAheadMs = this.#aheadMs;
    }
    this.#endMs = endMs + ms;
    if (this.#lateSinceMs !== undefined && !this.#hasCaughtUp(nowMs, this.#lateSinceMs, waitingMs)) return 0;
    const aheadMs = this.#endMs - nowMs;
    if (Math.abs(aheadMs - this.#aheadMs) > JITTER_MS) this.#beginSteady(nowMs);
    const isNew = nowMs - this.#caughtUpMs < STEADY_MS && aheadMs > this.#usualAheadMs + JITTER_MS;
    if (isNew) this.#paused(nowMs, waitingMs);
    if (nowMs - this.#steadySinceMs < STEADY_MS) return 0;
    return Math.max(0, waitingMs() - Math.max(0, aheadMs));
  }

  /** The sound that waited is dropped. The next sound is the first. */
  restart(): void {
    this.#endMs = undefined;
    this.#lateSinceMs = undefined;
  }

  #driftedTo(nowMs: number): number {
    const passedMs = nowMs - this.#lastMs;
    this.#lastMs = nowMs;
    if (this.#endMs === undefined) {
      this.#beginSteady(nowMs);
      return nowMs;
    }
    return Math.max(this.#endMs - DRIFT * passedMs, Math.min(this.#endMs, nowMs));
  }

  #hasCaughtUp(nowMs: number, sinceMs: number, waitingMs: () => number): boolean {
    if (nowMs - (this.#endMs ?? nowMs) <= LATE_MS) {
      this.#lateSinceMs = undefined;
      this.#caughtUpMs = nowMs;
      this.#beginSteady(nowMs);
      return true;
    }
    if (nowMs - sinceMs >= CATCH_UP_MS) this.#paused(nowMs, waitingMs);
    return false;
  }

  /** The sender was not late, but had nothing to send: all that waits is meant to wait. */
  #paused(nowMs: number, waitingMs: () => number): void {
    this.#lateSinceMs = undefined;
    this.#caughtUpMs = -Infinity;
    this.#endMs = nowMs + waitingMs();
    this.#beginSteady(nowMs);
  }

  #beginSteady(nowMs: number): void {
    this.#steadySinceMs = nowMs;
    this.#aheadMs = (this.#endMs ?? nowMs) - nowMs;
  }
}
