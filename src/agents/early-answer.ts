// An answer of the model to a turn that has probably ended. It is read into a buffer, and nothing else is
// done with it, until the turn is decided: then a reply takes it over, or it is thrown away.
import type { Time } from '../time.js';
import type { AnswerPart, ChatMessage, ChatModel, ChatTool } from './chat-model.js';

interface EarlyAnswerParts {
  readonly model: Pick<ChatModel, 'answer'>;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ChatTool[];
  readonly time: Time;
  /** Called once: true if a reply has taken the answer over. */
  readonly onEnd: (isTaken: boolean) => void;
}

const MOST_TEXT = 2000; // characters in the buffer; more are read once the answer is taken over
const MOST_MS = 10_000; // without a decision about the turn

export class EarlyAnswer {
  readonly #parts: EarlyAnswerParts;
  readonly #asked: string;
  readonly #end = new AbortController();
  readonly #source: AsyncIterator<AnswerPart, void>;
  readonly #cancelLimit: () => void;
  #buffer: AnswerPart[] = [];
  #length = 0;
  /** The read that is under way, or has failed or ended. */
  #next: Promise<IteratorResult<AnswerPart, void>>;
  #hasFailed = false;
  #isOver = false;

  constructor(parts: EarlyAnswerParts) {
    const { model, messages, tools, time } = parts;
    this.#parts = parts;
    this.#asked = JSON.stringify(messages);
    this.#source = model.answer({ messages, tools, signal: this.#end.signal })[Symbol.asyncIterator]();
    this.#next = this.#source.next();
    this.#cancelLimit = time.after(MOST_MS, () => this.throwAway());
    void this.#fill();
  }

  /**
   * The answer from its beginning, if the model was asked exactly this and has not failed; otherwise it is
   * thrown away. It ends with the signal.
   */
  take(messages: readonly ChatMessage[], signal: AbortSignal): AsyncIterable<AnswerPart> | undefined {
    if (this.#isOver || this.#hasFailed || signal.aborted || JSON.stringify(messages) !== this.#asked) {
      this.throwAway();
      return undefined;
    }
    this.#settle(true);
    signal.addEventListener('abort', () => this.#end.abort(), { once: true });
    return this.#rest();
  }

  /** Idempotent; without effect once the answer is taken over. */
  throwAway(): void {
    if (this.#isOver) return;
    this.#settle(false);
    this.#buffer = [];
    this.#end.abort();
    void this.#source.return?.().catch(() => undefined);
  }

  #settle(isTaken: boolean): void {
    this.#isOver = true;
    this.#cancelLimit();
    this.#parts.onEnd(isTaken);
  }

  async #fill(): Promise<void> {
    try {
      while (this.#length < MOST_TEXT) {
        const next = await this.#next;
        if (this.#isOver || next.done === true) return;
        if ('isThought' in next.value) [this.#buffer, this.#length] = [[], 0];
        else this.#buffer.push(next.value);
        this.#length += 'text' in next.value ? next.value.text.length : 0;
        this.#next = this.#source.next();
      }
      this.#next.catch(() => undefined); // it is thrown when the reply reads it
    } catch {
      this.#hasFailed = true;
    }
  }

  async *#rest(): AsyncGenerator<AnswerPart, void, undefined> {
    try {
      yield* this.#buffer;
      for (let next = await this.#next; next.done !== true; next = await this.#source.next())
        yield next.value;
    } finally {
      void this.#source.return?.().catch(() => undefined);
    }
  }
}
