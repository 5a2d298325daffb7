// The keys that the far end of a call pressed: the latest of them.
import type { PressedDigit } from '../../src/call/phone-calls.js';

const MOST_DIGITS = 1000;

export class PressedDigits {
  readonly #latest: PressedDigit[] = [];

  add(digit: PressedDigit): void {
    this.#latest.push(digit);
    if (this.#latest.length > MOST_DIGITS) this.#latest.shift();
  }

  /** Oldest first. */
  get latest(): readonly PressedDigit[] {
    return [...this.#latest];
  }
}
