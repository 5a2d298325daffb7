// Cuts text that may still be arriving into sentences or clauses, each as soon as its end is certain.
// The result does not depend on how the text was split into tokens: every decision looks at a window of
// fixed size, or waits until the window is filled or the text has ended.
// Stop marks are judged in sentence-end.ts, clause marks and line breaks here.
import { CharacterSet } from './character-set.js';
import { cutLongSentence } from './long-sentence.js';
import { judgeStop, PARAGRAPH, STOP_MARK } from './sentence-end.js';
import { type ShortForms, shortFormsOf } from './short-forms.js';

/** A piece of text to be spoken in one go. */
export interface Sentence {
  /** Ready for a speech engine: one line, single spaces, well-formed, with at least one letter or digit. */
  readonly text: string;
  /** Position in the whole text, in UTF-16 units. `end` is exclusive. */
  readonly start: number;
  readonly end: number;
}

export interface SentenceStreamOptions {
  /** The unit of a cut. A clause is long enough to sound complete by itself. Default sentence. */
  readonly unit?: 'sentence' | 'clause';
  /** UTF-16 units of the longest sentence; longer ones are cut at the best place. Default 300. */
  readonly maxLength?: number;
  /** BCP 47 tag of all of the text, where it is known: then only its own short forms count. */
  readonly language?: string | undefined;
}

const LINE_BREAK = /[\n\r\u0085\u2028\u2029]/;
const CLAUSE_MARK = /[,;:—–、，；：]/u;
const DEFAULT_MAX_LENGTH = 300;
const SHORTEST_LIMIT = 2; // units of one character: a surrogate pair
const WINDOW = 64; // units after a mark that a decision may look at
const MOST_LEAD = 200; // units of a sentence's earlier pieces that its end may depend on
/** Characters at which a piece can end. */
const CANDIDATES = {
  sentence: new CharacterSet(new RegExp(`${STOP_MARK.source}|${LINE_BREAK.source}`, 'u')),
  clause: new CharacterSet(new RegExp(`${STOP_MARK.source}|${LINE_BREAK.source}|${CLAUSE_MARK.source}`, 'u')),
};

/** The end of the next piece. */
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
  #lead = ''; // the part already returned of the sentence in which the buffer begins
  #buffer = ''; // text that was not returned yet
  #offset = 0; // offset of the buffer in the whole text
  #scanned = 0; // offset into the buffer: no sentence ends before it
  #lineStart = 0; // start of the line that `#scanned` is on; negative if the line began before the buffer
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

  /** The end of the first piece in the buffer, or undefined until it is certain. */
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

// Halves of surrogate pairs, private and unassigned characters, direction marks, invisible marks and
// operators, tags; joiners stay where they make something visible: in emoji and in scripts that join their
// letters.
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

/** Makes white space and control characters single spaces, and drops invisible characters. */
function speakable(source: string): string {
  if (isSpeakable(source)) return source.trim();
  return source.replace(UNSPOKEN, '').replace(SPACES, ' ').trim();
}

/** Text around a mark. `complete` says that nothing after the window matters. */
interface ClauseWindow {
  /** The clause so far, up to the mark. */
  readonly before: string;
  /** From the mark on. */
  readonly after: string;
  readonly complete: boolean;
}

/**
 * Units of `after` that belong to the ended clause; 'none' if it does not end; 'wait' if more text is needed.
 */
type ClauseVerdict = number | 'none' | 'wait';

const CLAUSE_MARKS = new CharacterSet(CLAUSE_MARK);

function isClauseMarkAt(text: string, at: number): boolean {
  return CLAUSE_MARKS.at(text, at);
}

const SHORTEST = 16; // units of a clause; what is shorter goes with its neighbour
const SHORTEST_AT_COMMA = 24; // before a comma, which may also part the members of a list
const SHORTEST_DENSE = 6; // the same in Chinese and Japanese
// The same in Korean, also before a comma that an ending of its verbs shows to part clauses.
const SHORTEST_HANGUL = 8;
const LOOK_BACK = 120; // units in which an open bracket is looked for

