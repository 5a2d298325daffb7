// Interface of a language for the normaliser: written forms (data) and spoken forms (functions). See
// `normalize.ts` for how to add one.
import type { Asked } from './dispatch.js';
import type { NumberFormat, Numeral } from './numerals.js';
import type {
  ClockPart,
  Currency,
  Fraction,
  Magnitude,
  Noun,
  Quantity,
  WrittenDate,
  WrittenTime,
} from './quantity.js';
import type { Around } from './reading.js';

interface DateFormat {
  /** Months with all their names, abbreviations and cases: the first is January. Capitals do not matter. */
  readonly months: readonly (readonly string[])[];
  /** Weekdays likewise, the first is Monday. */
  readonly weekdays: readonly (readonly string[])[];
  /**
   * Order of the parts of a date in figures, by the mark between them; a mark that is not there makes no
   * date.
   */
  readonly orders: Readonly<Partial<Record<'/' | '.' | '-', 'dmy' | 'mdy' | 'ymd'>>>;
  /** Position of the month's name: 15 January, January 15, or both. */
  readonly named: readonly ('day-month' | 'month-day')[];
  /** Source of an expression for what follows the figure of a day before a month: st, er, a full stop. */
  readonly dayMark: string;
  /** Source of an expression for what stands between the parts of a written date. */
  readonly between: string;
}

interface TimeFormat {
  /** Marks between hours and minutes. */
  readonly marks: readonly (':' | '.' | 'h')[];
  /** Written forms of the halves of the day, with their spoken forms. */
  readonly halves: Readonly<Record<string, string>>;
  /** Words for "o'clock" behind a time, and what is said for them. */
  readonly words: Readonly<Record<string, string>>;
  /** Time zones as written and as said. */
  readonly zones: Readonly<Record<string, string>>;
}

/**
 * Spoken form of a written one: fixed words, or a function of its neighbours. Undefined leaves it as written.
 */
export type Saying = string | ((around: Around) => string | undefined);

export interface TelephoneFormat {
  /** Sticky expressions for numbers of the country, each from its first digit or bracket. */
  readonly patterns: readonly RegExp[];
  /** Words before digits that are certainly a telephone number, in small letters. */
  readonly keywords: ReadonlySet<string>;
}

