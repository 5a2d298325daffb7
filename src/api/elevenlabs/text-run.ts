// One text on its way through the speaker: tokens go in while its sentences come out. It may begin before the
// run ahead of it has been sent, so that there is no gap between the two. A schedule decides when the text of
// messages goes in.
import { ParleyError } from '../../errors.js';
import type { SpeechSettings } from '../../speaking/speech-request.js';
import type { SentenceSpeaker, SpokenSentenceSound } from '../../speaking/spoken-sentences.js';

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
  /** The next sentence, requested in advance. */
  #ahead: Promise<SpokenSentenceSound | undefined> | undefined;

  constructor(speaker: SentenceSpeaker, settings: SpeechSettings) {
    this.#speaker = speaker;
    this.#settings = settings;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** True if the speaker knows that no text follows: its next sentence is the last, or nearly. */
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
    next.catch(() => undefined); // a caller that asks early may never await it
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
 * Returns where to cut a text so that at most `room` units stay together: after a sentence, else after a
 * word, else 0. With `must` it cuts inside a word instead of returning 0.
 */
export function cutPlace(text: string, room: number, must: boolean): number {
  const head = text.slice(0, room);
  const sentence = lastEnd(head, SENTENCE_END);
  if (sentence > 0) return sentence;
  const word = lastEnd(head, /\s+/gu);
  if (word > 0 || !must) return word;
  return /[\uD800-\uDBFF]$/.test(head) && room > 1 ? room - 1 : room;
}

/** Returns the end of the last sentence of a text that is already long; 0 if no sentence ends in it. */
export function sentenceCut(text: string): number {
  return lastEnd(text, SENTENCE_END);
}

function lastEnd(text: string, pattern: RegExp): number {
  let end = 0;
  for (const match of text.matchAll(pattern)) end = match.index + match[0].length;
  return end;
}

// ElevenLabs' schedule of chunk lengths: how much text must be there before it is spoken. The first length
// holds for the first release, the last one for all that follow; a flush begins anew. Text goes out up to the
// end of a word, since the rest of the word may be in the next message.

const DEFAULT_SCHEDULE: readonly number[] = [120, 160, 250, 290];

export interface TextScheduleOptions {
  /** Characters; not empty. */
  readonly schedule?: readonly number[] | undefined;
  /** Every text goes out as it comes. */
  readonly autoMode: boolean;
  /** Tags of markup are left out. */
  readonly markup: boolean;
}

interface Released {
  /** Empty: nothing is due. */
  readonly text: string;
  /** True if the text so far is a whole sentence, whatever follows. */
  readonly complete: boolean;
}

const TAG = /<[^<>]{0,300}>/g;
const LONGEST_TAG = 300; // units; longer text in angle brackets is no tag
const STOP = /[.!?…]["'”’»)\]}]*$/u;
const UNSPACED_STOP = /[。！？｡]["'”’»)\]}」』）】]*$/u;
const LONGEST_STOP = 8; // units of a mark and what closes after it

export class TextSchedule {
  readonly #options: TextScheduleOptions;
  readonly #lengths: readonly number[];
  #buffer = '';
  /** True if no space is needed after the text released last. */
  #spaced = true;
  #releases = 0;

  constructor(options: TextScheduleOptions) {
    this.#options = options;
    this.#lengths = options.schedule ?? DEFAULT_SCHEDULE;
  }

  /** Characters that wait. */
  get waiting(): number {
    return this.#buffer.length;
  }

  /** Takes more text; `now` asks for it to go out whatever the schedule says. */
  push(text: string, now: boolean): Released {
    // Clients open with a space and keep a socket open with more of them.
    if (this.#spaced && this.#buffer === '') this.#buffer = text.trimStart();
    else if (text.trim() !== '' || this.#buffer.trim() !== '' || this.#buffer === '') this.#buffer += text;
    if (this.#options.markup) this.#buffer = this.#buffer.replace(TAG, ' ');
    const { autoMode } = this.#options;
    const due = autoMode || now || this.#buffer.length >= this.#length;
    if (!due || this.#buffer.trim() === '') return { text: '', complete: false };
    const complete = autoMode && isSentence(text);
    this.#releases++;
    return { text: this.#take(autoMode ? this.#beforeTag() : this.#wordEnd()), complete };
  }

  /** Everything that waits. */
  flush(): string {
    this.#releases = 0;
    const text = this.#take(this.#buffer.length);
    this.#spaced = true;
    return text.trim() === '' ? '' : text;
  }

  get #length(): number {
    const last = this.#lengths.length - 1;
    return this.#lengths[Math.min(this.#releases, last)] ?? 0;
  }

  #take(units: number): string {
    const text = this.#buffer.slice(0, units);
    this.#buffer = this.#buffer.slice(units);
    this.#spaced = /\s$/u.test(text);
    return text;
  }

  /** A writing system without spaces has no word that could be cut. */
  #wordEnd(): number {
    const end = this.#beforeTag();
    for (let at = end; at > 0; at--) if (/\s/u.test(this.#buffer[at - 1] ?? '')) return at;
    return end;
  }

  /** A tag of which only the beginning is there waits for its end. */
  #beforeTag(): number {
    const { length } = this.#buffer;
    if (!this.#options.markup) return length;
    const open = this.#buffer.lastIndexOf('<');
    return open >= 0 && length - open <= LONGEST_TAG ? open : length;
  }
}

/** One word with a stop may be an abbreviation, or a token of something longer. */
function isSentence(message: string): boolean {
  const text = message.trim();
  const end = text.slice(-LONGEST_STOP);
  return UNSPACED_STOP.test(end) || (STOP.test(end) && /\s/u.test(text));
}
