// Cuts text into the stretches between which a line may break, and lays them out in one or two lines. Widths
// are in columns: characters of East Asian writing fill two (Unicode Standard Annex 11).
//
// A line may break after white space, and between the words of writing that has none (Chinese, Japanese,
// Thai, Lao, Khmer, Burmese), but not before a closing mark nor after an opening one.
import stringWidth from 'string-width';

/** A stretch of a text that stays in one line, at UTF-16 offsets. */
interface Stretch {
  /** Without the white space around it. */
  readonly text: string;
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  readonly columns: number;
  readonly isSpaceBefore: boolean;
}

const DENSE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const NOT_FIRST =
  /^(?:(?!["'¿¡@#&*])[\p{Pe}\p{Pf}\p{Po}]|[ー々ゝヽぁぃぅぇぉっゃゅょァィゥェォッャュョ\p{M}])/u;
/** French puts a space before these. */
const NOT_FIRST_AFTER_SPACE = /^[?!:;»%](?:\s|$)/u;
const NOT_LAST = /[\p{Ps}\p{Pi}¿¡]$/u;
const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });
const MOST_SEGMENTERS = 64;
const segmenters = new Map<string, Intl.Segmenter>();

function segmenterOf(language: string): Intl.Segmenter {
  const known = segmenters.get(language);
  if (known !== undefined) return known;
  let made: Intl.Segmenter;
  try {
    made = new Intl.Segmenter(language, { granularity: 'word' });
  } catch {
    made = new Intl.Segmenter('en', { granularity: 'word' }); // not a tag
  }
  if (segmenters.size < MOST_SEGMENTERS) segmenters.set(language, made);
  return made;
}

export function columnsOf(text: string): number {
  return stringWidth(text, { countAnsiEscapeCodes: true });
}

/** The stretches of a text in order, none wider than `mostColumns`, which is 2 at least. */
export function stretchesOf(text: string, mostColumns: number, language = 'en'): Stretch[] {
  const stretches: Stretch[] = [];
  let start = 0;
  for (const end of breaksOf(text, language)) {
    const part = text.slice(start, end);
    const shown = part.trim();
    if (shown !== '') {
      const first = start + part.length - part.trimStart().length;
      const isSpaceBefore = first > start || (first > 0 && /\s/u.test(text[first - 1] ?? ''));
      stretches.push(...withinColumns(shown, first, mostColumns, isSpaceBefore));
    }
    start = end;
  }
  return stretches;
}

/** Offsets at which a line may break, and the end of the text. */
function breaksOf(text: string, language: string): number[] {
  const breaks: number[] = [];
  let before = '';
  for (const { segment, index } of segmenterOf(language).segment(text)) {
    if (before !== '' && mayBreak(before, segment, text.slice(index, index + 2))) breaks.push(index);
    before = segment;
  }
  return [...breaks, text.length];
}

function mayBreak(before: string, after: string, next: string): boolean {
  if (/^\s/u.test(after)) return false;
  if (/\s$/u.test(before)) return !NOT_FIRST_AFTER_SPACE.test(next);
  if (NOT_FIRST.test(after) || NOT_LAST.test(before)) return false;
  return DENSE.test(lastCharacter(before)) || DENSE.test(String.fromCodePoint(after.codePointAt(0) ?? 0));
}

function lastCharacter(text: string): string {
  return Array.from(text).at(-1) ?? '';
}

function withinColumns(text: string, start: number, most: number, isSpaceBefore: boolean): Stretch[] {
  const columns = columnsOf(text);
  if (columns <= most) return [{ text, start, end: start + text.length, columns, isSpaceBefore }];
  const graphemes = [...GRAPHEMES.segment(text)].map(({ segment }) => segment);
  const pieces: Stretch[] = [];
  let at = start;
  for (let from = 0; from < graphemes.length;) {
    const to = endWithin(graphemes, from, most);
    const piece = graphemes.slice(from, to).join('');
    const isSpace = pieces.length === 0 && isSpaceBefore;
    const end = at + piece.length;
    pieces.push({ text: piece, start: at, end, columns: columnsOf(piece), isSpaceBefore: isSpace });
    from = to;
    at = end;
  }
  return pieces;
}

/**
 * End of the graphemes that fit, one at least. Where another end can be had, no mark begins the next line.
 */
function endWithin(graphemes: readonly string[], from: number, most: number): number {
  let to = from;
  let columns = 0;
  while (to < graphemes.length) {
    columns += columnsOf(graphemes[to] ?? '');
    if (columns > most && to > from) break;
    to++;
  }
  if (to === graphemes.length) return to;
  let best = to;
  while (best > from + 1 && NOT_FIRST.test(graphemes[best] ?? '')) best--;
  return best > from + 1 || !NOT_FIRST.test(graphemes[best] ?? '') ? best : to;
}

const CLOSES_CLAUSE = /[\p{Po}\p{Pe}\p{Pf}—–]$/u;
/** A break after a mark is worth so many columns of balance. */
const MARK_COLUMNS = 10;

/** The widths of runs of stretches, and their lines. */
export class Layout {
  readonly stretches: readonly Stretch[];
  readonly mostColumns: number;
  /** Columns of all before each stretch, with the spaces between. */
  readonly #before: readonly number[];

  constructor(stretches: readonly Stretch[], mostColumns: number) {
    this.stretches = stretches;
    this.mostColumns = mostColumns;
    const before = [0];
    for (const { columns, isSpaceBefore } of stretches) {
      before.push((before.at(-1) ?? 0) + columns + (isSpaceBefore ? 1 : 0));
    }
    this.#before = before;
  }

  /** Columns of the stretches from `from` until before `to`, in one line. */
  columns(from: number, to: number): number {
    const all = (this.#before[to] ?? 0) - (this.#before[from] ?? 0);
    return this.stretches[from]?.isSpaceBefore === true ? all - 1 : all;
  }

  /** True if they fit into two lines. */
  fits(from: number, to: number): boolean {
    const most = this.mostColumns;
    if (this.columns(from, to) <= most) return true;
    let middle = from + 1;
    while (middle < to && this.columns(from, middle + 1) <= most) middle++;
    return middle < to && this.columns(middle, to) <= most;
  }

  /**
   * One line where that is wide enough, else two, of about the same length and after a mark where
   * possible.
   */
  lines(from: number, to: number): string[] {
    if (this.columns(from, to) <= this.mostColumns || to - from < 2) return [this.#text(from, to)];
    let best = from + 1;
    let least = Infinity;
    for (let middle = from + 1; middle < to; middle++) {
      const cost = this.#costOfBreak(from, middle, to);
      if (cost < least) [best, least] = [middle, cost];
    }
    return [this.#text(from, best), this.#text(best, to)];
  }

  #costOfBreak(from: number, middle: number, to: number): number {
    const [upper, lower] = [this.columns(from, middle), this.columns(middle, to)];
    const wide = Math.max(0, Math.max(upper, lower) - this.mostColumns);
    const mark = CLOSES_CLAUSE.test(this.stretches[middle - 1]?.text ?? '') ? MARK_COLUMNS : 0;
    return wide * 1000 + Math.abs(upper - lower) + (upper > lower ? 1 : 0) - mark;
  }

  #text(from: number, to: number): string {
    return this.stretches
      .slice(from, to)
      .map(({ text, isSpaceBefore }, n) => (n > 0 && isSpaceBefore ? ' ' : '') + text)
      .join('');
  }
}
