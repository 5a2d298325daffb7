// Tells a page more of what is said, if it asks for it: what the caller says, while it is said, and when the
// voice begins each word.
//
//   caller: texts of the recogniser, turn by turn ──▶ caller.text
//   voice:  sentence.started ──▶ sentence.words
import type { Call } from '../src/call/call.js';
import type { CallerListener, CallerText } from '../src/call/caller-texts.js';
import type { CallEvent } from '../src/call/call-events.js';
import type { WordTime } from '../src/engines/engine.js';
import type { ParleyError } from '../src/errors.js';
import type { Time } from '../src/time.js';

/** The captions that a page asked for. */
export interface CaptionChoice {
  readonly caller: boolean;
  readonly words: boolean;
}

interface CallerTextMessage {
  readonly type: 'caller.text';
  /** Number of the turn of the caller. A later text with the same number replaces this one. */
  readonly number: number;
  /** Empty: what was told of the turn is taken back. */
  readonly text: string;
  readonly isFinal: boolean;
  /** BCP 47 tag; absent if it is not known. */
  readonly language?: string;
}

interface SentenceWord {
  /** Place of the word in the text of the sentence, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** Milliseconds from the first packet of the sentence. */
  readonly startMs: number;
  /** End of its sound; absent if the engine does not tell it. */
  readonly endMs?: number;
}

interface SentenceWordsMessage {
  readonly type: 'sentence.words';
  readonly utterance: number;
  readonly sentence: number;
  readonly words: readonly SentenceWord[];
}

export type CaptionMessage =
  /** The page is told these from now on. */
  ({ readonly type: 'captions' } & CaptionChoice) | CallerTextMessage | SentenceWordsMessage;

interface PageCaptionsParts {
  readonly wordTimes: Call['wordTimes'];
  /** Follows the caller; absent: no caller is recognised. */
  readonly followCaller?: ((listener: CallerListener) => () => void) | undefined;
  readonly send: (message: CaptionMessage) => void;
  /** Sends it now or never. */
  readonly sendNow: (message: CaptionMessage) => void;
  readonly failed: (error: ParleyError) => void;
  readonly time: Time;
}

type SentenceStarted = Extract<CallEvent, { readonly type: 'sentence.started' }>;

/** The times of a sentence may come a little after its first packet. The pause between two looks doubles. */
const FIRST_LOOK_MS = 20;
const LAST_LOOK_MS = 1280;
const OVER: ReadonlySet<CallEvent['type']> = new Set([
  'sentence.spoken',
  'utterance.spoken',
  'utterance.interrupted',
  'utterance.failed',
]);

export class PageCaptions {
  readonly #parts: PageCaptionsParts;
  #words = false;
  /** Utterance of the sentence whose times are looked for. */
  #awaited: number | undefined;
  #cancelLook: () => void = () => undefined;
  /** Undefined while the caller is not followed. */
  #stopCaller: (() => void) | undefined;
  /** The caller's texts that were told and may change. */
  readonly #shown = new Set<number>();

  constructor(parts: PageCaptionsParts) {
    this.#parts = parts;
  }

  /** Tells what was chosen from now on, and says what that is. A caller who is not recognised is left out. */
  choose({ caller, words }: CaptionChoice): void {
    this.#words = words;
    if (!words) this.#forget();
    if (caller) this.#follow();
    else this.#leave();
    this.#parts.send({ type: 'captions', caller: this.#stopCaller !== undefined, words });
  }

  /** Call it when the page was sent the event. */
  observe(event: CallEvent): void {
    if (!this.#words) return;
    if (event.type === 'sentence.started') {
      this.#forget();
      this.#look(event, FIRST_LOOK_MS);
    } else if ('utterance' in event && event.utterance === this.#awaited && OVER.has(event.type)) {
      this.#forget();
    }
  }

  /** Idempotent. */
  close(): void {
    this.#words = false;
    this.#forget();
    this.#leave();
  }

  #look(started: SentenceStarted, nextMs: number): void {
    const { utterance, sentence } = started;
    const { wordTimes, send, time } = this.#parts;
    const times = wordTimes(utterance, sentence);
    this.#awaited = undefined;
    if (times.length > 0)
      return send({ type: 'sentence.words', utterance, sentence, words: times.map(wordOf) });
    if (nextMs > LAST_LOOK_MS) return undefined;
    this.#awaited = utterance;
    this.#cancelLook = time.after(nextMs, () => this.#look(started, 2 * nextMs));
    return undefined;
  }

  #forget(): void {
    this.#cancelLook();
    this.#awaited = undefined;
  }

  #follow(): void {
    const { followCaller, failed } = this.#parts;
    this.#stopCaller ??= followCaller?.({ text: (text) => this.#heard(text), failed });
  }

  #leave(): void {
    this.#stopCaller?.();
    this.#stopCaller = undefined;
    this.#shown.clear();
  }

  /** A text that may still change is told again, so that a page that misses it misses nothing. */
  #heard({ number, text, isFinal, language }: CallerText): void {
    const isShown = this.#shown.has(number);
    if (isFinal) this.#shown.delete(number);
    else if (text !== '') this.#shown.add(number);
    if (text === '' && !isShown) return; // a noise
    const spoken = language === undefined ? {} : { language };
    const message: CaptionMessage = { type: 'caller.text', number, text, isFinal, ...spoken };
    if (isFinal) this.#parts.send(message);
    else this.#parts.sendNow(message);
  }
}

function wordOf({ word, textOffset: start, startMs, endMs }: WordTime): SentenceWord {
  const ended = endMs === undefined ? {} : { endMs: Math.round(endMs) };
  return { start, end: start + word.length, startMs: Math.round(startMs), ...ended };
}
