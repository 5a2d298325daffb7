// Makes the cues of subtitles of a timed text: a few words of one or two lines that are shown together.
//
// Dynamic programming chooses where cues begin, for the whole text at once: the sum of their penalties is
// least. Limits of lines and of duration are kept always. The shortest duration and the
// reading speed are kept where the next cue leaves the time.
import { SentenceStream } from '../text/sentences.js';
import { Layout, stretchesOf } from './line-breaks.js';
import { shareTime, TextTimes, type TimedText } from './timed-text.js';

export interface CueRules {
  /** Columns of a line, 10 to 200: East Asian characters fill two. */
  readonly maxLineColumns: number;
  /** Shortest time of a cue. */
  readonly minSeconds: number;
  readonly maxSeconds: number;
  /** Reading speed. */
  readonly columnsPerSecond: number;
}

export const CUE_RULES: CueRules = { maxLineColumns: 42, minSeconds: 1, maxSeconds: 7, columnsPerSecond: 20 };

/** A stretch of a cue that is said at one time: a word, or an ideograph. */
export interface CueWord {
  readonly text: string;
  readonly isSpaceBefore: boolean;
  readonly beginMs: number;
}

export interface Cue {
  /** Counted from the beginning of the sound. */
  readonly beginMs: number;
  /** Greater than `beginMs`. */
  readonly endMs: number;
  /** One or two, without line breaks. */
  readonly lines: readonly string[];
  readonly words: readonly CueWord[];
  /** Absent: speakers were not told apart. */
  readonly speaker?: string;
}

/** The cues of one text, in order, without overlap; none if it has no visible character. */
export function cuesOf(timed: TimedText, rules: CueRules, language?: string): Cue[] {
  const stretches = stretchesOf(timed.text, rules.maxLineColumns, language);
  const layout = new Layout(stretches, rules.maxLineColumns);
  const parts = partsOf(timed, layout, language);
  const begins = new CueChoice(layout, parts, rules, timed.endSeconds).begins();
  return begins.map((from, n) => {
    const to = begins[n + 1] ?? parts.length;
    const limit = parts[to]?.beginSeconds ?? Math.max(timed.endSeconds, parts[to - 1]?.endSeconds ?? 0);
    return cueOf(layout, parts, { from, to, limit }, rules);
  });
}

/**
 * Other words in the place of a cue: one cue, or several one after the other if two lines do not hold the
 * text. Together they last as long as the cue.
 */
export function replacedCue(
  text: string,
  { beginMs, endMs }: Pick<Cue, 'beginMs' | 'endMs'>,
  rules: CueRules,
  language?: string,
): Cue[] {
  const stretches = stretchesOf(text, rules.maxLineColumns, language);
  const layout = new Layout(stretches, rules.maxLineColumns);
  const { length } = stretches;
  if (layout.fits(0, length)) return [{ beginMs, endMs, lines: layout.lines(0, length), words: [] }];
  const [beginSeconds, endSeconds] = [beginMs / 1000, endMs / 1000];
  const words = shareTime(text, beginSeconds, endSeconds);
  const cues = inOrder(cuesOf({ text, words, beginSeconds, endSeconds }, rules, language), beginMs);
  // The last words may share the end of the time: their cues begin a millisecond apart before it.
  const begins = cues.map((cue, n) => {
    return n === 0 ? beginMs : Math.max(beginMs + n, Math.min(cue.beginMs, endMs - cues.length + n));
  });
  return cues.map(({ lines }, n) => {
    const begin = begins[n] ?? beginMs;
    return { lines, words: [], beginMs: begin, endMs: begins[n + 1] ?? Math.max(endMs, begin + 1) };
  });
}

/** Moves cues that overlap or have no duration, by as little as that takes. */
export function inOrder(cues: readonly Cue[], notBeforeMs = 0): Cue[] {
  let freeMs = notBeforeMs;
  return cues.map((cue) => {
    const beginMs = Math.max(cue.beginMs, freeMs);
    const endMs = Math.max(cue.endMs, beginMs + 1);
    freeMs = endMs;
    return { ...cue, beginMs, endMs };
  });
}

interface Part {
  readonly beginSeconds: number;
  readonly endSeconds: number;
  readonly isSentenceEnd: boolean;
  readonly isClauseEnd: boolean;
}

const CLAUSE_END = /[,;:—–、，；：)\]）」』】]$/u;
const MOST_SENTENCE = 10_000; // UTF-16 units

function partsOf(timed: TimedText, { stretches }: Layout, language?: string): Part[] {
  const times = new TextTimes(timed);
  const sentences = new SentenceStream({ maxLength: MOST_SENTENCE, language });
  const ends = [...sentences.push(timed.text), ...sentences.end()].map(({ end }) => end);
  let sentence = 0;
  let latest = timed.beginSeconds;
  return stretches.map(({ text, start, end }) => {
    const said = times.of(start, end);
    const beginSeconds = Math.max(latest, said.beginSeconds);
    const endSeconds = Math.max(beginSeconds, said.endSeconds);
    latest = beginSeconds;
    while ((ends[sentence] ?? Infinity) < end) sentence++;
    return {
      beginSeconds,
      endSeconds,
      isSentenceEnd: ends[sentence] === end,
      isClauseEnd: CLAUSE_END.test(text),
    };
  });
}

