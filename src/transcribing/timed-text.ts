// Places times on a text: those of an aligner's words, or the time of the whole text, shared out by length.
import type { AlignedWord } from '../engines/recogniser.js';

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
const SENTENCE_PAUSE = 6; // letters
const CLAUSE_PAUSE = 3; // letters

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
  readonly pause: number;
}

/** Shares the time of a text out to its words, by their lengths and the stops between them. */
export function shareTime(text: string, beginSeconds: number, endSeconds: number): TimedWord[] {
  const shares = sharesOf(text);
  // After the last word comes no pause.
  const whole =
    shares.reduce((sum, { length, pause }) => sum + length + pause, 0) - (shares.at(-1)?.pause ?? 0);
  const secondsOfLetter = whole > 0 ? (endSeconds - beginSeconds) / whole : 0;
  let passed = 0;
  return shares.map(({ start, end, length, pause }) => {
    const begin = beginSeconds + passed * secondsOfLetter;
    const over = Math.min(endSeconds, beginSeconds + (passed + length) * secondsOfLetter);
    passed += length + pause;
    return { start, end, beginSeconds: begin, endSeconds: over };
  });
}

function sharesOf(text: string): Share[] {
  const spans = [...text.matchAll(/\S+/gu)].flatMap(({ 0: run, index }) => spansOf(run, index));
  return spans.map(([start, end], n) => {
    const word = text.slice(start, end);
    const length = IDEOGRAPH.test(word) ? IDEOGRAPH_LETTERS : lettersOf(word);
    const after = text.slice(end, spans[n + 1]?.[0] ?? text.length);
    const pause = SENTENCE_STOP.test(after) ? SENTENCE_PAUSE : CLAUSE_STOP.test(after) ? CLAUSE_PAUSE : 0;
    return { start, end, length, pause };
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
