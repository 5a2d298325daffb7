// Italian number words. n2words is right below a million, but for the accent of duemilatré; millions are put
// together here.
import { toCardinal, toOrdinal } from 'n2words/it-IT';
import { keptOrdinals, keptWords } from '../number-words.js';
import { withoutZeros, type Numeral } from '../numerals.js';

const DIGITS = ['zero', 'uno', 'due', 'tre', 'quattro', 'cinque', 'sei', 'sette', 'otto', 'nove'];
const MOST_DECIMALS = 3; // more of them are said one by one
const LONGEST_HERE = 15; // digits; beyond, n2words has the names
const SMALL = 100; // behind millions: un milione e cinquanta, un milione duecento

const small = keptWords((digits) =>
  toCardinal(digits)
    .replace(/tré(?=\p{L})/gu, 'tre')
    .replace(/(?<=\p{L})tre$/u, 'tré'),
);
const keptOrdinal = keptOrdinals((digits) => toOrdinal(digits).replace(/^un (?=m)/, ''), 'zeresimo');

export type Gender = 'm' | 'f';

/** 1.200.000 un milione duecentomila; 3.000 miliardi are tremila miliardi. */
export function cardinal(written: string): string {
  const digits = withoutZeros(written);
  if (digits.length <= 6) return small(digits);
  if (digits.length > LONGEST_HERE) return toCardinal(digits);
  const rest = withoutZeros(digits.slice(-6));
  return [
    group(digits.slice(0, -9), 'miliardo', 'miliardi'),
    group(digits.slice(-9, -6), 'milione', 'milioni'),
    rest === '0' ? '' : `${Number(rest) < SMALL ? 'e ' : ''}${small(rest)}`,
  ]
    .filter((part) => part !== '')
    .join(' ');
}

function group(digits: string, one: string, many: string): string {
  const value = Number(digits);
  if (value === 0) return '';
  return value === 1 ? `un ${one}` : `${small(withoutZeros(digits))} ${many}`;
}

/** Terzo, terza, terzi, terze. */
export function ordinal(digits: string, gender: Gender = 'm', many = false): string {
  const ending = gender === 'f' ? (many ? 'e' : 'a') : many ? 'i' : 'o';
  return keptOrdinal(withoutZeros(digits)).replace(/o$/, ending);
}

export function spellDigits(digits: string): string {
  return Array.from(digits, (digit) => DIGITS[Number(digit)] ?? digit).join(' ');
}

/** 3,14 tre virgola quattordici; 0,05 zero virgola zero cinque; 3,14159 digit by digit. */
export function decimal({ negative, whole, decimals }: Numeral): string {
  const said = `${negative ? 'meno ' : ''}${cardinal(whole)}`;
  return decimals === '' ? said : `${said} virgola ${sayDecimals(decimals)}`;
}

function sayDecimals(decimals: string): string {
  const zeros = /^0*/.exec(decimals)?.[0] ?? '';
  const rest = decimals.slice(zeros.length);
  if (decimals.length > MOST_DECIMALS || rest === '') return spellDigits(decimals);
  return zeros === '' ? small(rest) : `${spellDigits(zeros)} ${small(rest)}`;
}

const YOUNG: Readonly<Record<string, string>> = {
  '6': 'sei',
  '7': 'sett',
  '8': 'ott',
  '9': 'nov',
  '10': 'dec',
};

/** 35enne trentacinquenne, 23enne ventitreenne. */
export function aged(digits: string, ending: string): string | undefined {
  const known = YOUNG[digits];
  if (known !== undefined) return `${known}${ending}`;
  if (digits.length < 2 || digits.length > 3 || digits.startsWith('0')) return undefined;
  const words = cardinal(digits);
  const stem = /(?:tré|sei)$/.test(words) ? words.replace('é', 'e') : words.slice(0, -1);
  return `${stem}${ending}`;
}
