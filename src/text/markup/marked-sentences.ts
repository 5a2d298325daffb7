// Cuts the pieces of a document into sentences, each with the silence, tones and marks around it.
//
// A document cuts sentences where it must: at a pause, at another voice, language,
// pace or loudness. What then follows is no new sentence, and the silence before
// it is short. A mark within a sentence does not cut it: it is reported when
// the sentence was heard, never before.
import { SentenceStream, type SentenceStreamOptions } from '../sentences.js';
import type { TableLayer } from '../tables/layer.js';
import type { MarkAt, MarkedHint, MarkedStyle, MarkedPart, MarkedText, TextPiece } from './marked-text.js';
import { SourceMap, type Span } from './source-map.js';

export interface MarkedSentence {
  readonly kind: 'sentence';
  /** As it was written: one line, single spaces, well-formed. */
  readonly text: string;
  readonly style: MarkedStyle;
  /** In the text, in order. */
  readonly parts: readonly MarkedPart[];
  readonly hints: readonly MarkedHint[];
  readonly marksBefore: readonly string[];
  readonly marksAfter: readonly string[];
  /** Milliseconds of silence before it; the usual where absent. */
  readonly pauseBeforeMs?: number;
  /**
   * Text of the same sentence directly before and after, in other pieces. It decides how figures are read.
   */
  readonly context: SentenceContext;
  /** Position in the document of a part of the text. */
  sourceSpan(start: number, end: number): Span;
}

interface SentenceContext {
  readonly before: string;
  readonly after: string;
}

export interface MarkedBleep {
  readonly kind: 'bleep';
  readonly ms: number;
  readonly style: MarkedStyle;
  readonly pauseBeforeMs: number;
}

export interface MarkedSpeech {
  readonly sentences: readonly (MarkedSentence | MarkedBleep)[];
  /** Silence behind the last one. */
  readonly endPauseMs: number;
  /** Marks with nothing before or behind them that is spoken. */
  readonly looseMarks: readonly string[];
}

const PARAGRAPH_PAUSE_MS = 500;
const JOINT_PAUSE_MS = 40; // within a sentence, where another style begins

