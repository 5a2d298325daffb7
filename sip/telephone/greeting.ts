// What is said first in a call: before the answer, where the far end can hear us
// already, and once it is answered.
import type { Call } from '../../src/call/call.js';

type Action = (call: Call) => void;

export class Greeting {
  #early: Action | undefined;
  #first: Action | undefined;

  /** As soon as there is a call. */
  onceAudible(action: Action): void {
    this.#early = action;
  }

  /** Once it is answered. */
  onceTalking(action: Action): void {
    this.#first = action;
  }

  /** Says what it is time for, each of them once. */
  say(call: Call, isAnswered: boolean): void {
    const [early, first] = [this.#early, isAnswered ? this.#first : undefined];
    this.#early = undefined;
    if (first !== undefined) this.#first = undefined;
    early?.(call);
    first?.(call);
  }

  forget(): void {
    this.#early = undefined;
    this.#first = undefined;
  }
}