export interface Writing {
  readonly numbers: NumberFormat;
  readonly dates: DateFormat;
  readonly times: TimeFormat;
  readonly telephone: TelephoneFormat;
  /** Keyed by ISO code. */
  readonly currencies: Readonly<Record<string, Currency>>;
  /** Signs and short forms to ISO codes; the ISO codes themselves are known. */
  readonly currencySigns: Readonly<Record<string, string>>;
  /** Units as written behind a number; the percent sign is one of them. */
  readonly units: Readonly<Record<string, Noun>>;
  /** Behind the slash of "5 km/day" or "$20/month": the written form and the whole phrase ("per month"). */
  readonly per: Readonly<Record<string, string>>;
  /** As written behind a number; a form of one letter only where it is attached. */
  readonly magnitudes: Readonly<Record<string, Magnitude>>;
  /** Magnitudes that count only behind an amount whose currency stands in front: £5m. */
  readonly moneyMagnitudes?: Readonly<Record<string, Magnitude>>;
  /**
   * Source of an expression for what makes a number an ordinal: st|nd|rd|th; '' if only its own recognisers
   * know.
   */
  readonly ordinalMark: string;
  /** Source of an expression for letters behind a fraction in figures: rds, avos; '' if none are written. */
  readonly fractionMark: string;
  /** Beginnings of words near the points that somebody has got, in small letters. */
  readonly gradeWords: ReadonlySet<string>;
  /** Short forms that are said in full. A form that holds a full stop is written with it. */
  readonly abbreviations: Readonly<Record<string, Saying>>;
  /** Said when a number follows: No. 5, p. 12, § 3. */
  readonly beforeNumber: Readonly<Record<string, string>>;
  /** Written in capitals and spelled, although it could be read. */
  readonly spelled: ReadonlySet<string>;
  /** Spoken plural ending behind the letters of "PDFs"; "s" by default. */
  readonly letterPlural?: string;
  /** Written in capitals and read as a word, although it has no vowel or is short. */
  readonly read: ReadonlySet<string>;
  /** Behind these words (in small letters) a Roman numeral is a number; what kind of one. */
  readonly romanAfter: Readonly<Record<string, 'cardinal' | 'ordinal'>>;
  /** Before these words (in small letters) a Roman numeral is an ordinal: XX век, XXe siècle. */
  readonly romanBefore: ReadonlySet<string>;
  /** Behind these words (in small letters) a number is said digit by digit: code, PIN, flight. */
  readonly digitsAfter: ReadonlySet<string>;
  /** Source of an expression for what makes 1990 or 90 a decade; '' if nothing does. */
  readonly decadeMark: string;
  /** May stand between such a word and its number: "code is 4711"; in small letters. */
  readonly linking: ReadonlySet<string>;
  /** Behind these words a number of four digits is a year; in small letters. */
  readonly yearAfter: ReadonlySet<string>;
  /** Words of a game's result, in small letters: before or behind 3-1 they make it a score. */
  readonly scoreWords: ReadonlySet<string>;
  /** Words for the figures of a number: the "digits" of "the last 4 digits are 8812". */
  readonly digitWords: ReadonlySet<string>;
  /** Words before a number that is called, in small letters: dial, wählen. */
  readonly callWords: ReadonlySet<string>;
  /** Titles before a name, as the short forms have them; in capitals they mean the same. */
  readonly titles: ReadonlySet<string>;
  /** Words that begin a condition, in small letters: "if" makes the > of "if Profit > Loss" a relation. */
  readonly conditions: ReadonlySet<string>;
  /** Names of pages and menus, in small letters: an arrow behind one leads to a page within. */
  readonly menus: ReadonlySet<string>;
  /** Before an airport: from, to, via. */
  readonly journeyWords: ReadonlySet<string>;
  /** Behind a lone number sign these words make it "number of": the # of users. */
  readonly countedOf: ReadonlySet<string>;
  /** Words of a text message, in small letters: SMS, text. Its number is short and said digit by digit. */
  readonly messageWords: ReadonlySet<string>;
  /** Between the message and the number it goes to, or behind that number: to, an die, 到. */
  readonly messageTo: ReadonlySet<string>;
  /** Words that stand near a point of the compass, in small letters: wind, gusts. */
  readonly windWords: ReadonlySet<string>;
  /** Names of the points of the compass by their letters: NW. */
  readonly compass: Readonly<Record<string, string>>;
  /** Names of software, in small letters: in "Python 3.12" the parts are said as numbers. */
  readonly softwareNames: ReadonlySet<string>;
  /** Behind these words (in small letters) a number and a letter name a place: room 12 B, Halle 7 K. */
  readonly placeWords: ReadonlySet<string>;
  /** Articles, and words for "per", behind which one unit stands without a number: pro m². */
  readonly unitWords: ReadonlySet<string>;
  /** Books of the Bible by their names and short forms, as written, with the names that are said. */
  readonly books: Readonly<Record<string, string>>;
  /** End of the text before a code, where words are not parted by spaces. */
  readonly codeBefore?: RegExp;
  /** Names of the states of the USA, by their letters; without a name the letters are said. */
  readonly states?: Readonly<Record<string, string>>;
}

/** Names of signs. */
export interface SymbolNames {
  /**
   * Within addresses, file names and codes: one for each of @ . / - _ : # ? = & + ~ % * and the backslash.
   */
  readonly inAddress: Readonly<Record<string, string>>;
  /** Between or before numbers and words: + = × < ... A sign that is not here is left as written. */
  readonly inMath: Readonly<Record<string, string>>;
  /**
   * Signs before a number with nothing on the left: <10 ms, ~5, >90 %. What is not here is taken from
   * `inMath`.
   */
  readonly inFront: Readonly<Record<string, string>>;
  /** Relations that qualify the noun before them: children < 3 years, parcels > 30 kg. */
  readonly behindNoun: Readonly<Record<string, string>>;
  /** The × before a power of ten, where it is not that of `inMath`. */
  readonly timesPower?: string;
  /** Standing alone in running text: & § © → °. */
  readonly inText: Readonly<Record<string, string>>;
  /** Between the numbers of a version. */
  readonly versionPoint: string;
  /** For the v of v2.1. */
  readonly version: string;
  readonly minus: string;
  readonly plus: string;
  /** Telephone keys: the names of * and #, and words before or behind a sign that mark it as a key. */
  readonly keys: {
    readonly star: string;
    readonly hash: string;
    readonly before: RegExp;
    readonly behind?: RegExp;
  };
  /** Before the word of #word. */
  readonly hashtag: string;
  /** Said between two currencies of a rate, where that is more than a space. */
  readonly betweenCurrencies?: string;
  /** Mark of the pause between the names of a path through menus. */
  readonly pause: string;
  /** Before a thing that has a price and is not in the table `per`: $15/bag. */
  readonly per?: string;
  /**
   * Words for well-known ends of names: com, org, gmail, pdf. What is not here is read or spelled by its
   * letters.
   */
  readonly addressWords: Readonly<Record<string, string>>;
}

