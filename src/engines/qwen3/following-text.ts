// The text that follows a request's own, on its way into a stream that speaks
// already.
import { asParleyError, type ParleyError } from '../../errors.js';

/** The part of a native stream that takes text. */
export interface TextTaker {
  addText(text: string, last: boolean): void;
  cancel(): void;
}

export class FollowingText {
  /** What its source threw: the stream was cancelled for it. */
  failure: ParleyError | undefined;
  readonly #source: AsyncIterator<string>;
  readonly #stream: TextTaker;
  readonly #onEnd: () => void;
  #state: 'open' | 'ended' = 'open';

  /** `onEnd` is called once, when the stream has all of it. */
  constructor(source: AsyncIterable<string>, stream: TextTaker, onEnd: () => void) {
    this.#source = source[Symbol.asyncIterator]();
    this.#stream = stream;
    this.#onEnd = onEnd;
    void this.#handOver();
  }

  /** More may come: a stream that makes no sound may only wait for it. */
  get open(): boolean {
    return this.#state === 'open';
  }

  /** The stream is over: nothing more is asked for. Idempotent. */
  stop(): void {
    if (!this.open) return;
    this.#state = 'ended';
    this.#source.return?.().then(undefined, () => undefined);
  }

  async #handOver(): Promise<void> {
    try {
      for (;;) {
        const next = await this.#source.next();
        if (!this.open) return;
        if (next.done === true) break;
        this.#stream.addText(next.value, false);
      }
      this.#state = 'ended';
      this.#stream.addText('', true);
      this.#onEnd();
    } catch (error) {
      if (!this.open) return;
      this.#state = 'ended';
      this.failure = asParleyError(error, 'ENGINE_FAILED');
      this.#stream.cancel();
    }
  }
}
