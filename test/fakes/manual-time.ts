// Time that stands still until the test moves it.
import type { Time } from '../../src/time.js';

interface Timer {
  readonly dueMs: number;
  readonly action: () => void;
}

export class ManualTime implements Time {
  #nowMs: number;
  readonly #timers = new Set<Timer>();

  constructor(startMs = 0) {
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs;
  }

  /** Timers that were set and neither fired nor cancelled. */
  get waiting(): number {
    return this.#timers.size;
  }

  after(ms: number, action: () => void): () => void {
    const timer = { dueMs: this.#nowMs + ms, action };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Fires what falls due, in order, each at its own moment. */
  advance(ms: number): void {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      const due = [...this.#timers].filter((timer) => timer.dueMs <= untilMs);
      const [next] = due.sort((a, b) => a.dueMs - b.dueMs);
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#nowMs = next.dueMs;
      next.action();
    }
    this.#nowMs = untilMs;
  }
}
