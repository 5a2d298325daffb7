// Which characters of a sentence belong to which piece of its sound, and when in
// the piece each begins.
//
// A piece goes out before anybody knows how long the sentence will be, so until
// the engine has ended the times are an estimate; from then on they are what it
// told. Words stay together: a piece has the words that begin in it, the last
// one has the rest, and every character is in exactly one piece.
//
// Pipecat's clock counts only pieces in which a word has ended, and a word ends
// with the space after it. So that space begins the next piece, and pieces are
// best cut before one.
import type { SpokenSentenceSound } from '../../speaking/spoken-sentences.js';

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
  /** The first piece need not wait for the end of a word, only for as much sound. */
  readonly firstMs?: number;
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

  constructor(text: string, { separated, leadMs, msPerChar, firstMs }: AlignmentOptions) {
    this.#chars = Array.from(separated ? ` ${text}` : text);
    this.#separators = separated ? 1 : 0;
    const beginMs = separated ? leadMs : 0;
    this.#startsMs = this.#chars.map((_, index) =>
      index < this.#separators ? 0 : beginMs + (index - this.#separators) * msPerChar,
    );
    const words = wordsOf(this.#chars);
    const soon = firstMs === undefined ? 0 : this.#startsMs.findIndex((ms) => ms >= firstMs);
    this.#words = soon > 0 && soon < (words[1] ?? Infinity) ? [0, soon, ...words.slice(1)] : words;
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

/** White space belongs to the word after it. */
function wordsOf(chars: readonly string[]): number[] {
  const words: number[] = [];
  let run = 0; // characters since the last beginning
  for (const [index, char] of chars.entries()) {
    const before = chars[index - 1] ?? '';
    const [isSpace, afterSpace] = [/\s/u.test(char), /\s/u.test(before)];
    const unspaced = !afterSpace && (UNSPACED.test(char) || UNSPACED.test(before));
    const begins = index === 0 || (isSpace && !afterSpace) || unspaced || run >= LONGEST_WORD;
    if (begins) words.push(index);
    run = begins ? 1 : run + 1;
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
