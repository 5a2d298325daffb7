// One text on its way through the speaker: tokens go in while its sentences come
// out. It may be begun before the run ahead of it has been heard, so that
// nobody waits between the two.
import type { SpeechSettings } from '../../speaking/speech-request.js';
import type { SentenceSpeaker, SpokenSentenceSound } from '../../speaking/spoken-sentences.js';
import { ParleyError } from '../../errors.js';

export class TextRun {
  /** Its text was flushed: it is spoken to its end even where its context is closed. */
  flushed = false;
  /** UTF-16 units of its text. */
  length = 0;
  readonly #speaker: SentenceSpeaker;
  readonly #settings: SpeechSettings;
  readonly #controller = new AbortController();
  readonly #tokens: string[] = [];
  #waiting = 0;
  #ended = false;
  #exhausted = false;
  #wake: (() => void) | undefined;
  #sentences: AsyncIterator<SpokenSentenceSound> | undefined;
  /** Asked for before anybody wanted it. */
  #ahead: Promise<SpokenSentenceSound | undefined> | undefined;

  constructor(speaker: SentenceSpeaker, settings: SpeechSettings) {
    this.#speaker = speaker;
    this.#settings = settings;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** The speaker knows that no text follows: what it gives out next is the last sentence, or nearly. */
  get exhausted(): boolean {
    return this.#exhausted;
  }

  /** Units that the speaker has not asked for yet. */
  get waiting(): number {
    return this.#waiting;
  }

  push(text: string): void {
    this.length += text.length;
    this.#waiting += text.length;
    this.#tokens.push(text);
    this.#wake?.();
  }

  /** Tells the speaker that more text may come. */
  keepAlive(): void {
    if (this.#tokens.length === 0) this.push('');
  }

  /** No text follows. */
  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /** Has the first sentence made, with `leadMs` of silence before it; idempotent. */
  start(leadMs: number): void {
    if (this.#sentences !== undefined) return;
    const settings = leadMs > 0 ? { ...this.#settings, leadMs } : this.#settings;
    const sentences = this.#speaker.speak(this.#text(), settings, this.#controller.signal);
    this.#sentences = sentences[Symbol.asyncIterator]();
    this.#ahead = this.next();
  }

  /** The next sentence, once its sound has begun; undefined after the last. The one before it is let go. */
  next(): Promise<SpokenSentenceSound | undefined> {
    if (this.#sentences === undefined) throw new TypeError('the run has not been started');
    if (this.#ahead !== undefined) {
      const ahead = this.#ahead;
      this.#ahead = undefined;
      return ahead;
    }
    const next = this.#sentences.next().then(
      (result) => (result.done === true ? undefined : result.value),
      (error: unknown) => {
        // Marks and emoji alone are nothing to speak, and nothing to complain about.
        if (error instanceof ParleyError && error.code === 'TEXT_EMPTY') return undefined;
        throw error;
      },
    );
    next.catch(() => undefined); // whoever asked early may never look
    return next;
  }

  /** Gives it up; idempotent. */
  stop(): void {
    this.#tokens.length = 0;
    this.#waiting = 0;
    this.end();
    this.#controller.abort();
    void this.#sentences?.return?.().then(undefined, () => undefined);
  }

  async *#text(): AsyncGenerator<string, void, undefined> {
    for (;;) {
      const token = this.#tokens.shift();
      if (token !== undefined) {
        this.#waiting -= token.length;
        yield token;
      } else if (this.#ended) {
        break;
      } else {
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    }
    this.#exhausted = true;
  }
}

const SENTENCE_END = /[.!?…。！？｡]["'”’»)\]}」』）】]*(?:\s+|(?<=[。！？｡])|$)/gu;

/**
 * Where a text is best cut so that at most `room` units of it stay together: after a sentence, else after a word,
 * else 0, unless `must`.
 */
export function cutPlace(text: string, room: number, must: boolean): number {
  const head = text.slice(0, room);
  const sentence = lastEnd(head, SENTENCE_END);
  if (sentence > 0) return sentence;
  const word = lastEnd(head, /\s+/gu);
  if (word > 0 || !must) return word;
  return /[\uD800-\uDBFF]$/.test(head) && room > 1 ? room - 1 : room;
}

/** Where a text that is long already may end; 0 where no sentence of it does. */
export function sentenceCut(text: string): number {
  return lastEnd(text, SENTENCE_END);
}

function lastEnd(text: string, pattern: RegExp): number {
  let end = 0;
  for (const match of text.matchAll(pattern)) end = match.index + match[0].length;
  return end;
}