// Penalties of a cue, in points.
const EVERY_CUE = 10;
/** Penalties of a cue that ends after a clause, at a pause, or between two words. */
const CLAUSE_CUT = 6;
const PAUSE_CUT = 4;
const WORD_CUT = 25;
/** Penalty of each sentence that ends within the cue. */
const SENTENCE_INSIDE = 14;
/** Penalty of each second of a pause within the cue, beyond LONG_PAUSE. */
const PAUSE_SECOND = 25;
const LONG_PAUSE = 0.7; // seconds
const CUT_PAUSE = 0.4; // seconds
/** Penalty of a cue without any time; a cue that is shorter than the shortest time gets a part of it. */
const TOO_SHORT = 30;
/** Penalty of a reading speed of double the limit and more; above the limit it grows to this. */
const TOO_FAST = 30;
/** Penalty of a nearly empty cue that holds a part of a sentence. */
const LITTLE = 8;

class CueChoice {
  readonly #layout: Layout;
  readonly #parts: readonly Part[];
  readonly #rules: CueRules;
  readonly #endSeconds: number;
  /** Sentence ends, and points of pauses, before each part. */
  readonly #sentences: readonly number[];
  readonly #pauses: readonly number[];

  constructor(layout: Layout, parts: readonly Part[], rules: CueRules, endSeconds: number) {
    this.#layout = layout;
    this.#parts = parts;
    this.#rules = rules;
    this.#endSeconds = endSeconds;
    this.#sentences = sums(parts.map(({ isSentenceEnd }) => (isSentenceEnd ? 1 : 0)));
    this.#pauses = sums(parts.map((_, n) => Math.max(0, this.#pauseAfter(n) - LONG_PAUSE) * PAUSE_SECOND));
  }

  /** The first part of each cue. */
  begins(): number[] {
    const count = this.#parts.length;
    const least: number[] = [0];
    const chosen: number[] = [0];
    for (let to = 1; to <= count; to++) {
      let best = Infinity;
      for (let from = to - 1; from >= 0 && this.#isAllowed(from, to); from--) {
        const cost = (least[from] ?? 0) + this.#cost(from, to);
        if (cost >= best) continue;
        best = cost;
        chosen[to] = from;
      }
      least[to] = best;
    }
    const begins: number[] = [];
    for (let to = count; to > 0; to = chosen[to] ?? 0) begins.push(chosen[to] ?? 0);
    return begins.reverse();
  }

  #isAllowed(from: number, to: number): boolean {
    if (to - from === 1) return true;
    return this.#seconds(from, to) <= this.#rules.maxSeconds && this.#layout.fits(from, to);
  }

  #seconds(from: number, to: number): number {
    return (this.#parts[to - 1]?.endSeconds ?? 0) - (this.#parts[from]?.beginSeconds ?? 0);
  }

  #pauseAfter(part: number): number {
    const next = this.#parts[part + 1]?.beginSeconds;
    return next === undefined ? 0 : next - (this.#parts[part]?.endSeconds ?? next);
  }

  #cost(from: number, to: number): number {
    const { minSeconds, columnsPerSecond, maxLineColumns } = this.#rules;
    const last = to - 1;
    const columns = this.#layout.columns(from, to);
    const shown =
      (this.#parts[to]?.beginSeconds ?? this.#endSeconds) - (this.#parts[from]?.beginSeconds ?? 0);
    const speed = columns / Math.max(shown, 0.01) / columnsPerSecond;
    const isCut =
      this.#parts[last]?.isSentenceEnd === false || this.#parts[from - 1]?.isSentenceEnd === false;
    const empty = 1 - columns / (2 * maxLineColumns);
    return (
      EVERY_CUE +
      this.#costOfEnd(last) +
      ((this.#sentences[last] ?? 0) - (this.#sentences[from] ?? 0)) * SENTENCE_INSIDE +
      ((this.#pauses[last] ?? 0) - (this.#pauses[from] ?? 0)) +
      (Math.max(0, minSeconds - shown) / minSeconds) * TOO_SHORT +
      Math.min(Math.max(0, speed - 1), 1) * TOO_FAST +
      (isCut ? empty * empty * LITTLE : 0)
    );
  }

  #costOfEnd(last: number): number {
    const part = this.#parts[last];
    if (part === undefined || part.isSentenceEnd || last === this.#parts.length - 1) return 0;
    if (this.#pauseAfter(last) >= CUT_PAUSE) return PAUSE_CUT;
    return part.isClauseEnd ? CLAUSE_CUT : WORD_CUT;
  }
}

function sums(values: readonly number[]): number[] {
  const all = [0];
  for (const value of values) all.push((all.at(-1) ?? 0) + value);
  return all;
}

interface Run {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** Seconds after which it may not be shown. */
  readonly limit: number;
}

function cueOf(layout: Layout, parts: readonly Part[], { from, to, limit }: Run, rules: CueRules): Cue {
  const begin = parts[from]?.beginSeconds ?? 0;
  const said = parts[to - 1]?.endSeconds ?? begin;
  const needed = Math.max(rules.minSeconds, layout.columns(from, to) / rules.columnsPerSecond);
  const end = Math.min(Math.max(said, begin + needed), limit, begin + rules.maxSeconds);
  const words = layout.stretches.slice(from, to).map(({ text, isSpaceBefore }, n) => {
    const beginMs = Math.round((parts[from + n]?.beginSeconds ?? begin) * 1000);
    return { text, isSpaceBefore, beginMs };
  });
  const beginMs = Math.round(begin * 1000);
  return { beginMs, endMs: Math.round(end * 1000), lines: layout.lines(from, to), words };
}
