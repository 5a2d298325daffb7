// The result as it grows: what is spoken, and where each part of it was written.
import { CharacterSet } from '../character-set.js';
import { classOf, DIGIT, IDEOGRAPH, LETTER } from './characters.js';
import type { Rule } from './reading.js';

/** A token that is spoken in other words than it is written. */
export interface Replacement {
  readonly rule: Rule;
  /** Span of the token in the written text, in UTF-16 units; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
  readonly written: string;
  readonly spoken: string;
  /** Span of the words in the spoken text, in UTF-16 units; `spokenEnd` is exclusive. */
  readonly spokenStart: number;
  readonly spokenEnd: number;
}

interface Piece {
  readonly spoken: number;
  readonly spokenEnd: number;
  readonly source: number;
  readonly sourceEnd: number;
}

export interface Normalized {
  readonly text: string;
  readonly replacements: readonly Replacement[];
  /** The part of the written text that a part of the spoken text stands for. */
  readonly sourceSpan: (start: number, end: number) => { start: number; end: number };
}

/**
 * Returns the place where the words for the written text from `cut` on begin; undefined unless the words
 * before them are `said`, and if no words begin there.
 */
export function wordsAfter({ text, sourceSpan }: Normalized, said: string, cut: number): number | undefined {
  if (!text.startsWith(said)) return undefined;
  const from = text.length - text.slice(said.length).trimStart().length;
  return from === text.length || sourceSpan(from, from + 1).start >= cut ? from : undefined;
}

export interface PlacedText extends Normalized {
  /** The place in the spoken text of one in the written text. */
  readonly spokenPlace: (written: number) => number;
}

const SPACE_UNIT = 0x20;
const STOP = /^[.,;:!?…]/u;
const CLINGING = new CharacterSet(',.;:');
const IDEOGRAPHIC =
  '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\u3001-\u303F\u30FC\uFF01-\uFF5E]';
const INNER_SPACE = new RegExp(`(?<=${IDEOGRAPHIC}) | (?=${IDEOGRAPHIC})`, 'gu');

export class SpokenText {
  readonly #written: string;
  readonly #unspaced: boolean;
  readonly #parts: string[] = [];
  readonly #pieces: Piece[] = [];
  readonly #replacements: Replacement[] = [];
  #length = 0;
  #last = SPACE_UNIT; // last unit of the words so far
  #afterWords = false; // the last piece was not copied
  #afterEmoji = false; // the text directly before was dropped
  #spaceAfterWords = false; // the last piece is a space, and the one before it was not copied

  constructor(written: string, unspaced = false) {
    this.#written = written;
    this.#unspaced = unspaced;
  }

