// French number words. n2words is right for whole numbers (cents, vingts, "et un"); gender and decimals are
// said here.
import { toCardinal, toOrdinal } from 'n2words/fr-FR';
import { keptOrdinals, keptWords } from '../number-words.js';
import type { Numeral } from '../numerals.js';

const DIGITS = ['zéro', 'un', 'deux', 'trois', 'quatre', 'cinq', 'six', 'sept', 'huit', 'neuf'];
const MOST_DECIMALS = 3; // more of them are said one by one

const masculine = keptWords((digits) => toCardinal(digits));
const keptOrdinal = keptOrdinals((digits) => toOrdinal(digits).replace(/^un (?=m)/, ''), 'zéroième');

/** 21 pages are "vingt et une pages". */
export function cardinal(digits: string, feminine = false): string {
  const words = masculine(digits);
  return feminine ? words.replace(/(?<=^|[ -])un$/, 'une') : words;
}

/**
 * As the number of a page, a year or a decade: page quatre-vingt, les années quatre-vingt, page deux cent.
 */
export function rank(digits: string): string {
  return masculine(digits).replace(/(?<=quatre-vingt|\p{L} cent)s$/u, '');
}

export function ordinal(digits: string): string {
  return keptOrdinal(digits);
}

export function spellDigits(digits: string): string {
  return Array.from(digits, (digit) => DIGITS[Number(digit)] ?? digit).join(' ');
}

/** 3,14 trois virgule quatorze; 0,05 zéro virgule zéro cinq; 3,14159 digit by digit. */
export function decimal({ negative, whole, decimals }: Numeral, feminine = false): string {
  const sign = negative ? 'moins ' : '';
  if (decimals === '') return `${sign}${cardinal(whole, feminine)}`;
  return `${sign}${cardinal(whole)} virgule ${sayDecimals(decimals)}`;
}

function sayDecimals(decimals: string): string {
  if (decimals.length > MOST_DECIMALS || /^0*$/.test(decimals)) return spellDigits(decimals);
  return withLeadingZeros(decimals);
}

/** 05 zéro cinq, 007 zéro zéro sept, 12 douze. */
function withLeadingZeros(digits: string): string {
  const rest = digits.replace(/^0+/, '');
  const zeros = digits.slice(0, digits.length - rest.length);
  return [...Array.from(zeros, () => 'zéro'), ...(rest === '' ? [] : [masculine(rest)])].join(' ');
}