const MARKS = /^[,;:—–、，；：]["'”’»)\]」』）】*_]*(?:(?<=^,["'”’»)]*)\s[—–](?=\s))?/u; // и могу ошибаться, — что
const DENSE_MARK = /^[、，；：]/u;
const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/u;
const HANGUL_END = /\p{Script=Hangul}$/u;
const KOREAN_CLAUSE = /[면며고만데니서자여야도은는에로나요다]$/u;
const DAY_AND_HOUR = /^(?:午前|午後|上午|下午|早上|晚上|오전|오후|朝|夜)/u; // 2024年1月15日、午前10時
const IDEOGRAPH = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
// Not of Dr. Lee.
const SENTENCE_END = /[!?…。！？｡\n]|(?<!\p{N}|(?<!\p{L})(?:Dr|Mr|Mrs|Ms|St|Prof|Dra|Sra?|\p{Lu}))\.\s/u;
// "Smith, Jr." · "Acme, Inc." · "Jones, M.D."
const NAME_TAIL = /^(?:[JS]r|Inc|Ltd|LLC|Esq|M\.?D|Ph\.?D|MBA|CPA)\b/;

function judgeClause({ before, after, complete }: ClauseWindow): ClauseVerdict {
  const hangul = HANGUL_END.test(before);
  const dense = DENSE_MARK.test(after) || IDEOGRAPH.test(before.slice(-SHORTEST_DENSE));
  const shortest = dense ? SHORTEST_DENSE : hangul ? SHORTEST_HANGUL : SHORTEST;
  const clear = hangul && KOREAN_CLAUSE.test(before);
  const least = after.startsWith(',') && !clear ? SHORTEST_AT_COMMA : shortest;
  if (before.length < least || isOpen(before)) return 'none';
  const marks = MARKS.exec(after)?.[0] ?? '';
  const rest = after.slice(marks.length);
  if (rest === '') return complete ? 'none' : 'wait';
  if (!isParted(before, marks, rest)) return 'none';
  const next = rest.trimStart();
  const head = next.slice(0, shortest);
  if (SENTENCE_END.test(head)) return 'none';
  if (next.length < shortest) return complete ? 'none' : 'wait';
  if (/\p{N}$/u.test(before) && /^\p{N}/u.test(next)) return 'none'; // January 15, 2024
  if (/[日일)）]$/u.test(before) && DAY_AND_HOUR.test(next)) return 'none';
  if (marks.startsWith('、') && isMember(before, head)) return 'none';
  return NAME_TAIL.test(next) ? 'none' : marks.length;
}

/** In Chinese 、 parts the members of a list only, in Japanese those that are short. */
function isMember(before: string, head: string): boolean {
  const member = before.slice(before.lastIndexOf('、') + 1);
  return member.length < SHORTEST_DENSE || !KANA.test(before + head);
}

/** A mark of dense writing parts by itself, a long dash nearly always, the others where space follows. */
function isParted(before: string, marks: string, rest: string): boolean {
  if (DENSE_MARK.test(marks)) return !/^[\p{Pe}\p{Pf}\p{N}]/u.test(rest);
  if (marks.startsWith('—')) return !/^\p{P}/u.test(rest);
  if (!/^\s/u.test(rest)) return false;
  return !marks.startsWith('–') || /\s$/u.test(before);
}

/** Within brackets, a link, a tag or code nothing ends. */
function isOpen(before: string): boolean {
  const near = before.slice(-LOOK_BACK);
  for (const [opening, closing] of [
    ['(', ')'],
    ['[', ']'],
    ['<', '>'],
    ['（', '）'],
  ] as const) {
    if (near.lastIndexOf(opening) > near.lastIndexOf(closing)) return true;
  }
  return near.split('`').length % 2 === 0;
}

/**
 * Units of white space that belong to the ended sentence; 'none' if it does not end; 'wait' if more text is
 * needed.
 */
type BreakVerdict = number | 'none' | 'wait';

const BREAKS = new CharacterSet(LINE_BREAK);
const WHITE = new CharacterSet(/[\s\u0085]/u);

/**
 * Units of white space as a text may begin with it; the next-line character is white space to Unicode, not to
 * JavaScript.
 */
function leadingSpace(text: string, from = 0): number {
  let end = from;
  while (WHITE.at(text, end)) end++;
  return end - from;
}

function isLineBreakAt(text: string, at: number): boolean {
  return BREAKS.at(text, at);
}

const LIST_MARKER = /^(?:[-*+•‣◦·▪–—]|\(?\p{N}{1,3}[.)]|\(?(?:\p{Script=Latin}|[ivx]{2,4})[.)])\s/u;
const MARKER_LENGTH = 7; // units of the longest list marker with the space after it
const WRAPPED_LENGTH = 50; // units; a shorter line was ended on purpose, since wrapped text is wider

/**
 * `after` begins with the line break, `lineLength` is what stood on the line before it. `complete` says that
 * nothing behind `after` matters.
 */
function judgeLineBreak(after: string, lineLength: number, complete: boolean): BreakVerdict {
  const space = after.slice(0, leadingSpace(after));
  const rest = after.slice(space.length);
  if (PARAGRAPH.test(space)) return space.length;
  if (complete && rest === '') return space.length;
  if (!complete && rest.length < MARKER_LENGTH) return 'wait';
  if (LIST_MARKER.test(rest)) return space.length;
  if (/^\p{Ll}/u.test(rest)) return 'none';
  return lineLength < WRAPPED_LENGTH ? space.length : 'none';
}
