// Cuts text that may still be arriving into sentences or clauses, each as soon as its end is certain.
// The text is decoded first (decode.ts): every decision looks at the characters that are meant, and sentences
// are returned as they were written.
// The result does not depend on how the text was split into tokens: every decision looks at a window of
// fixed size, or waits until the window is filled or the text has ended.
// Stop marks are judged in sentence-end.ts, clause marks in clause-end.ts, line breaks here.
// A block of code between two fences of Markdown is in no sentence: nobody understands code that is read to
// them. A short block that is never closed is read: the fence may be a slip. A long one is passed over.
//
// With `mayBegin` the first piece may be a part of its sentence, so that speech can begin sooner. The whole
// sentence is preferred if it has arrived already, so that piece alone depends on when the text arrives.
import { CharacterSet } from './character-set.js';
import { CLAUSE_MARK, isClauseMarkAt, isQuoted, judgeClause } from './clause-end.js';
import { DecodedStream } from './decode.js';
import { hasWords, isTagMarkAt, judgeTag, TAG_MARK } from './html-tags.js';
import {
  BULLET_MARK,
  endsBeforeBullet,
  isBulletAt,
  isItemBracketAt,
  ITEM_BRACKET,
  nextItemLength,
} from './list-items.js';
import { cutLongSentence, cutPhrase, isFreeCut } from './long-sentence.js';
import { judgeStop, PARAGRAPH, STOP_MARK, type StopVerdict } from './sentence-end.js';
import { type ShortForms, shortFormsOf } from './short-forms.js';
import type { TableLayer } from './tables/layer.js';

/** A piece of text to be spoken in one go. */
export interface Sentence {
  /** Ready for a speech engine: one line, single spaces, well-formed, with at least one letter or digit. */
  readonly text: string;
  /** Position in the whole text, in UTF-16 units. `end` is exclusive. */
  readonly start: number;
  readonly end: number;
  /** True if it is the rest of a sentence whose first clause was the piece before it. */
  readonly continues?: true;
  /** Only then: that clause, with the space between the two. */
  readonly beginning?: string;
}

/** True if speech may begin with this clause. `ahead` is text behind it that has arrived. */
export type MayBegin = (clause: string, ahead: string) => boolean;

export interface SentenceStreamOptions {
  /** The unit of a cut. A clause is long enough to sound complete by itself. Default sentence. */
  readonly unit?: 'sentence' | 'clause';
  /** UTF-16 units of the longest sentence; longer ones are cut at the best place. Default 300. */
  readonly maxLength?: number;
  /** BCP 47 tag of all of the text, where it is known: then only its own short forms count. */
  readonly language?: string | undefined;
  /**
   * If present, the first piece may be a part of a sentence that has not arrived whole: its first clause, or
   * the words up to a length limit, for which this returns true. `ahead` is text behind it that has arrived.
   * Default: it is a sentence.
   */
  readonly mayBegin?: MayBegin | undefined;
  /** Word tables on top of those of the package: their short forms count, too. */
  readonly tables?: TableLayer | undefined;
  /** The text has no entities, as that of SSML, whose parser decodes them. Default false. */
  readonly isDecoded?: boolean;
}

