// Ends a call in which nobody has done anything for a while: a line that was
// left open, an application that is gone.
import type { Time } from '../../src/time.js';

export class SilenceLimit {
  readonly #time: Time;
  readonly #limitMs: number;
  readonly #reached: () => void;
  #busy = 0;
  #callOff: () => void = () => undefined;
  #closed = false;

  /** Counts from now on; `limitMs` 0 sets no limit. */
  constructor(time: Time, limitMs: number, reached: () => void) {
    this.#time = time;
    this.#limitMs = limitMs;
    this.#reached = reached;
    this.#restart();
  }

  /** Something happened. */
  heard(): void {
    if (this.#busy === 0) this.#restart();
  }

  /** Something goes on; no silence until the function returned was called. */
  during(): () => void {
    this.#busy++;
    this.#callOff();
    let over = false;
    return () => {
      if (over) return;
      over = true;
      if (--this.#busy === 0) this.#restart();
    };
  }

  close(): void {
    this.#closed = true;
    this.#callOff();
  }

  #restart(): void {
    this.#callOff();
    if (this.#closed || this.#limitMs === 0) return;
    this.#callOff = this.#time.after(this.#limitMs, this.#reached);
  }
}
