// Ends a call whose engine lost its device while it spoke: another engine says a phrase, if one can, and the
// call hangs up.
import { asParleyError, type ErrorCode, ParleyError } from '../errors.js';
import type { Time } from '../time.js';
import type { Log } from '../log.js';

const REASON = 'engine lost';
const LIMIT_MS = 20_000; // for the phrase: the call may be held, or no other engine may start

export interface LastWords {
  /** Spoken before a call ends because its engine was lost. If absent, the call ends at once. */
  readonly hangUpPhrase?: string | undefined;
}

interface GoodbyeParts {
  readonly limits: LastWords;
  readonly time: Time;
  readonly log: Log;
}

/** The call, as its goodbye uses it. */
interface Leaving {
  interrupt(reason: string): unknown;
  /** Resolves when the phrase was heard or given up. */
  say(phrase: string): Promise<unknown>;
  close(reason: string): Promise<void>;
}

export class Goodbye {
  readonly #call: string;
  readonly #parts: GoodbyeParts;
  readonly #leaving: Leaving;
  #begun = false;

  constructor(call: string, parts: GoodbyeParts, leaving: Leaving) {
    this.#call = call;
    this.#parts = parts;
    this.#leaving = leaving;
  }

  /** Throws CALL_CLOSED once the goodbye has begun. */
  refuseMore(): void {
    if (this.#begun) throw new ParleyError('CALL_CLOSED', `call ${this.#call} is about to end`);
  }

  /** Begins the goodbye if an utterance failed because its engine was lost. */
  failed({ code }: { readonly code: ErrorCode }): void {
    if (code !== 'ENGINE_LOST' || this.#begun) return;
    this.#begun = true;
    queueMicrotask(() => void this.#hangUp()); // not from within the end of the utterance
  }

  /** Interrupts first, because the waiting utterances would fail, too. */
  async #hangUp(): Promise<void> {
    this.#leaving.interrupt(REASON);
    await this.#say();
    await this.#leaving.close(REASON);
  }

  async #say(): Promise<void> {
    const { limits, time, log } = this.#parts;
    if (limits.hangUpPhrase === undefined) return;
    let cancelTimer: () => void = () => undefined;
    const limit = new Promise<void>((resolve) => (cancelTimer = time.after(LIMIT_MS, resolve)));
    try {
      await Promise.race([this.#leaving.say(limits.hangUpPhrase), limit]);
    } catch (error) {
      const { code } = asParleyError(error, 'ENGINE_FAILED');
      log.warn({ call: this.#call, code }, 'no engine could say the hang-up phrase');
    } finally {
      cancelTimer();
    }
  }
}
