// Which characters of a sentence belong to which piece of its sound, and when in
// the piece each begins.
//
// A piece goes out before anybody knows how long the sentence will be, so until
// the engine has ended the times are an estimate; from then on they are what it
// told. Words stay together: a piece has the words that begin in it, the last
// one has the rest, and every character is in exactly one piece. Clients count
// the words of a piece to know where they are, so pieces are best cut where a
// word begins.
import type { SpokenSentenceSound } from '../call/spoken-sentences.js';

/** Lists of one length; times in whole milliseconds from the beginning of the piece. */
export interface Alignment {
  /** Code points. */
  readonly chars: readonly string[];
  readonly charStartTimesMs: readonly number[];
  /** They add up to the length of the piece. */
  readonly charDurationsMs: readonly number[];
}

type SoundOutcome = NonNullable<Awaited<SpokenSentenceSound['sound']['outcome']>>;

export interface AlignmentOptions {
  /** A space goes before the text: it covers the pause. */
  readonly separated: boolean;
  /** Of the pause, as long as nothing better is known. */
  readonly leadMs: number;
  readonly msPerChar: number;
}

const MOST_MS = 500; // of one piece: as exactly an interruption can be placed
const LONGEST_WORD = 20; // characters; of a longer run each character counts as a word
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
const NEARLY_MS = 0.5; // the pieces of a rate need not be whole samples of the estimate

export class ChunkAlignment {
  readonly #chars: readonly string[];
  /** Where each character begins in the sound, in milliseconds; ascending. */
  #startsMs: number[];
  /** Indexes at which a word begins. */
  readonly #words: readonly number[];
  readonly #separators: number;
  #given = 0;
  #positionMs = 0;

  constructor(text: string, { separated, leadMs, msPerChar }: AlignmentOptions) {
    this.#chars = separated ? [' ', ...text] : [...text];
    this.#separators = separated ? 1 : 0;
    this.#words = wordsOf(this.#chars);
    const firstMs = separated ? leadMs : 0;
    this.#startsMs = this.#chars.map((_, index) =>
      index < this.#separators ? 0 : firstMs + (index - this.#separators) * msPerChar,
    );
  }

  /** Sound that pieces were made of, in milliseconds. */
  get positionMs(): number {
    return this.#positionMs;
  }

  /** What the engine told at its end. */
  learn({ sentences }: SoundOutcome): void {
    const [first] = sentences;
    const last = sentences.at(-1);
    if (first === undefined || last === undefined) return;
    const length = this.#chars.slice(this.#separators).reduce((sum, char) => sum + char.length, 0);
    const words = sentences.length === 1 ? first.words : [];
    const pins = ascending([
      { offset: 0, ms: first.startMs },
      ...words.map(({ textOffset, startMs }) => ({ offset: textOffset, ms: startMs })),
      { offset: length, ms: last.endMs },
    ]);
    let offset = 0;
    this.#startsMs = this.#chars.map((char, index) => {
      if (index < this.#separators) return 0;
      const startMs = timeAt(pins, offset);
      offset += char.length;
      return startMs;
    });
  }

  /** How long the next piece should be: up to where a word begins, after `leastMs` if possible. */
  wantedMs(leastMs: number): number {
    for (const index of this.#words) {
      if (index <= this.#given) continue;
      const ms = this.#startOf(index) - this.#positionMs;
      if (ms > MOST_MS) break;
      if (ms >= leastMs) return ms;
    }
    return MOST_MS;
  }

  /** The characters of the next `ms` of sound; null where it has none. */
  take(ms: number, last: boolean): Alignment | null {
    const from = this.#given;
    const fromMs = Math.round(this.#positionMs);
    this.#positionMs += ms;
    const lengthMs = Math.round(this.#positionMs) - fromMs;
    this.#given = last ? this.#chars.length : this.#upTo(this.#positionMs - NEARLY_MS);
    if (this.#given === from) return null;
    const starts: number[] = [];
    for (let index = from; index < this.#given; index++) {
      const start = index === from ? 0 : Math.round(this.#startOf(index)) - fromMs;
      starts.push(Math.min(lengthMs, Math.max(starts.at(-1) ?? 0, start)));
    }
    return {
      chars: this.#chars.slice(from, this.#given),
      charStartTimesMs: starts,
      charDurationsMs: starts.map((start, index) => (starts[index + 1] ?? lengthMs) - start),
    };
  }

  #startOf(index: number): number {
    return this.#startsMs[index] ?? Infinity;
  }

  /** The first word that begins no earlier; one character at least is left for the last piece. */
  #upTo(ms: number): number {
    const most = this.#chars.length - 1;
    const next = this.#words.find((index) => index >= this.#given && this.#startOf(index) >= ms) ?? most;
    return Math.max(this.#given, Math.min(most, next));
  }
}

/** White space belongs to the word before it. */
function wordsOf(chars: readonly string[]): number[] {
  const words: number[] = [];
  let run = 0;
  for (const [index, char] of chars.entries()) {
    const before = chars[index - 1] ?? '';
    const isSpace = /\s/u.test(char);
    run = isSpace ? 0 : run + 1;
    const afterSpace = !isSpace && /\s/u.test(before);
    const unspaced = !isSpace && (UNSPACED.test(char) || UNSPACED.test(before));
    if (index === 0 || afterSpace || unspaced || run > LONGEST_WORD) words.push(index);
  }
  return words;
}

interface Pin {
  /** UTF-16 units. */
  readonly offset: number;
  readonly ms: number;
}

/** Neither offsets nor times run backwards, whatever an engine tells of its words. */
function ascending(pins: readonly Pin[]): Pin[] {
  const ordered: Pin[] = [];
  const most = pins.at(-1) ?? { offset: 0, ms: 0 };
  for (const { offset, ms } of pins) {
    const before = ordered.at(-1) ?? { offset: 0, ms: 0 };
    ordered.push({
      offset: Math.min(most.offset, Math.max(before.offset, offset)),
      ms: Math.min(most.ms, Math.max(before.ms, ms)),
    });
  }
  return ordered;
}

/** Between two pins time runs evenly. */
function timeAt(pins: readonly Pin[], offset: number): number {
  const index = pins.findLastIndex((pin) => pin.offset <= offset);
  const from = pins[index] ?? { offset: 0, ms: 0 };
  const to = pins[index + 1] ?? from;
  if (to.offset === from.offset) return from.ms;
  return from.ms + ((offset - from.offset) / (to.offset - from.offset)) * (to.ms - from.ms);
}
