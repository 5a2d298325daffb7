// Finds that a turn of the caller has probably ended, before that is decided: the caller is silent, and the
// text so far has not changed, for a set time.
//
//   speech.stopped ──▶ silent and unchanged for so long ──▶ likely ──▶ turn.ended
//        ▲                                                    └─ speech, another text ──▶ unlikely
//        └── speech.started
import type { Time } from '../time.js';

/** The text of a turn that has probably ended. */
export interface LikelyTurn {
  readonly text: string;
  /** BCP 47 tag; undefined if it is not known. */
  readonly language: string | undefined;
}

export class LikelyEnd {
  readonly #time: Time;
  readonly #silenceMs: number;
  readonly #onChange: (turn: LikelyTurn | undefined) => void;
  #said: LikelyTurn | undefined;
  #isSilent = false;
  #isLikely = false;
  #cancel: () => void = () => undefined;

  /** `onChange` is called with the turn when its end is likely, and with undefined if it is no longer. */
  constructor(time: Time, silenceMs: number, onChange: (turn: LikelyTurn | undefined) => void) {
    this.#time = time;
    this.#silenceMs = silenceMs;
    this.#onChange = onChange;
  }

  /** The caller goes on: the text so far is of no use. */
  started(): void {
    this.#isSilent = false;
    this.#said = undefined;
    this.#unlikely();
  }

  stopped(): void {
    this.#isSilent = true;
    this.#wait();
  }

  /** The text so far of the turn that is not over. */
  partial(text: string, language: string | undefined): void {
    const trimmed = text.trim();
    if (trimmed === this.#said?.text) return;
    this.#said = { text: trimmed, language };
    this.#unlikely();
    if (this.#isSilent) this.#wait();
  }

  /** The turn is over: what is likely stays so until its text is known. Idempotent. */
  ended(): void {
    this.#cancel();
    this.#said = undefined;
    this.#isSilent = false;
    this.#isLikely = false;
  }

  /** The turn is given up. */
  forget(): void {
    this.#unlikely();
    this.ended();
  }

  #wait(): void {
    this.#cancel();
    const said = this.#said;
    if (said === undefined || said.text === '') return;
    this.#cancel = this.#time.after(this.#silenceMs, () => {
      this.#isLikely = true;
      this.#onChange(said);
    });
  }

  #unlikely(): void {
    this.#cancel();
    if (!this.#isLikely) return;
    this.#isLikely = false;
    this.#onChange(undefined);
  }
}
