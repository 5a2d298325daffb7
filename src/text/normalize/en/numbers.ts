// English number words. n2words is right up to a thousand; it groups decimals ("three point fourteen"), so
// they are said here.
import { toCardinal, toOrdinal } from 'n2words/en-US';
import { withoutZeros, type Numeral } from '../numerals.js';
import { keptOrdinals, keptWords } from '../number-words.js';

const DIGITS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];

export const cardinal = keptWords((digits) => toCardinal(digits));
export const ordinal = keptOrdinals((digits) => toOrdinal(digits), 'zeroth');

export function spellDigits(digits: string): string {
  return Array.from(digits, (digit) => DIGITS[Number(digit)] ?? digit).join(' ');
}

export function decimal({ negative, whole, decimals, lakhs }: Numeral): string {
  const sign = negative ? 'minus ' : '';
  const rest = decimals === '' ? '' : ` point ${spellDigits(decimals)}`;
  return `${sign}${lakhs === true ? inLakhs(whole) : cardinal(whole)}${rest}`;
}

/** 12,34,567: twelve lakh thirty-four thousand five hundred sixty-seven. */
function inLakhs(digits: string): string {
  const parts = [
    [digits.slice(0, -7), ' crore'],
    [digits.slice(-7, -5), ' lakh'],
    [digits.slice(-5), ''],
  ] as const;
  return parts
    .filter(([part]) => Number(part) > 0)
    .map(([part, name]) => cardinal(withoutZeros(part)) + name)
    .join(' ');
}

/** Several of a number: six sixes, fifty-two fifty-twos, twenty twenties. */
export function plural(words: string): string {
  if (words.endsWith('y')) return `${words.slice(0, -1)}ies`;
  return words.endsWith('x') ? `${words}es` : `${words}s`;
}

/** Number of a room, a house or a model: 204 two oh four, 1500 fifteen hundred, 3000 three thousand. */
export function pairs(digits: string): string {
  if (digits.endsWith('000') || digits.length < 3) return cardinal(digits);
  const [head, rest] = [digits.slice(0, -2), digits.slice(-2)];
  return `${cardinal(head)} ${rest === '00' ? 'hundred' : ohBefore(rest)}`;
}

/** 13700 thirteen seven hundred, 9700 ninety-seven hundred: numbers of processors. */
export function modelPairs(digits: string): string {
  return digits.length === 5 ? `${cardinal(digits.slice(0, 2))} ${pairs(digits.slice(2))}` : pairs(digits);
}

/** ISO 8601 eighty-six oh one, but 9001 nine thousand one. */
export function ofStandard(digits: string): string {
  return digits.length === 4 && digits.slice(1, 3) !== '00' ? pairs(digits) : cardinal(digits);
}

/** 05 oh five, 27 twenty-seven. */
export function ohBefore(two: string): string {
  return two.startsWith('0') && two !== '00' ? `oh ${cardinal(two.slice(1))}` : cardinal(two);
}

/** 1905 nineteen oh five, 2000 two thousand, 2024 twenty twenty-four; pairs of digits as a year is said. */
export function year(digits: string): string {
  const value = Number(digits);
  const [century, rest] = [String(Math.floor(value / 100)), value % 100];
  if (digits.length !== 4 || value < 1000 || (value >= 2000 && value < 2010)) return cardinal(digits);
  if (rest === 0) return value % 1000 === 0 ? cardinal(digits) : `${cardinal(century)} hundred`;
  return `${cardinal(century)} ${ohBefore(digits.slice(-2))}`;
}

const TENS: Readonly<Record<string, string>> = {
  '00': 'hundreds',
  '10': 'tens',
  '20': 'twenties',
  '30': 'thirties',
  '40': 'forties',
  '50': 'fifties',
  '60': 'sixties',
  '70': 'seventies',
  '80': 'eighties',
  '90': 'nineties',
};

/** 1990 nineteen nineties, 90 nineties, 2000 two thousands. */
export function decade(digits: string): string | undefined {
  const tens = TENS[digits.slice(-2)];
  if (tens === undefined) return undefined;
  if (digits.length === 2) return digits === '00' ? 'two thousands' : tens;
  if (digits.endsWith('000')) return `${cardinal(digits)}s`;
  return `${cardinal(digits.slice(0, 2))} ${tens}`;
}