/** Spoken forms. Every function returns words only; undefined leaves the token as written. */
export interface Speech {
  /** A number with its sign and decimals; before a noun in that noun's gender. */
  number(numeral: Numeral, around: Around, noun?: Noun): string;
  /** An ordinal in the form that its neighbours ask for; `mark` is what was written behind the digits. */
  ordinal(digits: string, around: Around, mark: string): string | undefined;
  /** Each digit by its name. */
  digits(digits: string): string;
  /** Each letter by its name or as a capital that stands alone. */
  letters(letters: string): string;
  /**
   * Four digits as a year, or undefined where they count something; `sure` if a word or date says that it is
   * one.
   */
  year(digits: string, around: Around, sure: boolean): string | undefined;
  /** The 1990s, die 90er: the digits without the mark; undefined where the language has no such form. */
  decade(digits: string, around: Around): string | undefined;
  fraction(fraction: Fraction, around: Around, whole?: Numeral): string | undefined;
  /** Half a litre, 3/4 cup; by default the fraction and then the unit in its first form. */
  fractionOf?(fraction: Fraction, unit: Noun, around: Around): string;
  /** A plain number, range or magnitude, with what follows it in the text. */
  count(quantity: Quantity, around: Around): string;
  measure(quantity: Quantity, unit: Noun, around: Around): string;
  money(quantity: Quantity, currency: Currency, around: Around): string;
  /** The phrase for each amount, where its word stands behind it: 三十秒あたり. */
  per?(amount: string): string;
  /** An amount and the phrase for each unit; by default in this order. */
  /** The word for № behind another one, in a language with cases. */
  numberSign?(before: string): string | undefined;
  rate?(amount: string, per: string, around: Around, isMoney: boolean): string;
  date(date: WrittenDate, around: Around): string | undefined;
  time(time: WrittenTime, around: Around): string | undefined;
  /** A duration as written on a clock, 1:05:20 or 2h 30m: hours, minutes, seconds as digits. */
  duration(parts: readonly ClockPart[], around: Around): string;
  /** Behind a number or name: squared, hoch zwei. The exponent may have a minus. */
  power(exponent: string): string | undefined;
  range(from: string, to: string, around: Around): string;
  score(home: string, guest: string): string;
  /** The scale of a map, 1:25 000, as digits; by default as a score. */
  ratio?(one: string, many: string): string;
  /** The 6 of 6 × 750 ml: how often there is an amount; by default the number and the name of ×. */
  times?(number: Numeral): string;
  /** Behind the name of a book of the Bible, in words: chapter, then the first and the last verse. */
  verse?(book: string, chapter: string, verses: readonly string[]): string;
  /** A chemical element by its symbol; by default the letters. */
  element?(symbol: string): string;
  /** B2B, P2P: the letters on both sides of the 2. */
  exchange(from: string, to: string): string;
  /** The i, 7 and 12700 of i7-12700K. */
  processor(brand: string, series: string, model: string): string;
  /** Points of the most that there are, as digits: 742 out of 850. `behind` is the text that follows. */
  outOf(got: string, most: string, behind: string): string;
  /** 24+ hrs: the number, and the space and noun behind it; the noun is empty where it stands in the text. */
  atLeast(number: string, noun: string, around: Around): string;
  /** Groups of digits as written; `plus` of an international number. */
  telephone(groups: readonly string[], plus: boolean): string;
}

export interface Language {
  /** BCP 47 primary tag. */
  readonly tag: string;
  readonly writing: Writing;
  readonly symbols: SymbolNames;
  readonly speech: Speech;
  /**
   * Its words are not parted by spaces: within the words of a token, and between them and an ideograph, there
   * is none.
   */
  readonly unspaced?: true;
  /**
   * Asked once a text: turns the words of a token into the characters of that text, where it has two scripts.
   */
  readonly respell?: (text: string) => ((spoken: string) => string) | undefined;
  /**
   * Builds a noun from a table's row, where more forms are derived than a speaker writes. By default the last
   * form stands for those that are missing.
   */
  readonly noun?: (row: {
    readonly forms: readonly string[];
    readonly gender?: 'm' | 'f' | 'n' | undefined;
    readonly form?: string | undefined;
  }) => Noun;
  /**
   * Texts that may follow a beginning and change its words. The first clause of a text is not spoken before
   * its sentence has arrived if one of them does.
   */
  readonly continuations?: readonly string[];
  /** Recognisers of its own; they are asked before the shared ones. */
  readonly own?: OwnRecognisers;
  /** Returns the own recognisers for an order of dates in figures, which a variant may change. */
  readonly ownOf?: (order: 'dmy' | 'mdy' | 'ymd') => OwnRecognisers;
}

interface OwnRecognisers {
  readonly atDigit?: readonly Asked[];
  readonly atLetter?: readonly Asked[];
  readonly atMark?: readonly Asked[];
  readonly atIdeograph?: readonly Asked[];
}
