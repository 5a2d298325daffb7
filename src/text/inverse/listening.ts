// The words of one language that only a listener needs. Number words, names of months, currencies, units and
// signs are those of the normaliser's `Language`.
import type { HeardNumbers } from './number-words.js';

export interface Listening {
  readonly numbers: HeardNumbers;
  /** An apostrophe parts words: l'arobase, d'euros. */
  readonly elides: boolean;
  /** A zero among digits; in small letters and without accents, as all words here. */
  readonly zeros: ReadonlySet<string>;
  /** Before a digit or letter that is said once and meant several times. */
  readonly repeats: Readonly<Record<string, number>>;
  /** Parts decimals: point, Komma. */
  readonly points: ReadonlySet<string>;
  readonly minus: ReadonlySet<string>;
  readonly plus: ReadonlySet<string>;
  /** Between the ends of a range: to, bis. */
  readonly rangeWords: ReadonlySet<string>;
  /** Before a range: between, zwischen. */
  readonly beforeRange: ReadonlySet<string>;
  /** Between its ends then: and, und. */
  readonly rangeEnds: ReadonlySet<string>;
  /** Between an amount and its hundredths. */
  readonly withMinor: ReadonlySet<string>;
  /** Words that cannot be counted by the number before them. */
  readonly closing: ReadonlySet<string>;
  /** Behind a round number that is meant as "many". */
  readonly manyOf: ReadonlySet<string>;
  /** Between the groups of a telephone number. */
  readonly groupMark: '-' | ' ';
  /** Figures of a telephone number that was said without pauses; undefined leaves them together. */
  readonly telephone: (digits: string) => string | undefined;
  readonly money: {
    /** The sign stands before the figures. */
    readonly isSignFirst: boolean;
    /** One before a noun is the article: ein Euro, un kilomètre. */
    readonly countsArticle: boolean;
  };
  readonly space: {
    /** Between figures and the percent sign, and between figures and degrees. */
    readonly percent: '' | ' ';
    readonly degree: '' | ' ';
  };
  /** Other names of units, with their signs. */
  readonly units: Readonly<Record<string, string>>;
  /** Around digits that are asked for, these say nothing: my PIN is 4207, please. */
  readonly fillers: ReadonlySet<string>;
  readonly addresses: AddressWords;
  readonly spelling: SpellingWords;
}

interface AddressWords {
  readonly at: readonly string[];
  /** Other names of the signs in addresses. */
  readonly signs: Readonly<Record<string, string>>;
  /** The word for "at" is a word of prose, too. */
  readonly isAtInProse: boolean;
  /** So is the word for the dot: ce point est. */
  readonly isDotInProse: boolean;
  /** Behind these, the words before "at" are one local part: my email is jane doe at … */
  readonly before: ReadonlySet<string>;
  /** Before "at", these are no local part. */
  readonly notLocal: ReadonlySet<string>;
  /** No address begins with these. */
  readonly outside: ReadonlySet<string>;
}

interface SpellingWords {
  /** Between a letter and a word that begins with it: as in, for, wie. */
  readonly like: readonly string[];
  /** Names of letters that have several words, or none of their own: double u. */
  readonly letters: Readonly<Record<string, string>>;
  /** Words that stand for their first letter. */
  readonly alphabet: ReadonlySet<string>;
  /** Before letters, these words say that a name is spelled. */
  readonly cues: ReadonlySet<string>;
  /** Letters that are words of their own. */
  readonly words: ReadonlySet<string>;
}

/** In small letters, parted by white space. */
export function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}