const SPOKEN = /[\p{L}\p{N}]/u;
const LINE_BREAK = /[\n\r\u0085\u2028\u2029]/;
const DEFAULT_MAX_LENGTH = 300;
const SHORTEST_LIMIT = 2; // units of one character: a surrogate pair
const WINDOW = 64; // units after a mark that a decision may look at
const LONGEST_FIRST = 120; // units of a first piece without a clause mark
const LONGEST_FIRST_DENSE = 40; // the same in Chinese and Japanese
const FIRST_AHEAD = 16; // units behind it that must have arrived
const MOST_LEAD = 200; // units of a sentence's earlier pieces that its end may depend on
/** The first line of a block of code: a fence, and perhaps the name of a language. */
const OPEN_FENCE = /^(?:(`{3,100})[^\n`]{0,100}|(~{3,100})[^\n]{0,100})/;
const FENCE = /^(?:`{3}|~{3})/;
const LONGEST_FENCE = 200; // marks of the last line of a block
const BLANKS = String.raw`[^\S\n]{0,100}`; // before and after these marks
const LONGEST_UNCLOSED = 8000; // units of a block that is kept because it may never be closed
/** Characters at which a piece can end. */
const SENTENCE_MARKS = [STOP_MARK, LINE_BREAK, BULLET_MARK, ITEM_BRACKET, TAG_MARK];
const CANDIDATES = {
  sentence: anyOf(SENTENCE_MARKS),
  clause: anyOf([...SENTENCE_MARKS, CLAUSE_MARK]),
};

function anyOf(marks: readonly RegExp[]): CharacterSet {
  return new CharacterSet(new RegExp(marks.map(({ source }) => source).join('|'), 'u'));
}

/** The end of the next piece. */
interface Cut {
  readonly at: number;
  /** The sentence goes on behind it. */
  readonly isWithin: boolean;
  /** It is the first clause of the text. */
  readonly isOpening?: boolean;
}

/** A block of code whose text is passed over as it comes, up to the line that closes it. */
interface PassedCode {
  /** Matches the line. */
  readonly closing: RegExp;
  /** Matches a line that may yet become that line. */
  readonly unsure: RegExp;
  /** The buffer begins within a line that closes nothing. */
  isWithinLine: boolean;
}

export class SentenceStream {
  readonly #maxLength: number;
  readonly #candidates: CharacterSet;
  readonly #forms: ShortForms;
  readonly #language: string | undefined;
  /** Undefined once the first piece is given, or if it has to be a sentence. */
  #mayBegin: MayBegin | undefined;
  #judged = 0; // offset into the buffer: no first clause ends before it
  #isPhraseTried = false;
  #opening: Sentence | undefined; // the first clause that was given last; its rest comes next
  #lead = ''; // the part already returned of the sentence in which the buffer begins
  readonly #decoder: DecodedStream | undefined;
  #buffer = ''; // text that was not returned yet, decoded
  #offset = 0; // offset of the buffer in the whole text as it was written
  #scanned = 0; // offset into the buffer: no sentence ends before it
  #lineStart = 0; // start of the line that `#scanned` is on; negative if the line began before the buffer
  #code: PassedCode | undefined;
  #ended = false;

  constructor(options: SentenceStreamOptions = {}) {
    const {
      maxLength = DEFAULT_MAX_LENGTH,
      unit = 'sentence',
      language,
      mayBegin,
      tables,
      isDecoded = false,
    } = options;
    if (!Number.isInteger(maxLength) || maxLength < SHORTEST_LIMIT) {
      throw new RangeError(
        `maxLength must be a whole number of at least ${SHORTEST_LIMIT}, not ${maxLength}`,
      );
    }
    this.#maxLength = maxLength;
    this.#candidates = CANDIDATES[unit];
    this.#forms = shortFormsOf(language, tables);
    this.#language = language;
    this.#mayBegin = mayBegin;
    this.#decoder = isDecoded ? undefined : new DecodedStream();
  }

  /** All of the text has arrived, or will with the next `push`: its first piece is a sentence. */
  arrivesWhole(): void {
    this.#mayBegin = undefined;
  }

  /** Takes more text; returns the sentences that it completes. */
  push(token: string): Sentence[] {
    if (this.#ended) throw new TypeError('text after the end of a sentence stream');
    this.#buffer += this.#decoder?.push(token) ?? token;
    return this.#take();
  }

  /** The text is complete; returns what is left of it. */
  end(): Sentence[] {
    this.#buffer += this.#decoder?.end() ?? '';
    this.#ended = true;
    return this.#take();
  }

  #take(): Sentence[] {
    const sentences: Sentence[] = [];
    for (;;) {
      if (this.#code !== undefined && !this.#passCode(this.#code)) return sentences;
      this.#dropLeadingSpace();
      const code = this.#codeLength();
      if (code === 'wait') return sentences;
      if (code > 0) {
        this.#lead = '';
        this.#advance(code);
        continue;
      }
      const cut = this.#nextCut() ?? this.#firstClause();
      if (cut === undefined) return sentences;
      const sentence = this.#give(cut);
      if (sentence !== undefined) sentences.push(sentence);
    }
  }

  /** True if the block was closed. */
  #passCode(code: PassedCode): boolean {
    const buffer = this.#buffer;
    let from = 0;
    for (;;) {
      const end = buffer.indexOf('\n', from);
      if (end < 0) break;
      const isClosed = !code.isWithinLine && code.closing.test(buffer.slice(from, end));
      code.isWithinLine = false;
      if (isClosed) {
        this.#code = undefined;
        this.#advance(end);
        return true;
      }
      from = end + 1;
    }
    const isUnsure = !this.#ended && !code.isWithinLine && code.unsure.test(buffer.slice(from));
    code.isWithinLine = !isUnsure;
    this.#advance(isUnsure ? from : buffer.length);
    return false;
  }

  /**
   * Units of the block of code that begins the buffer, or of the first line of a long one; 0 if there is no
   * block, or a short one that is never closed.
   */
  #codeLength(): number | 'wait' {
    const buffer = this.#buffer;
    const [mark] = buffer;
    if (mark !== '`' && mark !== '~') return 0;
    const unknown = this.#ended ? 0 : 'wait';
    const [opening, ticks, tildes] = OPEN_FENCE.exec(buffer) ?? [];
    if (opening === undefined) return /^(?:`{1,2}|~{1,2})$/.test(buffer) ? unknown : 0;
    if (opening.length === buffer.length) return unknown;
    if (buffer[opening.length] !== '\n') return 0;
    const line = `${BLANKS}${mark}{${(ticks ?? tildes ?? '').length},${LONGEST_FENCE}}${BLANKS}`;
    const closing = new RegExp(`\\n${line}(?=\\n|$)`, 'g');
    closing.lastIndex = opening.length;
    if (closing.test(buffer))
      return closing.lastIndex < buffer.length || this.#ended ? closing.lastIndex : 'wait';
    if (buffer.length <= LONGEST_UNCLOSED) return unknown;
    this.#code = {
      closing: new RegExp(`^${line}$`),
      unsure: new RegExp(`^${BLANKS}${mark}{0,${LONGEST_FENCE}}${BLANKS}$`),
      isWithinLine: false,
    };
    return opening.length + 1;
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
      ? judgeLineBreak(after, { length: at - this.#lineStart, isItem: this.#endsItem(before) }, complete)
      : isWithin
        ? judgeClause({ before, after, complete, forms: this.#forms })
        : this.#judgeMark(before, after, complete);
    if (typeof verdict !== 'number') return verdict;
    return at + verdict > 0 ? { at: at + verdict, isWithin } : 'none';
  }

  /** The line that ends is an item of a list: - Send it by May 20 */
  #endsItem(before: string): boolean {
    return LIST_MARKER.test(this.#lineStart < 0 ? this.#lead : before.slice(this.#lineStart));
  }

  #judgeMark(before: string, after: string, complete: boolean): StopVerdict {
    if (isTagMarkAt(after, 0)) return judgeTag(before, after, complete);
    if (isBulletAt(after, 0)) return judgeBullet(before, after, complete);
    if (isItemBracketAt(after, 0)) return judgeItemBracket(this.#lead + before, after, complete);
    return judgeStop({ before: this.#lead + before, after, complete, forms: this.#forms });
  }

  /**
   * The end of a first piece within a sentence that is not whole yet. A mark is judged once it is certain
   * that no sentence has ended before.
   */
  #firstClause(): Cut | undefined {
    if (this.#mayBegin === undefined || this.#ended) return undefined;
    const buffer = this.#buffer;
    const visible = this.#visible();
    for (; this.#judged < this.#scanned; this.#judged++) {
      const at = this.#judged;
      if (!isClauseMarkAt(buffer, at)) continue;
      const after = buffer.slice(at, Math.min(visible, at + WINDOW));
      const verdict = judgeClause({
        before: buffer.slice(0, at),
        after,
        complete: after.length === WINDOW,
        forms: this.#forms,
      });
      if (verdict === 'wait') return undefined;
      if (verdict !== 'none' && this.#mayBeginAt(at + verdict)) return opening(at + verdict);
    }
    return this.#firstPhrase(visible);
  }

  /** A piece of a sentence without a clause mark. Its place is looked for once. */
  #firstPhrase(visible: number): Cut | undefined {
    const dense = isDense(this.#buffer.slice(0, LONGEST_FIRST_DENSE));
    const limit = dense ? LONGEST_FIRST_DENSE : LONGEST_FIRST;
    if (this.#isPhraseTried || visible < limit + FIRST_AHEAD || this.#scanned < limit) return undefined;
    this.#isPhraseTried = true;
    const text = this.#buffer.slice(0, limit + FIRST_AHEAD);
    const at = cutPhrase(text, limit, this.#language);
    return at === undefined || !this.#mayBeginAt(at) ? undefined : opening(at);
  }

  #mayBeginAt(cut: number): boolean {
    const text = this.#buffer.slice(0, cut + WINDOW);
    const clause = text.slice(0, cut);
    if (!SPOKEN.test(clause) || isQuoted(clause) || !isFreeCut(text, cut, this.#language)) return false;
    return this.#mayBegin?.(speakable(clause), text.slice(cut)) === true;
  }

  /** The mark at this offset ends nothing. */
  #pass(at: number): void {
    const space = isLineBreakAt(this.#buffer, at) ? leadingSpace(this.#buffer, at) : 0;
    this.#startLine(at, at + space);
    this.#scanned = at + Math.max(space, 1);
  }

  #give({ at: end, isWithin, isOpening = false }: Cut): Sentence | undefined {
    const decoded = this.#buffer.slice(0, end);
    const start = this.#offset;
    this.#lead = isWithin ? shortened(`${this.#lead}${decoded} `) : '';
    const source = this.#advance(end);
    const text = speakable(source);
    if (!hasWords(speakable(decoded))) return undefined;
    const opening = this.#opening;
    this.#mayBegin = undefined;
    const sentence = { text, start, end: start + source.trimEnd().length };
    this.#opening = isOpening ? sentence : undefined;
    if (opening === undefined) return sentence;
    const beginning = opening.end === start ? opening.text : `${opening.text} `;
    return { ...sentence, continues: true, beginning };
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

  /** Returns the units as they were written. */
  #advance(units: number): string {
    if (units === 0) return '';
    const written = this.#decoder?.take(units) ?? this.#buffer.slice(0, units);
    this.#startLine(0, units);
    this.#lineStart -= units;
    this.#buffer = this.#buffer.slice(units);
    this.#offset += written.length;
    this.#scanned = 0;
    this.#judged = 0;
    return written;
  }
}

function opening(at: number): Cut {
  return { at, isWithin: true, isOpening: true };
}

const IDEOGRAPHS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu;

/** Mostly Chinese or Japanese, where a character is a syllable. */
function isDense(text: string): boolean {
  return (text.match(IDEOGRAPHS)?.length ?? 0) > text.length / 2;
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

/** 1) Yes 2) No: the item ends in front of the number. */
function judgeItemBracket(before: string, after: string, complete: boolean): StopVerdict {
  if (!/[\p{N}a-h]$/u.test(before)) return 'none';
  const length = nextItemLength(before, ')');
  if (length === 0) return 'none';
  if (after.length === 1) return complete ? 'none' : 'wait';
  return /^.(?:\s|\p{Lo})/u.test(after) ? -length : 'none';
}

function judgeBullet(before: string, after: string, complete: boolean): StopVerdict {
  if (/^.[ \t]*$/u.test(after) && !complete) return 'wait';
  return endsBeforeBullet(before, after) ? 0 : 'none';
}

const LIST_MARKER =
  /^(?:\||#{1,6}[^\S\n]|[\u2500-\u257F]|(?:[-*+•‣◦·▪⁃–—]|\(?\p{N}{1,3}[.)]|\(?(?:\p{Script=Latin}|[ivx]{2,4})[.)])\s)/u;
const MARKER_LENGTH = 7; // units of the longest list marker with the space after it
const WRAPPED_LENGTH = 50; // units; a shorter line was ended on purpose, since wrapped text is wider

/**
 * `after` begins with the line break, `line` is what stood before it. `complete` says that nothing behind
 * `after` matters.
 */
function judgeLineBreak(
  after: string,
  line: { readonly length: number; readonly isItem: boolean },
  complete: boolean,
): BreakVerdict {
  const space = after.slice(0, leadingSpace(after));
  const rest = after.slice(space.length);
  if (PARAGRAPH.test(space)) return space.length;
  if (complete && rest === '') return space.length;
  if (!complete && rest.length < MARKER_LENGTH) return 'wait';
  if (LIST_MARKER.test(rest) || FENCE.test(rest)) return space.length;
  if (/^\p{Ll}/u.test(rest)) return 'none';
  const isIndented = /[ \t]$/.test(space);
  return line.length < WRAPPED_LENGTH || (line.isItem && !isIndented) ? space.length : 'none';
}
