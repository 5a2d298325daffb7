// Amounts, dates and times as they are written, and the nouns that stand with them.
import type { Numeral } from './numerals.js';

/** A noun that stands with a number: a unit, a currency, a part of one. */
export interface Noun {
  /** In the order that the language's own functions expect: one, many; or one, few, many, ... */
  readonly forms: readonly string[];
  readonly gender?: 'm' | 'f' | 'n';
  /** Said before the number instead of behind it, or whatever else the language's functions look for. */
  readonly form?: string | undefined;
}

export interface Currency extends Noun {
  /** A hundredth of it, where it has one. */
  readonly minor?: Noun | undefined;
}

/** Million, billion, ...: what multiplies the number before it. */
export interface Magnitude extends Noun {
  /** Powers of ten. */
  readonly power: number;
}

/** A number, or a range of two, that may be multiplied. */
export interface Quantity {
  readonly number: Numeral;
  /** End of a range. */
  readonly to?: Numeral | undefined;
  readonly magnitude?: Magnitude | undefined;
  /** As in 3 1/2. */
  readonly fraction?: Fraction | undefined;
}

export interface Fraction {
  readonly numerator: string;
  readonly denominator: string;
}

export interface WrittenDate {
  /** 1 to 31, as digits without zeros. */
  readonly day?: string | undefined;
  /** Last day of a range within the month. */
  readonly dayTo?: string | undefined;
  /** The two days are named one by one; they are no range: 5/6 May. */
  readonly isPair?: true;
  /** 1 to 12. */
  readonly month?: number;
  /** As written: two or four digits. */
  readonly year?: string | undefined;
  /** 0 (Monday) to 6, where an abbreviation names it. */
  readonly weekday?: number;
  /** Order of the parts where the language writes a date in figures. */
  readonly order?: 'dmy' | 'mdy' | 'ymd' | undefined;
  /** Written form of the month: a name, or a number between marks. */
  readonly style: 'name' | 'numeric';
}

export interface WrittenTime {
  /** As digits without zeros. */
  readonly hours: string;
  /** Two digits; '' if not written. */
  readonly minutes: string;
  readonly seconds?: string | undefined;
  /** The written half of the day, if any. */
  readonly half?: string | undefined;
  /** The language's word for "o'clock", where it is written. */
  readonly word?: string | undefined;
  readonly zone?: string | undefined;
}

/** A part of a duration: its digits and its unit. */
export type ClockPart = readonly [amount: string, unit: 'h' | 'min' | 's'];
