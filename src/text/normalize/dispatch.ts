// Asks at a place of the text only those recognisers that may know a token there. The characters that decide
// are the first one and the one behind the digits or letters. The lists that they lead to are kept.
import { DIGIT, isSmallAt, LETTER } from './characters.js';
import { certain, type Reading, type Recogniser } from './reading.js';

/** The characters that decide which recognisers are asked at a place. */
export interface Place {
  /** '0' stands for every digit. */
  readonly first: string;
  /**
   * The character behind the digits or letters, and behind digits the next one as well; '' at the end of the
   * text, and at a mark.
   */
  readonly behind: string;
  /** Number of digits, `MOST_DIGITS` of longer numbers; 0 at other characters. */
  readonly digits: number;
  /** The second letter of a word is small. */
  readonly isSmallBehind: boolean;
  /** The word or number does not begin before this place. */
  readonly isFresh: boolean;
}

/** A recogniser, and the places where it may know a token; elsewhere it is not asked. */
export interface Row {
  readonly knows: (place: Place) => boolean;
  readonly recognise: Recogniser;
}

/** A recogniser alone is asked everywhere. */
export type Asked = Recogniser | Row | readonly Asked[];

/** Asked where a word or number begins, and where the characters behind it match. */
export function behind(pattern: RegExp, recognise: Recogniser, most = MOST_DIGITS): Row {
  return {
    knows: (place) => place.isFresh && place.digits <= most && pattern.test(place.behind),
    recognise,
  };
}

/** Asked at such a character. */
export function beginning(pattern: RegExp, recognise: Recogniser): Row {
  return { knows: ({ first }) => pattern.test(first), recognise };
}

/** The rows at those places alone. */
export function only(allows: (place: Place) => boolean, rows: readonly Row[]): readonly Row[] {
  return rows.map(({ knows, recognise }) => ({ knows: (place) => allows(place) && knows(place), recognise }));
}

/** Marks its candidates as proven. */
export function provenRow({ knows, recognise }: Row): Row {
  return { knows, recognise: certain(recognise) };
}

const NONE: readonly Recogniser[] = [];
const MOST_DIGITS = 16;
const MOST_LISTS = 4096; // a text of many rare characters does not fill the memory

export class Dispatch {
  readonly #rows: readonly Row[];
  /** By the first key of a place, then by the second. */
  readonly #lists = new Map<number, Map<number, readonly Recogniser[]>>();
  #count = 0;

  constructor(asked: Asked) {
    this.#rows = rowsOf(asked);
  }

  /** The recognisers for the place where the reading stands, in order. */
  at(reading: Reading): readonly Recogniser[] {
    if (this.#rows.length === 0) return NONE; // ideographs, of which there are many
    const { text, at, kind } = reading;
    const flags = reading.isFresh ? 1 : 0;
    if (kind === DIGIT) {
      const { runEnd } = reading;
      const digits = Math.min(runEnd - at, MOST_DIGITS);
      return this.#listOf(reading, unitAt(text, runEnd) * 64 + digits * 2 + flags, unitAt(text, runEnd + 1));
    }
    const first = text.charCodeAt(at) * 4 + flags;
    if (kind !== LETTER) return this.#listOf(reading, first, 0);
    return this.#listOf(reading, isSmallAt(text, at + 1) ? first + 2 : first, unitAt(text, reading.runEnd));
  }

  #listOf(reading: Reading, key: number, next: number): readonly Recogniser[] {
    return this.#lists.get(key)?.get(next) ?? this.#learn(reading, key, next);
  }

  #learn(reading: Reading, key: number, next: number): readonly Recogniser[] {
    const place = placeOf(reading);
    const list = this.#rows.filter(({ knows }) => knows(place)).map(({ recognise }) => recognise);
    if (++this.#count > MOST_LISTS) {
      this.#lists.clear();
      this.#count = 1;
    }
    const known = this.#lists.get(key) ?? new Map<number, readonly Recogniser[]>();
    this.#lists.set(key, known.set(next, list));
    return list;
  }
}

/** Behind the text stands a unit that no text has. */
function unitAt(text: string, at: number): number {
  return at < text.length ? text.charCodeAt(at) : 0x10000;
}

function rowsOf(asked: Asked): readonly Row[] {
  if (typeof asked === 'function') return [{ knows: () => true, recognise: asked }];
  return 'knows' in asked ? [asked] : asked.flatMap(rowsOf);
}

function placeOf({ text, at, kind, runEnd, isFresh }: Reading): Place {
  const [isDigit, isLetter] = [kind === DIGIT, kind === LETTER];
  return {
    first: isDigit ? '0' : (text[at] ?? ''),
    behind: isDigit ? text.slice(runEnd, runEnd + 2) : isLetter ? (text[runEnd] ?? '') : '',
    digits: isDigit ? Math.min(runEnd - at, MOST_DIGITS) : 0,
    isSmallBehind: isLetter && isSmallAt(text, at + 1),
    isFresh,
  };
}
