// German number words. n2words is right for whole numbers from one on; zero and decimals are said here.
import { toCardinal, toOrdinal } from 'n2words/de-DE';
import { keptWords } from '../number-words.js';
import type { Numeral } from '../numerals.js';

const DIGITS = ['null', 'eins', 'zwei', 'drei', 'vier', 'fünf', 'sechs', 'sieben', 'acht', 'neun'];

export const cardinal = keptWords((digits) => (/^0+$/.test(digits) ? 'null' : toCardinal(digits)));

/** Without the ending that gender and case give it: dritt-, zwanzigst-. */
export const ordinalStem = keptWords((digits) =>
  /^0+$/.test(digits) ? 'nullt' : toOrdinal(digits).slice(0, -1),
);

export function spellDigits(digits: string): string {
  return Array.from(digits, (digit) => DIGITS[Number(digit)] ?? digit).join(' ');
}

export function decimal({ negative, whole, decimals }: Numeral): string {
  const rest = decimals === '' ? '' : ` Komma ${spellDigits(decimals)}`;
  return `${negative ? 'minus ' : ''}${cardinal(whole)}${rest}`;
}

/** 1989 neunzehnhundertneunundachtzig, 2024 zweitausendvierundzwanzig, 1066 eintausendsechsundsechzig. */
export function year(digits: string): string {
  const value = Number(digits);
  if (digits.length !== 4 || value < 1100 || value >= 2000) return cardinal(digits);
  const rest = value % 100;
  return `${cardinal(digits.slice(0, 2))}hundert${rest === 0 ? '' : cardinal(String(rest))}`;
}

/** Neunziger, neunzehnhundertneunziger, zweitausender. */
export function decade(digits: string): string | undefined {
  if (!digits.endsWith('0')) return undefined;
  if (digits.length === 2) return digits === '00' ? 'nuller' : `${cardinal(digits)}er`;
  if (digits.endsWith('000')) return `${cardinal(digits)}er`;
  return digits.endsWith('00') || digits.startsWith('2') ? `${cardinal(digits)}er` : `${year(digits)}er`;
}
