// The time that a text has until its first sound.
import { ParleyError } from '../../errors.js';

/** Rejects once when the first bytes took too long, and stops the work. */
export class FirstByteLimit {
  readonly passed: Promise<never>;
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number, stop: () => void) {
    this.passed = new Promise((_, reject) => {
      this.#timer = setTimeout(() => {
        const limit = `there was no sound within ${ms / 1000} s, which is what REQUEST_TIMEOUT allows`;
        reject(new ParleyError('TIMEOUT', limit));
        stop();
      }, ms);
    });
  }

  keep(): void {
    clearTimeout(this.#timer);
  }
}
