// Chinese number words. n2words has only the characters of cheques (壹贰叁) and ends at 10^16, so they are made
// here.
import { keptWords } from '../number-words.js';
import { withoutZeros, type Numeral } from '../numerals.js';

const DIGITS = Array.from('零一二三四五六七八九');
const PLACES = ['', '十', '百', '千'];
const LONGEST_COUNTED = 24; // digits; beyond, a number is said digit by digit

/** 二零二四, 零五: each digit by its name. */
export function spellDigits(digits: string): string {
  return Array.from(digits, (digit) => DIGITS[Number(digit)] ?? digit).join('');
}

/** As telephone, room and train numbers are said: 幺 cannot be mistaken for 七. */
export function spellClearly(digits: string): string {
  return spellDigits(digits).replaceAll('一', '幺');
}

export const cardinal = keptWords((digits) =>
  digits.length > LONGEST_COUNTED ? spellDigits(digits) : counted(digits, true),
);

/** `first`: nothing is said before it, so it is 十五 and 两千 instead of 一十五 and 二千. */
function counted(digits: string, first: boolean): string {
  if (digits.length <= 4) return below10000(digits, first);
  const low = digits.length > 8 ? 8 : 4;
  const [head, tail] = [digits.slice(0, -low), digits.slice(-low)];
  const words = head === '2' && first ? '两' : counted(head, first);
  return `${words}${low === 8 ? '亿' : '万'}${rest(tail)}`;
}

/** The digits behind a larger group. 零 stands for empty places. */
function rest(tail: string): string {
  const digits = withoutZeros(tail);
  if (digits === '0') return '';
  return (digits.length < tail.length ? '零' : '') + counted(digits, false);
}

function below10000(digits: string, first: boolean): string {
  if (digits === '0') return '零';
  let words = '';
  let skipped = false;
  for (const [index, digit] of Array.from(digits).entries()) {
    const place = digits.length - 1 - index;
    if (digit === '0') {
      skipped = words !== '';
      continue;
    }
    if (skipped) words += '零';
    skipped = false;
    words += nameOf(digit, place, first && index === 0) + (PLACES[place] ?? '');
  }
  return words;
}

function nameOf(digit: string, place: number, first: boolean): string {
  if (first && place === 1 && digit === '1') return '';
  return first && place === 3 && digit === '2' ? '两' : (DIGITS[Number(digit)] ?? '');
}

export function decimal({ negative, whole, decimals }: Numeral): string {
  const point = decimals === '' ? '' : `点${spellDigits(decimals)}`;
  return `${negative ? '负' : ''}${cardinal(whole)}${point}`;
}

/** Two of something is 两, alone and before 万. */
export function countOf(numeral: Numeral): string {
  const two = numeral.whole === '2' && numeral.decimals === '';
  return two ? `${numeral.negative ? '负' : ''}两` : decimal(numeral);
}