const CONTEXT = 100; // units around a sentence that decide how figures are read
const ENDING = 16; // units
const ENDS_SENTENCE = /[.!?…。！？｡]["'”’»)\]}」』）】]*\s*$/u;

/** `language` is that of the text where its markup states none. */
export function sentencesOfMarkup(
  { pieces }: MarkedText,
  language?: string,
  tables?: TableLayer,
): MarkedSpeech {
  const list = new SentenceList(language, tables);
  for (const piece of pieces) {
    if (piece.kind === 'pause') list.pause(piece.ms);
    else if (piece.kind === 'bleep') list.bleep(piece.ms, piece.style);
    else list.text(piece);
  }
  return list.finish();
}

type Growing = Omit<MarkedSentence, 'marksAfter'> & {
  readonly marksAfter: string[];
  readonly context: { before: string; after: string };
};

class SentenceList {
  readonly #language: string | undefined;
  readonly #tables: TableLayer | undefined;
  readonly #sentences: (Growing | MarkedBleep)[] = [];
  /** Stated between the last sentence and the next; undefined: nothing was. */
  #pauseMs: number | undefined;
  #begins: TextPiece['begins'] = 'anywhere';
  #marks: string[] = [];
  /** The last sentence came to its end. */
  #isWhole = true;

  constructor(language: string | undefined, tables: TableLayer | undefined) {
    this.#language = language;
    this.#tables = tables;
  }

  pause(ms: number): void {
    this.#pauseMs = (this.#pauseMs ?? 0) + ms;
  }

  bleep(ms: number, style: MarkedStyle): void {
    const pauseBeforeMs = this.#pauseMs ?? JOINT_PAUSE_MS;
    this.#sentences.push({ kind: 'bleep', ms, style, pauseBeforeMs });
    this.#pauseMs = undefined;
    this.#begins = 'anywhere';
    this.#isWhole = false;
  }

  text(piece: TextPiece): void {
    if (piece.begins === 'paragraph' || this.#begins === 'anywhere') this.#begins = piece.begins;
    const marks = new MarksInOrder(piece.marks);
    const { language = this.#language } = piece.style;
    for (const span of spansOf(piece, { language, tables: this.#tables })) {
      const marksBefore = [...this.#marks, ...marks.upTo(span.start)];
      const marksAfter = marks.upTo(span.end - 1);
      this.#marks = [];
      const pause = this.#pauseBefore();
      const sentence = { ...cleaned(piece, span), context: { before: '', after: '' } };
      this.#joinTo(sentence);
      this.#sentences.push({ kind: 'sentence', ...sentence, ...pause, marksBefore, marksAfter });
      this.#pauseMs = undefined;
      this.#begins = 'anywhere';
      this.#isWhole = true;
    }
    const last = this.#sentences.at(-1);
    const follows = last?.kind === 'sentence' && this.#pauseMs === undefined && this.#marks.length === 0;
    (follows ? last.marksAfter : this.#marks).push(...marks.upTo(Infinity));
    if (/\S/.test(piece.text)) this.#isWhole = ENDS_SENTENCE.test(piece.text.slice(-ENDING));
  }

  finish(): MarkedSpeech {
    const last = this.#sentences.findLast((sentence) => sentence.kind === 'sentence');
    if (last !== undefined) last.marksAfter.push(...this.#marks);
    return {
      sentences: this.#sentences,
      endPauseMs: this.#pauseMs ?? 0,
      looseMarks: last === undefined ? this.#marks : [],
    };
  }

  /** If markup splits a sentence, both halves get the other's text as context. */
  #joinTo({ text, style, context }: Pick<Growing, 'text' | 'style' | 'context'>): void {
    const last = this.#sentences.at(-1);
    if (this.#isWhole || this.#begins !== 'anywhere' || last?.kind !== 'sentence') return;
    if (last.style.language !== style.language) return;
    context.before = /(?:^|\s)\S.{0,80}$/su.exec(last.text.slice(-CONTEXT))?.[0].trimStart() ?? '';
    last.context.after = /^.{0,80}\S(?=\s|$)/su.exec(text)?.[0] ?? '';
  }

  #pauseBefore(): { readonly pauseBeforeMs?: number } {
    if (this.#pauseMs !== undefined) return { pauseBeforeMs: this.#pauseMs };
    if (this.#sentences.length === 0) return {};
    if (this.#begins === 'paragraph') return { pauseBeforeMs: PARAGRAPH_PAUSE_MS };
    return this.#begins === 'anywhere' && !this.#isWhole ? { pauseBeforeMs: JOINT_PAUSE_MS } : {};
  }
}

class MarksInOrder {
  readonly #marks: readonly MarkAt[];
  #next = 0;

  constructor(marks: readonly MarkAt[]) {
    this.#marks = marks;
  }

  /** Returns the marks up to an offset that were not returned before. */
  upTo(place: number): string[] {
    const names: string[] = [];
    for (let mark = this.#marks[this.#next]; mark !== undefined && mark.at <= place;) {
      names.push(mark.name);
      mark = this.#marks[++this.#next];
    }
    return names;
  }
}

interface SentenceSpan extends Span {
  readonly parts: readonly MarkedPart[];
}

/**
 * Sentence spans of a piece. A span never splits a marked part; a part that holds only signs counts as a
 * word.
 */
function spansOf(
  { text, parts }: TextPiece,
  options: Pick<SentenceStreamOptions, 'language' | 'tables'>,
): SentenceSpan[] {
  const stream = new SentenceStream({ ...options, isDecoded: true });
  const oneLine = text.replace(/\s/g, ' '); // a line of a document ends nothing
  const asWords = parts.length === 0 ? oneLine : withWords(oneLine, parts);
  const spans: { start: number; end: number; parts: MarkedPart[] }[] = [];
  let next = 0;
  for (const { start, end } of [...stream.push(asWords), ...stream.end()]) {
    let span = spans.at(-1);
    if (span !== undefined && (span.parts.at(-1)?.end ?? 0) > start) span.end = end;
    else spans.push((span = { start, end, parts: [] }));
    for (let part = parts[next]; part !== undefined && part.start < end; part = parts[++next]) {
      if (part.end > start) span.parts.push(part);
    }
  }
  return spans;
}

function withWords(text: string, parts: readonly MarkedPart[]): string {
  let result = '';
  let at = 0;
  for (const { start, end } of parts) {
    const written = text.slice(start, end);
    result += text.slice(at, start) + (/[\p{L}\p{N}]/u.test(written) ? written : 'X'.repeat(end - start));
    at = end;
  }
  return result + text.slice(at);
}

const UNCLEAN = /[\p{Cc}\s]+|[\u00AD\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF]+/gu;

/** The sentence in one line, and where everything of it went. */
function cleaned(
  { text, map, style, hints }: TextPiece,
  { start, end, parts }: SentenceSpan,
): Pick<Growing, 'text' | 'parts' | 'hints' | 'style' | 'sourceSpan'> {
  const own = new SourceMap();
  let clean = '';
  const copyTo = (from: number, to: number) => {
    clean += text.slice(from, to);
    own.add(to - from, from, to - from);
  };
  const copy = (from: number, to: number) => {
    let at = from;
    for (const { index, 0: found } of text.slice(from, to).matchAll(UNCLEAN)) {
      copyTo(at, from + index);
      at = from + index + found.length;
      if (!/[\p{Cc}\s]/u.test(found)) continue;
      clean += ' ';
      own.add(1, from + index, found.length);
    }
    copyTo(at, to);
  };
  const kept: MarkedPart[] = [];
  let at = start;
  for (const part of parts) {
    copy(at, Math.max(start, part.start));
    const from = clean.length;
    copy(Math.max(start, part.start), Math.min(end, part.end));
    kept.push({ start: from, end: clean.length, reading: part.reading });
    at = Math.min(end, part.end);
  }
  copy(at, Math.max(at, end));
  const sourceSpan = (from: number, to: number) => {
    const within = own.span(from, to);
    return map.span(within.start, within.end);
  };
  const within = hints
    .filter((hint) => hint.start < end && hint.end > start)
    .map((hint) => ({
      ...hint,
      start: placeFrom(clean.length, (place) => own.span(place, place + 1).start >= hint.start),
      end: placeFrom(clean.length, (place) => own.span(place, place + 1).start >= hint.end),
    }));
  return { text: clean, parts: kept, hints: within, style, sourceSpan };
}

/** The first place for which the condition holds, as it does for all behind it; `length` if it never does. */
export function placeFrom(length: number, holds: (place: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
