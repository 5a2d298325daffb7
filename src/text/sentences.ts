// Cuts text that may still be arriving into sentences, or clauses, each as soon as its end is certain.
//
// The sentences are the same however the text was cut into tokens: every
// decision looks at a window of fixed size, or waits until that much is there
// (or the text has ended).
import { CharacterSet } from './character-set.js';
import { CLAUSE_MARK, isClauseMarkAt, judgeClause } from './clause-end.js';
import { isLineBreakAt, judgeLineBreak, leadingSpace, LINE_BREAK } from './line-break.js';
import { cutLongSentence } from './long-sentence.js';
import { judgeStop, STOP_MARK } from './sentence-end.js';
import { shortFormsOf, type ShortForms } from './short-forms/short-forms.js';

/** A piece of text to be spoken in one go. */
export interface Sentence {
  /** Ready for a speech engine: one line, single spaces, well-formed, with at least one letter or digit. */
  readonly text: string;
  /** Where it stands in the whole text, in UTF-16 units; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
}

export interface SentenceStreamOptions {
  /** What is cut: sentences, or within them also the clauses that can sound by themselves. Default sentences. */
  readonly unit?: 'sentence' | 'clause';
  /** UTF-16 units of the longest sentence; longer ones are cut at the best place. Default 300. */
  readonly maxLength?: number;
  /** BCP 47 tag of all of the text, where it is known: then only its own short forms count. */
  readonly language?: string | undefined;
}

const DEFAULT_MAX_LENGTH = 300;
const SHORTEST_LIMIT = 2; // units of one character: a surrogate pair
const WINDOW = 64; // units after a mark that a decision may look at
const MOST_LEAD = 200; // units of a sentence's earlier pieces that its end may depend on
/** Where a piece may end. */
const CANDIDATES = {
  sentence: new CharacterSet(new RegExp(`${STOP_MARK.source}|${LINE_BREAK.source}`, 'u')),
  clause: new CharacterSet(new RegExp(`${STOP_MARK.source}|${LINE_BREAK.source}|${CLAUSE_MARK.source}`, 'u')),
};

/** Where the next piece ends. */
interface Cut {
  readonly at: number;
  /** The sentence goes on behind it. */
  readonly isWithin: boolean;
}

export class SentenceStream {
  readonly #maxLength: number;
  readonly #candidates: CharacterSet;
  readonly #forms: ShortForms;
  readonly #language: string | undefined;
  #lead = ''; // of the sentence that the buffer begins within: what was given out of it
  #buffer = ''; // what has not been given out yet
  #offset = 0; // of the buffer in the whole text
  #scanned = 0; // offset into the buffer: no sentence ends before it
  #lineStart = 0; // of the line that `#scanned` is on; negative when the line began before the buffer
  #ended = false;

