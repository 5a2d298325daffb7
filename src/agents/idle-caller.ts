// Asks a caller who says nothing whether he is still there, and ends the call if no answer comes.
//
//   silence ─▶ phrase ─▶ silence ─▶ phrase ─▶ silence ─▶ goodbye ─▶ end of the call
//      ▲          └──── the caller says, types or presses something ────┘
//      └────────────────────────────────┘
//
// Time runs only while neither side speaks and no answer is awaited. A sound without words begins the time
// anew, but is no answer: a noisy line must not keep a call open.
import type { UtteranceEnd } from '../call/utterance.js';
import type { IdleCallerConfig } from '../config/idle-config.js';
import type { Time } from '../time.js';

/** A phrase that is spoken, and its end. */
interface Said {
  readonly ended: Promise<Pick<UtteranceEnd, 'end'>>;
}

interface IdleParts {
  readonly time: Time;
  /** Somebody speaks, or is about to. */
  readonly isBusy: () => boolean;
  /** Says a phrase, and calls `says` with it. Undefined where nothing can be said. */
  readonly say: (phrase: string) => Said | undefined;
  /** Never rejects. */
  readonly hangUp: () => Promise<void>;
}

export class IdleCaller {
  readonly #config: IdleCallerConfig | undefined;
  readonly #parts: IdleParts;
  /** Times that the caller was asked since he last did something. */
  #asked = 0;
  /** Counts what the caller does. */
  #acts = 0;
  /** Utterances that are waiting or being heard. */
  #utterances = 0;
  #isLeaving = false;
  #isOver = false;
  #cancel: (() => void) | undefined;

  /** Without a configuration it does nothing. Time begins with the first `look`. */
  constructor(config: IdleCallerConfig | undefined, parts: IdleParts) {
    this.#config = config;
    this.#parts = parts;
  }

  /** The caller said, typed or pressed something. */
  acts(): void {
    this.#asked = 0;
    this.#acts++;
    this.#stop();
    this.look();
  }

  /** Our side says this. */
  says({ ended }: Said): void {
    this.#utterances++;
    this.look();
    void ended.then(() => {
      this.#utterances--;
      this.look();
    });
  }

  /** It may have changed whether somebody speaks. */
  look(): void {
    if (this.#config === undefined || this.#isOver || this.#isLeaving) return;
    if (this.#utterances > 0 || this.#parts.isBusy()) this.#stop();
    else this.#cancel ??= this.#parts.time.after(this.#config.idleMs, () => this.#due());
  }

  /** Idempotent. */
  close(): void {
    this.#isOver = true;
    this.#stop();
  }

  #stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #due(): void {
    this.#cancel = undefined;
    if (this.#config === undefined) return;
    const { times, phrase, goodbye } = this.#config;
    if (this.#asked >= times) return void this.#leave(goodbye);
    this.#asked++;
    if (this.#parts.say(phrase) === undefined) this.look();
    return undefined;
  }

  /** A caller who does something during the goodbye, or interrupts it, stays. */
  async #leave(goodbye: string): Promise<void> {
    const acts = this.#acts;
    this.#isLeaving = true;
    const said = await this.#parts.say(goodbye)?.ended;
    const isInterrupted = said?.end === 'interrupted';
    if (isInterrupted) this.#asked = 0;
    const stays = isInterrupted || acts !== this.#acts || this.#parts.isBusy();
    if (!stays && !this.#isOver) await this.#parts.hangUp();
    this.#isLeaving = false;
    this.look(); // a call that could not be ended is asked again
  }
}
