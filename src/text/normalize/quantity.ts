// Amounts as they are written, and the nouns that stand with them.
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
  /** The magnitude was written behind both: 5万〜10万. */
  readonly repeated?: true | undefined;
  /** As in 3 1/2. */
  readonly fraction?: Fraction | undefined;
}

export interface Fraction {
  readonly numerator: string;
  readonly denominator: string;
}