  constructor({ maxLength = DEFAULT_MAX_LENGTH, unit = 'sentence', language }: SentenceStreamOptions = {}) {
    if (!Number.isInteger(maxLength) || maxLength < SHORTEST_LIMIT) {
      throw new RangeError(
        `maxLength must be a whole number of at least ${SHORTEST_LIMIT}, not ${maxLength}`,
      );
    }
    this.#maxLength = maxLength;
    this.#candidates = CANDIDATES[unit];
    this.#forms = shortFormsOf(language);
    this.#language = language;
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
      const cut = this.#nextCut();
      if (cut === undefined) return sentences;
      const sentence = this.#give(cut);
      if (sentence !== undefined) sentences.push(sentence);
    }
  }

  /** The text that decisions may look at: half of a surrogate pair waits for its other half. */
  #visible(): number {
    const length = this.#buffer.length;
    const last = this.#buffer.charCodeAt(length - 1);
    return !this.#ended && last >= 0xd800 && last <= 0xdbff ? length - 1 : length;
  }

  /** Where in the buffer the first piece ends, once that is certain. */
  #nextCut(): Cut | undefined {
    const visible = this.#visible();
    const limit = this.#maxLength;
    for (;;) {
      const at = this.#nextCandidate(Math.min(visible, limit));
      if (at === undefined) break;
      const verdict = this.#judge(at, visible);
      if (verdict === 'wait') return undefined;
      if (verdict !== 'none') {
        if (verdict.at > limit) break;
        return verdict;
      }
      this.#pass(at);
    }
    if (this.#ended && visible <= limit) return visible > 0 ? { at: visible, isWithin: false } : undefined;
    if (!this.#ended && visible < limit + WINDOW) return undefined;
    return {
      at: cutLongSentence(this.#buffer.slice(0, limit + WINDOW), limit, this.#language),
      isWithin: true,
    };
  }

  #nextCandidate(before: number): number | undefined {
    const buffer = this.#buffer;
    for (let at = this.#scanned; at < before; at++) {
      if (this.#candidates.at(buffer, at)) return at;
    }
    this.#scanned = Math.max(this.#scanned, before);
    return undefined;
  }

  #judge(at: number, visible: number): Cut | 'none' | 'wait' {
    const after = this.#buffer.slice(at, Math.min(visible, at + WINDOW));
    const complete = this.#ended || after.length === WINDOW;
    const before = this.#buffer.slice(0, at);
    const isWithin = isClauseMarkAt(after, 0);
    const verdict = isLineBreakAt(after, 0)
      ? judgeLineBreak(after, at - this.#lineStart, complete)
      : isWithin
        ? judgeClause({ before, after, complete })
        : judgeStop({ before: this.#lead + before, after, complete, forms: this.#forms });
    return typeof verdict === 'number' ? { at: at + verdict, isWithin } : verdict;
  }

  /** The mark at this offset ends nothing. */
  #pass(at: number): void {
    const space = isLineBreakAt(this.#buffer, at) ? leadingSpace(this.#buffer, at) : 0;
    this.#startLine(at, at + space);
    this.#scanned = at + Math.max(space, 1);
  }

  #give({ at: end, isWithin }: Cut): Sentence | undefined {
    const source = this.#buffer.slice(0, end);
    const start = this.#offset;
    this.#lead = isWithin ? shortened(`${this.#lead}${source} `) : '';
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
      if (!isLineBreakAt(this.#buffer, at)) continue;
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

/** The beginning and the end of what was given out of a sentence. */
function shortened(lead: string): string {
  return lead.length <= MOST_LEAD ? lead : lead.slice(0, MOST_LEAD / 2) + lead.slice(-MOST_LEAD / 2);
}

// Halves of surrogate pairs, private and unassigned characters, direction marks, invisible marks and operators,
// tags; joiners stay where they make something visible: in emoji and in scripts that join their letters.
const UNSPOKEN =
  /[\p{Cs}\p{Co}\p{Cn}\u00AD\u061C\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]|(?<![\p{Emoji}\p{M}\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}])[\u200C\u200D]/gu;
const SPACES = /[\p{Cc}\s]+/gu;
/** Characters that are neither unspoken nor white space, but for the space itself: nearly all are such. */
const PLAIN = new CharacterSet(
  /[ -~\u00A1-\u00AC\u00AE-\u02FF\u0400-\u052F\u2010-\u2027\u2030-\u205E\u20A0-\u20BF\u2100-\u218B\u2190-\u23FF\u3001-\u303F\u3041-\u3096\u30A0-\u30FF\u4E00-\u9FFF\uAC00-\uD7A3\uFF01-\uFF60]/,
);

/** Nothing has to be taken out, nor spaces be joined. */
function isSpeakable(source: string): boolean {
  for (let at = 0; at < source.length; at++) {
    if (!PLAIN.at(source, at) || (source[at] === ' ' && source[at + 1] === ' ')) return false;
  }
  return true;
}

/** White space and control characters as single spaces; without what nobody says. */
function speakable(source: string): string {
  if (isSpeakable(source)) return source.trim();
  return source.replace(UNSPOKEN, '').replace(SPACES, ' ').trim();
}
