// Cuts text that may still be arriving into sentences, each as soon as its end is certain.
//
// The sentences are the same however the text was cut into tokens: every
// decision looks at a window of fixed size, or waits until that much is there
// (or the text has ended).
import { judgeLineBreak, LINE_BREAK } from './line-break.js';
import { cutLongSentence } from './long-sentence.js';
import { judgeStop, STOP_MARK } from './sentence-end.js';

/** A piece of text to be spoken in one go. */
export interface Sentence {
  /** Ready for a speech engine: one line, single spaces, well-formed, with at least one letter or digit. */
  readonly text: string;
  /** Where it stands in the whole text, in UTF-16 units; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
}

export interface SentenceStreamOptions {
  /** UTF-16 units of the longest sentence; longer ones are cut at the best place. Default 300. */
  readonly maxLength?: number;
}

const DEFAULT_MAX_LENGTH = 300;
const SHORTEST_LIMIT = 2; // units of one character: a surrogate pair
const WINDOW = 64; // units after a mark that a decision may look at
const CANDIDATE = new RegExp(`${STOP_MARK.source}|${LINE_BREAK.source}`, 'gu');

export class SentenceStream {
  readonly #maxLength: number;
  #buffer = ''; // what has not been given out yet
  #offset = 0; // of the buffer in the whole text
  #scanned = 0; // offset into the buffer: no sentence ends before it
  #lineStart = 0; // of the line that `#scanned` is on; negative when the line began before the buffer
  #ended = false;

  constructor({ maxLength = DEFAULT_MAX_LENGTH }: SentenceStreamOptions = {}) {
    if (!Number.isInteger(maxLength) || maxLength < SHORTEST_LIMIT) {
      throw new RangeError(
        `maxLength must be a whole number of at least ${SHORTEST_LIMIT}, not ${maxLength}`,
      );
    }
    this.#maxLength = maxLength;
  }

  /** Takes more text; returns the sentences that it completes. */
  push(token: string): Sentence[] {
    if (this.#ended) throw new TypeError('text after the end of a sentence stream');
    this.#buffer += token;
    return this.#take();
  }

  /** The text is complete; returns what is left of it. */
  end(): Sentence[] {
    this.#ended = true;
    return this.#take();
  }

  #take(): Sentence[] {
    const sentences: Sentence[] = [];
    for (;;) {
      this.#dropLeadingSpace();
      const end = this.#nextEnd();
      if (end === undefined) return sentences;
      const sentence = this.#give(end);
      if (sentence !== undefined) sentences.push(sentence);
    }
  }

  /** The text that decisions may look at: half of a surrogate pair waits for its other half. */
  #visible(): number {
    const length = this.#buffer.length;
    return !this.#ended && /[\uD800-\uDBFF]$/.test(this.#buffer) ? length - 1 : length;
  }

  /** Offset into the buffer at which the first sentence ends, once that is certain. */
  #nextEnd(): number | undefined {
    const visible = this.#visible();
    const limit = this.#maxLength;
    for (;;) {
      const at = this.#nextCandidate(Math.min(visible, limit));
      if (at === undefined) break;
      const end = this.#judge(at, visible);
      if (end === 'wait') return undefined;
      if (end !== 'none') {
        if (end > limit) break;
        return end;
      }
      this.#pass(at);
    }
    if (this.#ended && visible <= limit) return visible > 0 ? visible : undefined;
    if (!this.#ended && visible < limit + WINDOW) return undefined;
    return cutLongSentence(this.#buffer.slice(0, limit + WINDOW), limit);
  }

  #nextCandidate(before: number): number | undefined {
    CANDIDATE.lastIndex = this.#scanned;
    const match = CANDIDATE.exec(this.#buffer.slice(0, before));
    if (match !== null) return match.index;
    this.#scanned = Math.max(this.#scanned, before);
    return undefined;
  }

  #judge(at: number, visible: number): number | 'none' | 'wait' {
    const after = this.#buffer.slice(at, Math.min(visible, at + WINDOW));
    const complete = this.#ended || after.length === WINDOW;
    const verdict = LINE_BREAK.test(after[0] ?? '')
      ? judgeLineBreak(after, at - this.#lineStart, complete)
      : judgeStop({ before: this.#buffer.slice(0, at), after, complete });
    return typeof verdict === 'number' ? at + verdict : verdict;
  }

  /** The mark at this offset ends nothing. */
  #pass(at: number): void {
    const space = LINE_BREAK.test(this.#buffer[at] ?? '') ? leadingSpace(this.#buffer.slice(at)) : 0;
    this.#startLine(at, at + space);
    this.#scanned = at + Math.max(space, 1);
  }

  #give(end: number): Sentence | undefined {
    const source = this.#buffer.slice(0, end);
    const start = this.#offset;
    this.#advance(end);
    const text = speakable(source);
    if (!/[\p{L}\p{N}]/u.test(text)) return undefined;
    return { text, start, end: start + source.trimEnd().length };
  }

  /** Between sentences nothing is spoken, so the next one begins at its first visible character. */
  #dropLeadingSpace(): void {
    this.#advance(leadingSpace(this.#buffer));
  }

  /** Notes the last line break between the two offsets. */
  #startLine(from: number, to: number): void {
    for (let at = to - 1; at >= from; at--) {
      if (!LINE_BREAK.test(this.#buffer[at] ?? '')) continue;
      this.#lineStart = at + 1;
      return;
    }
  }

  #advance(units: number): void {
    if (units === 0) return;
    this.#startLine(0, units);
    this.#lineStart -= units;
    this.#buffer = this.#buffer.slice(units);
    this.#offset += units;
    this.#scanned = 0;
  }
}

function leadingSpace(text: string): number {
  return text.length - text.trimStart().length;
}

/** White space as single spaces; without control characters, invisible marks and broken surrogates. */
function speakable(source: string): string {
  return source
    .replace(/\p{Cs}/gu, '')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .replace(/[\u00AD\u200B\u2060\uFEFF]/gu, '')
    .trim();
}
