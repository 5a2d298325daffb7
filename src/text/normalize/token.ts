// The types of tokens whose words a language supplies. A recogniser yields a token without words, and only the
// chosen one is said (`say.ts`), so a candidate that is not chosen costs no words.
import type { Currency, Fraction, Noun, Quantity } from './language.js';
import type { Numeral } from './numerals.js';
import type { Around, TypedFound } from './reading.js';

interface Kinds {
  /** A plain number, a range of two, or a number with a magnitude or fraction. */
  readonly count: { readonly quantity: Quantity };
  /** Four digits. `isSure`: a word before them says that they are a year. */
  readonly year: { readonly digits: string; readonly isSure: boolean };
  readonly money: { readonly quantity: Quantity; readonly currency: Currency };
  readonly measure: { readonly quantity: Quantity; readonly unit: Noun };
  /** The number of a 5-km run. */
  readonly attribute: { readonly numeral: Numeral; readonly unit: string };
  /** 1/2, 3/4 cup */
  readonly fraction: { readonly fraction: Fraction; readonly unit: Noun | undefined };
  /** 5 €/kg: a token and the phrase for each unit behind a stroke. */
  readonly rate: { readonly of: Token; readonly per: string };
  /** ±2: a sign that is no part of the number. */
  readonly signed: { readonly sign: string; readonly of: Token };
  /** 5%-6%: two tokens of one type. */
  readonly range: { readonly from: Token; readonly to: Token };
}

/** What a recogniser has found, and its neighbours. */
export type Token = {
  [Type in keyof Kinds]: Kinds[Type] & { readonly type: Type; readonly around: Around };
}[keyof Kinds];

/** The second candidate is taken if the language has no words for the first. */
export function either(first: TypedFound, second: () => TypedFound | undefined): TypedFound {
  return { ...first, otherwise: second };
}
