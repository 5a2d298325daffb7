// Waits of a session that end early when the session does.
import type { Time } from '../../src/time.js';

export class Pauses {
  readonly #time: Time;
  readonly #under = new Set<() => void>();
  #closed = false;

  constructor(time: Time) {
    this.#time = time;
  }

  wait(ms: number): Promise<void> {
    if (this.#closed) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        cancelTimer();
        this.#under.delete(end);
        resolve();
      };
      const cancelTimer = this.#time.after(ms, end);
      this.#under.add(end);
    });
  }

  /** Ends all of them, and those to come at once. */
  close(): void {
    this.#closed = true;
    for (const end of this.#under) end();
  }
}
