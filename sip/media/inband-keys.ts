// Decides whether the keys of a far end are heard in its sound (DTMF): only without telephone-event (RFC
// 4733), and until its first key comes in INFO. Otherwise one key would count twice.
import type { Time } from '../../src/time.js';

/** A key in INFO within this time is the one that was heard: it is sent when the key is released. */
const SAME_KEY_MS = 1500;

export class InbandKeys {
  readonly #time: Time;
  readonly #hear: (on: boolean) => void;
  #isWanted = false;
  #comeInInfo = false;
  #heard: { readonly digit: string; readonly atMs: number } | undefined;

  /** `hear` begins and ends the detection. */
  constructor(time: Time, hear: (on: boolean) => void) {
    this.#time = time;
    this.#hear = hear;
  }

  /** Whether telephone-event was agreed on: true without an agreement that carries sound. */
  agreed(hasEvents: boolean): void {
    this.#isWanted = !hasEvents;
    this.#hear(this.#isWanted && !this.#comeInInfo);
  }

  /** The media reported a key. */
  heard(digit: string): void {
    if (this.#isWanted) this.#heard = { digit, atMs: this.#time.now() };
  }

  /** A key came in INFO. False: it was heard in the sound and reported already. */
  signalled(digit: string): boolean {
    const heard = this.#heard;
    this.#heard = undefined;
    this.#comeInInfo = true;
    this.#hear(false);
    return heard?.digit !== digit || this.#time.now() - heard.atMs > SAME_KEY_MS;
  }
}
