// Time whose timers stand still while a call is held: nobody is late then.
import type { Time } from '../time.js';

interface Timer {
  readonly action: () => void;
  leftMs: number;
  sinceMs: number;
  cancel: (() => void) | undefined;
}

export class PausableTime implements Time {
  readonly #time: Time;
  readonly #timers = new Set<Timer>();
  #paused = false;

  constructor(time: Time) {
    this.#time = time;
  }

  now(): number {
    return this.#time.now();
  }

  after(ms: number, action: () => void): () => void {
    const timer: Timer = { action, leftMs: ms, sinceMs: this.now(), cancel: undefined };
    this.#timers.add(timer);
    if (!this.#paused) this.#run(timer);
    return () => {
      this.#timers.delete(timer);
      timer.cancel?.();
    };
  }

  /** Idempotent, as `resume` is. */
  pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    for (const timer of this.#timers) {
      timer.cancel?.();
      timer.cancel = undefined;
      timer.leftMs -= this.now() - timer.sinceMs;
    }
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    for (const timer of this.#timers) this.#run(timer);
  }

  #run(timer: Timer): void {
    timer.sinceMs = this.now();
    timer.cancel = this.#time.after(Math.max(0, timer.leftMs), () => {
      this.#timers.delete(timer);
      timer.action();
    });
  }
}