  /** Copies a span of `text` (the written text, folded) to the spoken text unchanged. */
  copy(text: string, from: number, to: number): void {
    if (to <= from) return;
    if (this.#afterEmoji && STOP.test(text[from] ?? '')) this.#dropSpace(); // Thanks 😊!
    this.#afterEmoji = false;
    if (this.#spaceAfterWords) this.#closeUp(text.charCodeAt(from), from);
    if (this.#afterWords && this.#touches(text.charCodeAt(from))) this.#append(' ', from, from);
    this.#afterWords = false;
    this.#append(text.slice(from, to), from, to);
  }

  /** White space: one space between words, none at the beginning. */
  space(from: number, to: number): void {
    this.#spaceAfterWords = this.#afterWords;
    this.#afterWords = false;
    this.#afterEmoji = false;
    if (this.#last === SPACE_UNIT) return;
    this.#append(' ', from, to);
  }

  replace(start: number, end: number, words: string, rule: Rule, clings = false): void {
    const spoken = this.#unspaced && words.includes(' ') ? words.replace(INNER_SPACE, '') : words;
    const unit = spoken.charCodeAt(0);
    if (spoken !== '' && this.#touches(unit)) this.#append(' ', start, start);
    if (clings || CLINGING.at(spoken, 0) || (this.#afterEmoji && STOP.test(spoken))) this.#dropSpace();
    this.#afterEmoji = rule === 'emoji' && spoken === '';
    if (spoken !== '') this.#closeUp(unit, start);
    const spokenStart = this.#length;
    const text = this.#last === SPACE_UNIT ? spoken.trimStart() : spoken;
    if (text !== '') {
      this.#append(text, start, end);
      this.#afterWords = true;
    }
    const written = this.#written.slice(start, end);
    this.#replacements.push({
      rule,
      start,
      end,
      written,
      spoken: text,
      spokenStart,
      spokenEnd: this.#length,
    });
  }

  result(): PlacedText {
    const text = this.#parts.join('').trimEnd();
    const pieces = this.#pieces;
    const length = this.#written.length;
    return {
      text,
      replacements: this.#replacements,
      sourceSpan: (start, end) => ({
        start: sourceOf(pieces, start, 'start') ?? length,
        end: sourceOf(pieces, Math.max(start, end - 1), 'end') ?? length,
      }),
      spokenPlace: (written) => Math.min(spokenOf(pieces, written), text.length),
    };
  }

  #append(text: string, from: number, to: number): void {
    const start = this.#length;
    this.#parts.push(text);
    this.#length += text.length;
    this.#last = text.charCodeAt(text.length - 1);
    this.#pieces.push({ spoken: start, spokenEnd: this.#length, source: from, sourceEnd: to });
  }

  /** People who write without spaces put some around figures; the words are written as others are. */
  #closeUp(next: number, from: number): void {
    this.#spaceAfterWords = false;
    if (!this.#unspaced || this.#last !== SPACE_UNIT || !isIdeographic(next)) return;
    const before = this.#parts.at(-2) ?? '';
    if (this.#parts.at(-1) !== ' ' || !isIdeographic(before.charCodeAt(before.length - 1))) return;
    const { source = 0, sourceEnd = 0 } = this.#pieces.at(-1) ?? {};
    const dated = /[年月日号號時时點点]$/.test(before); // 一月十五日 十四点
    const numbers =
      !dated && /\d/.test(this.#written[source - 1] ?? '') && /\d/.test(this.#written[from] ?? '');
    const parted = numbers || this.#written.slice(source, sourceEnd).includes('\n');
    if (!parted) this.#dropSpace(); // "3 5" is not 35, and a line is not its neighbour
  }

  /** No space stands before a comma. */
  #dropSpace(): void {
    const part = this.#parts.pop();
    const piece = this.#pieces.pop();
    if (part === undefined || piece === undefined) return;
    if (!part.endsWith(' ')) {
      this.#parts.push(part);
      this.#pieces.push(piece);
      return;
    }
    this.#length--;
    if (part.length > 1) {
      this.#parts.push(part.slice(0, -1));
      this.#pieces.push({ ...piece, spokenEnd: piece.spokenEnd - 1, sourceEnd: piece.sourceEnd - 1 });
    }
    const last = this.#parts.at(-1) ?? ' ';
    this.#last = last.charCodeAt(last.length - 1);
  }

  /** Two words would run into one. */
  #touches(next: number): boolean {
    return isWordUnit(this.#last) && isWordUnit(next);
  }
}

function isWordUnit(unit: number): boolean {
  const kind = classOf(unit);
  return kind === LETTER || kind === DIGIT;
}

/** An ideograph or a mark that is as wide. */
function isIdeographic(unit: number): boolean {
  const mark = (unit >= 0x3001 && unit <= 0x303f) || (unit >= 0xff01 && unit <= 0xff5e);
  return mark || classOf(unit) === IDEOGRAPH;
}

/** Copied pieces map unit by unit, others as a whole. */
function sourceOf(pieces: readonly Piece[], at: number, edge: 'start' | 'end'): number | undefined {
  let low = 0;
  let high = pieces.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pieces[middle]?.spokenEnd ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  const piece = pieces[low];
  if (piece === undefined) return undefined;
  const copied = piece.spokenEnd - piece.spoken === piece.sourceEnd - piece.source;
  if (copied) return piece.source + (at - piece.spoken) + (edge === 'end' ? 1 : 0);
  return edge === 'start' ? piece.source : piece.sourceEnd;
}

function spokenOf(pieces: readonly Piece[], written: number): number {
  const piece = pieces.findLast(({ source }) => source <= written);
  if (piece === undefined) return 0;
  const { spoken, spokenEnd, source, sourceEnd } = piece;
  if (written >= sourceEnd) return spokenEnd;
  return spokenEnd - spoken === sourceEnd - source ? spoken + written - source : spoken;
}

const LONGEST_END = 12; // units behind the last stop of a text
const ENDING = /^["'”’»)\]]{0,4}\s*$/;

/** True if a stop that ended both a short form and its sentence is to be kept. */
export function endsText(text: string, end: number): boolean {
  return text.length - end < LONGEST_END && ENDING.test(text.slice(end));
}
