// Places times on a text: those of an aligner's words, or those of the speech, shared out by length.
import type { AlignedWord, SpeechStretch } from '../engines/recogniser.js';

/** A word of a text, at UTF-16 offsets. The words of a text lie in its order and do not overlap. */
export interface TimedWord {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  readonly beginSeconds: number;
  readonly endSeconds: number;
}

/** A text with the times of its words, which hold each letter and digit of it. */
export interface TimedText {
  readonly text: string;
  readonly words: readonly TimedWord[];
  /** Begin of the sound that the text was recognised from. */
  readonly beginSeconds: number;
  readonly endSeconds: number;
}

/** Characters that an aligner keeps of a text: letters, digits and the apostrophe. */
const KEPT = /['\p{L}\p{N}]/u;
const MARKS = /^\p{M}+/u;
/** Each is a word of its own. */
const IDEOGRAPH = /\p{Script=Han}/u;
const SENTENCE_STOP = /[.!?…。！？｡]/u;
const CLAUSE_STOP = /[,;:—–、，；：]/u;
/** A syllable of an ideograph takes as long as so many letters. */
const IDEOGRAPH_LETTERS = 3;

/**
 * Finds the words of an aligner in the text that it was given. Undefined if they are not the words of this
 * text.
 */
export function placeWords(text: string, aligned: readonly AlignedWord[]): TimedWord[] | undefined {
  const words: TimedWord[] = [];
  let at = 0;
  for (const { word, beginSeconds, endSeconds } of aligned) {
    let start = -1;
    for (const wanted of word) {
      if (!KEPT.test(wanted)) continue;
      at = nextKept(text, at);
      if (!text.startsWith(wanted, at)) return undefined;
      if (start < 0) start = at;
      at += wanted.length;
    }
    at += MARKS.exec(text.slice(at))?.[0].length ?? 0;
    if (start >= 0) words.push({ start, end: at, beginSeconds, endSeconds });
  }
  return nextKept(text, at) === text.length ? words : undefined;
}

/** Offset of the next letter or digit, or the length of the text. */
function nextKept(text: string, from: number): number {
  let at = from;
  while (at < text.length) {
    const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
    if (KEPT.test(character)) break;
    at += character.length;
  }
  return at;
}

interface Share {
  readonly start: number;
  readonly end: number;
  /** In letters. */
  readonly length: number;
  readonly stop: 'sentence' | 'clause' | undefined;
}

/** Letters that the pause of a stop takes, if the pauses of the speech are not known, and if they are. */
const PAUSE_LETTERS = { unknown: { sentence: 6, clause: 3 }, known: { sentence: 2, clause: 1 } } as const;

/**
 * Shares the time of a text out to its words, by their lengths and the stops between them: all of it, or the
 * stretches of speech in it.
 */
export function shareTime(
  text: string,
  beginSeconds: number,
  endSeconds: number,
  speech: readonly SpeechStretch[] = [],
): TimedWord[] {
  const shares = sharesOf(text);
  const stretches = speech
    .map((one) => ({
      beginSeconds: Math.max(beginSeconds, one.beginSeconds),
      endSeconds: Math.min(endSeconds, one.endSeconds),
    }))
    .filter((one) => one.beginSeconds < one.endSeconds);
  if (stretches.length === 0) return shareStretch(shares, { beginSeconds, endSeconds }, 'unknown');
  const ends = stretches.length === 1 ? [shares.length] : new StretchChoice(shares, stretches).ends();
  return stretches.flatMap((stretch, n) =>
    shareStretch(shares.slice(ends[n - 1] ?? 0, ends[n]), stretch, 'known'),
  );
}

function shareStretch(
  shares: readonly Share[],
  { beginSeconds, endSeconds }: SpeechStretch,
  pauses: keyof typeof PAUSE_LETTERS,
): TimedWord[] {
  const pauseOf = ({ stop }: Share) => (stop === undefined ? 0 : PAUSE_LETTERS[pauses][stop]);
  const last = shares.at(-1);
  // After the last word comes no pause.
  const whole =
    shares.reduce((sum, share) => sum + share.length + pauseOf(share), 0) - (last ? pauseOf(last) : 0);
  const secondsOfLetter = whole > 0 ? (endSeconds - beginSeconds) / whole : 0;
  let passed = 0;
  return shares.map((share) => {
    const begin = beginSeconds + passed * secondsOfLetter;
    const over = Math.min(endSeconds, beginSeconds + (passed + share.length) * secondsOfLetter);
    passed += share.length + pauseOf(share);
    return { start: share.start, end: share.end, beginSeconds: begin, endSeconds: over };
  });
}

// Penalties, in points.
/** A stretch ends after a clause, or between two words. */
const CLAUSE_CUT = 0.5;
const WORD_CUT = 2;
/** The same before a long pause. */
const WORD_CUT_LONG = 4;
const LONG_PAUSE = 0.5; // seconds
/** A sentence, or a clause, ends without a pause. */
const SENTENCE_INSIDE = 1.5;
const CLAUSE_INSIDE = 0.2;
/** A stretch that differs from its words by these seconds, plus this part of it, has a penalty of 1. */
const SPREAD_SECONDS = 0.15;
const SPREAD_PART = 0.15;
/** Longest time of the words that are tried in a stretch: its length times the first, plus seconds. */
const MOST_TIME = [3, 2] as const;
const MOST_STEPS = 5_000_000; // ends of stretches times the begins that are tried for each: some 30 ms

/**
 * Chooses the words of each stretch of speech. Dynamic programming finds the least sum of penalties: words
 * take about as long as their stretch, and stretches end after sentences rather than within them.
 */
class StretchChoice {
  readonly #shares: readonly Share[];
  readonly #stretches: readonly SpeechStretch[];
  /** Seconds of all words before each word, and the penalties of the stops before it. */
  readonly #seconds: Float64Array;
  readonly #stops: Float64Array;
  #steps = 0;

  constructor(shares: readonly Share[], stretches: readonly SpeechStretch[]) {
    this.#shares = shares;
    this.#stretches = stretches;
    const letters = shares.reduce((sum, { length }) => sum + length, 0);
    const speech = stretches.reduce((sum, one) => sum + lengthOf(one), 0);
    this.#seconds = sums(shares.map(({ length }) => (letters > 0 ? (length * speech) / letters : 0)));
    this.#stops = sums(shares.map(({ stop }) => penaltyInside(stop)));
  }

  /** The word after the last one of each stretch. */
  ends(): number[] {
    const [words, count] = [this.#shares.length, this.#stretches.length];
    let least = new Float64Array(words + 1).fill(Infinity);
    least[0] = 0;
    const begins: Uint32Array[] = [];
    for (let stretch = 0; stretch < count; stretch++) {
      const [next, begin] = [new Float64Array(words + 1).fill(Infinity), new Uint32Array(words + 1)];
      for (let to = 0; to <= words; to++) {
        this.#steps += this.#choose(stretch, to, { least, next, begin });
        if (this.#steps > MOST_STEPS) return this.#endsByLength();
      }
      least = next;
      begins.push(begin);
    }
    if (least[words] === Infinity) return this.#endsByLength();
    const ends: number[] = [];
    for (let stretch = count - 1, to = words; stretch >= 0; stretch--) {
      ends[stretch] = to;
      to = begins[stretch]?.[to] ?? 0;
    }
    return ends;
  }

  /** Finds the best first word of a stretch that ends before the word `to`. Returns the words it tried. */
  #choose(
    stretch: number,
    to: number,
    { least, next, begin }: { least: Float64Array; next: Float64Array; begin: Uint32Array },
  ): number {
    const has = lengthOf(this.#stretches[stretch]);
    const after = this.#costOfEnd(stretch, to);
    for (let from = to; from >= 0; from--) {
      const needs = (this.#seconds[to] ?? 0) - (this.#seconds[from] ?? 0);
      if (needs > MOST_TIME[0] * has + MOST_TIME[1] && to - from > 1) return to - from;
      const off = (needs - has) / (SPREAD_SECONDS + SPREAD_PART * Math.max(needs, has));
      const inside = to > from ? (this.#stops[to - 1] ?? 0) - (this.#stops[from] ?? 0) : 0;
      const cost = (least[from] ?? Infinity) + off * off + inside + (to > from ? after : 0);
      if (cost >= (next[to] ?? Infinity)) continue;
      next[to] = cost;
      begin[to] = from;
    }
    return to + 1;
  }

  #costOfEnd(stretch: number, to: number): number {
    const next = this.#stretches[stretch + 1]?.beginSeconds;
    const stop = this.#shares[to - 1]?.stop;
    if (next === undefined || stop === 'sentence') return 0;
    if (stop === 'clause') return CLAUSE_CUT;
    return next - (this.#stretches[stretch]?.endSeconds ?? next) < LONG_PAUSE ? WORD_CUT : WORD_CUT_LONG;
  }

  /** Each word is in the stretch in which its middle lies, as if there were no pauses. */
  #endsByLength(): number[] {
    let [word, passed] = [0, 0];
    return this.#stretches.map((stretch, n) => {
      passed += lengthOf(stretch);
      const middle = () => ((this.#seconds[word] ?? 0) + (this.#seconds[word + 1] ?? 0)) / 2;
      const isLast = n === this.#stretches.length - 1;
      while (word < this.#shares.length && (isLast || middle() < passed)) word++;
      return word;
    });
  }
}

function lengthOf(stretch: SpeechStretch | undefined): number {
  return stretch === undefined ? 0 : stretch.endSeconds - stretch.beginSeconds;
}

function penaltyInside(stop: Share['stop']): number {
  if (stop === undefined) return 0;
  return stop === 'sentence' ? SENTENCE_INSIDE : CLAUSE_INSIDE;
}

function sums(values: readonly number[]): Float64Array {
  const all = new Float64Array(values.length + 1);
  for (const [n, value] of values.entries()) all[n + 1] = (all[n] ?? 0) + value;
  return all;
}

function sharesOf(text: string): Share[] {
  const spans = [...text.matchAll(/\S+/gu)].flatMap(({ 0: run, index }) => spansOf(run, index));
  return spans.map(([start, end], n) => {
    const word = text.slice(start, end);
    const length = IDEOGRAPH.test(word) ? IDEOGRAPH_LETTERS : lettersOf(word);
    const after = text.slice(end, spans[n + 1]?.[0] ?? text.length);
    const stop = SENTENCE_STOP.test(after) ? 'sentence' : CLAUSE_STOP.test(after) ? 'clause' : undefined;
    return { start, end, length, stop };
  });
}

/** The ideographs of a run without white space, and the stretches between them, from letter to letter. */
function spansOf(run: string, offset: number): [number, number][] {
  return [...run.matchAll(/\p{Script=Han}|[^\p{Script=Han}]+/gu)].flatMap(({ 0: part, index }) => {
    const first = nextKept(part, 0);
    if (first === part.length) return [];
    const trimmed = part.replace(/[^'\p{L}\p{N}\p{M}]+$/u, '');
    return [[offset + index + first, offset + index + trimmed.length] satisfies [number, number]];
  });
}

function lettersOf(word: string): number {
  return Array.from(word).filter((character) => KEPT.test(character)).length;
}

/** Gives the times of stretches of a text. */
export class TextTimes {
  readonly #timed: TimedText;

  constructor(timed: TimedText) {
    this.#timed = timed;
  }

  /**
   * When a stretch of the text was said; within a word by share of its length. A stretch without a word has
   * the time between its neighbours.
   */
  of(start: number, end: number): { beginSeconds: number; endSeconds: number } {
    const { words, beginSeconds, endSeconds } = this.#timed;
    const first = this.#firstEndingAfter(start);
    const word = words[first];
    const before = words[first - 1]?.endSeconds ?? beginSeconds;
    if (word === undefined || word.start >= end) {
      return { beginSeconds: before, endSeconds: Math.max(before, word?.beginSeconds ?? endSeconds) };
    }
    let last = first;
    while ((words[last + 1]?.start ?? Infinity) < end) last++;
    const lastWord = words[last] ?? word;
    return { beginSeconds: secondsAt(word, start), endSeconds: secondsAt(lastWord, end) };
  }

  #firstEndingAfter(offset: number): number {
    const { words } = this.#timed;
    let low = 0;
    let high = words.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((words[middle]?.end ?? 0) > offset) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

function secondsAt({ start, end, beginSeconds, endSeconds }: TimedWord, offset: number): number {
  const share = (Math.min(Math.max(offset, start), end) - start) / (end - start);
  return beginSeconds + share * (endSeconds - beginSeconds);
}
