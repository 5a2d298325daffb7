// Finds that a turn of the caller has probably ended, before that is decided: the caller is silent, and the
// text so far has not changed, for a set time. A recogniser without texts so far tells one at the pause. That
// text is of all that was said, so that only the silence counts.
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
  #silentSinceMs = 0;
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
    this.#silentSinceMs = this.#time.now();
    this.#wait();
  }

  /** The text so far of the turn that is not over. */
  partial(text: string, language: string | undefined): void {
    const trimmed = text.trim();
    if (trimmed === this.#said?.text) return;
    const isFirst = this.#said === undefined;
    this.#said = { text: trimmed, language };
    this.#unlikely();
    const silentMs = isFirst ? this.#time.now() - this.#silentSinceMs : 0;
    if (this.#isSilent) this.#wait(this.#silenceMs - silentMs);
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

  #wait(ms = this.#silenceMs): void {
    this.#cancel();
    const said = this.#said;
    if (said === undefined || said.text === '') return;
    const likely = () => {
      this.#isLikely = true;
      this.#onChange(said);
    };
    if (ms <= 0) likely();
    else this.#cancel = this.#time.after(ms, likely);
  }

  #unlikely(): void {
    this.#cancel();
    if (!this.#isLikely) return;
    this.#isLikely = false;
    this.#onChange(undefined);
  }
}
