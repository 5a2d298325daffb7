// Notices that nothing has happened for a while.
import type { Time } from '../../time.js';

export class IdleTimer {
  readonly #time: Time;
  readonly #ms: number;
  readonly #busy: () => boolean;
  readonly #idle: () => void;
  #touchedAtMs: number;
  #cancel: () => void;

  /** `idle` is called once, when nothing was touched for `ms` and nobody is busy. */
  constructor(time: Time, ms: number, busy: () => boolean, idle: () => void) {
    this.#time = time;
    this.#ms = ms;
    this.#busy = busy;
    this.#idle = idle;
    this.#touchedAtMs = time.now();
    this.#cancel = time.after(ms, () => this.#due());
  }

  touch(): void {
    this.#touchedAtMs = this.#time.now();
  }

  /** Idempotent. */
  close(): void {
    this.#cancel();
  }

  // One timer for any number of touches: it looks again when the last of them may have been too long ago.
  #due(): void {
    if (this.#busy()) this.touch();
    const leftMs = this.#touchedAtMs + this.#ms - this.#time.now();
    if (leftMs <= 0) this.#idle();
    else this.#cancel = this.#time.after(leftMs, () => this.#due());
  }
}
