// Spoken forms of Chinese.
import type { Speech } from '../language.js';
import type { Currency, Fraction, Noun, Quantity, WrittenDate, WrittenTime } from '../quantity.js';
import { inMyriads } from '../myriads.js';
import { integerOf, type Numeral, withoutZeros } from '../numerals.js';
import type { Around } from '../reading.js';
import { cardinal, countOf, decimal, spellClearly, spellDigits } from './numbers.js';

const RANGE = '到';

/** Each number of the quantity by `say`, and what multiplies it. */
function amount(quantity: Quantity, say: (numeral: Numeral) => string): string {
  const { number, to, magnitude, fraction } = inMyriads(quantity);
  const name = magnitude?.forms[0] ?? '';
  const one = name === '' ? say : countOf;
  const mixed = fraction === undefined ? '' : `又${sayFraction(fraction)}`;
  const range = to === undefined ? '' : `${name}${RANGE}${one(to)}`;
  return (fraction === undefined ? one(number) : decimal(number)) + mixed + range + name;
}

function count(quantity: Quantity): string {
  return amount(quantity, decimal);
}

/** 周五，十九点: without the pause the day of the week would be a part of the number. */
export function pauseBehindDay({ text, start }: Pick<Around, 'text' | 'start'>, spoken: string): string {
  const day =
    spoken.startsWith('十') && /[周週期拜][一二三四五六]$/.test(text.slice(Math.max(0, start - 2), start));
  return day ? `，${spoken}` : spoken;
}

/** 第2个 is 第二个, and 3点2分 三点二分. */
function isNumbered(around: Around): boolean {
  return /(?:第|\d ?[点點时時]) ?$/.test(around.text.slice(Math.max(0, around.start - 4), around.start));
}

function measure(quantity: Quantity, { forms, form }: Noun, around: Around): string {
  const [name = ''] = forms;
  switch (form) {
    case 'part':
      return share(quantity, name);
    case 'degrees':
      return degrees(quantity) + name;
    case 'scale':
      return count(quantity) + name;
    default:
      return pauseBehindDay(around, amount(quantity, isNumbered(around) ? decimal : countOf) + name);
  }
}

/** 百分之五到百分之十. */
function share({ number, to, magnitude }: Quantity, name: string): string {
  const one = (numeral: Numeral): string =>
    (numeral.negative ? '负' : '') + name + decimal({ ...withoutZeroDecimals(numeral), negative: false });
  const multiple = magnitude?.forms[0] ?? '';
  return one(number) + (to === undefined ? '' : RANGE + one(to)) + multiple;
}

/** 100.00% is 百分之一百. */
function withoutZeroDecimals(numeral: Numeral): Numeral {
  return /^0+$/.test(numeral.decimals) ? { ...numeral, decimals: '' } : numeral;
}

/** 零下五摄氏度. */
function degrees(quantity: Quantity): string {
  const { number } = quantity;
  if (!number.negative) return count(quantity);
  return `零下${count({ ...quantity, number: { ...number, negative: false } })}`;
}

function money(quantity: Quantity, { forms }: Currency): string {
  const [after = '', before = ''] = forms;
  const { number, to } = quantity;
  const said = amount({ ...quantity, number: rounded(number), to: to && rounded(to) }, countOf);
  return before + said + after;
}

/** 3.50 is 三点五 and 3.00 三. */
function rounded(numeral: Numeral): Numeral {
  return { ...numeral, decimals: numeral.decimals.replace(/0+$/, '') };
}

function sayFraction({ numerator, denominator }: Fraction): string {
  if (numerator === '50' && denominator === '50') return '五十比五十';
  return `${cardinal(withoutZeros(denominator))}分之${cardinal(withoutZeros(numerator))}`;
}

/** Four digits as a year are read one by one; two stand for this century until 69. */
function date({ day, month, year, style }: WrittenDate): string | undefined {
  if (style === 'numeric' && year === undefined) return undefined;
  const full = year?.length === 2 ? `${Number(year) < 70 ? '20' : '19'}${year}` : year;
  const parts = [
    full === undefined ? '' : `${spellDigits(full)}年`,
    month === undefined ? '' : `${cardinal(String(month))}月`,
    day === undefined ? '' : `${cardinal(day)}日`,
  ];
  return parts.join('');
}

const YEAR_FOLLOWS = /^ ?(?:年|赛季|賽季|学年|學年|财年|財年|榜单|榜單)/;

/** Without 年 it is one only in brackets, as the years of a life are. */
function year(digits: string, around: Around, sure: boolean): string | undefined {
  if (!sure) return undefined;
  const { text, start, end } = around;
  const bracketed = /[(（]/.test(text[start - 1] ?? '') && /[)）]/.test(text[end] ?? '');
  const known = text === '' || bracketed || YEAR_FOLLOWS.test(text.slice(end, end + 4));
  return known ? spellDigits(digits) : undefined;
}

/** 十五点三十分, 九点零五分, 九点. */
export function time({ hours, minutes, seconds, half }: WrittenTime): string {
  const past = Number(minutes || '0');
  const parts = [half ?? '', hours === '2' ? '两' : cardinal(hours), '点'];
  if (past > 0 || seconds !== undefined) parts.push(`${clockDigits(minutes)}分`);
  if (seconds !== undefined) parts.push(`${clockDigits(seconds)}秒`);
  return parts.join('');
}

function clockDigits(two: string): string {
  return two.startsWith('0') ? spellDigits(two === '00' ? '0' : two) : cardinal(two);
}

const DURATION: Readonly<Record<'h' | 'min' | 's', string>> = { h: '小时', min: '分钟', s: '秒' };

export const SPEECH: Speech = {
  exchange: (from, to) => `${from} to ${to}`,
  processor: (brand, series, model) => `${brand} ${cardinal(series)} ${spellDigits(model)}`,
  number: (numeral) => decimal(numeral),
  verse: (book, chapter, verses) =>
    `${book}${chapter}${book.endsWith('篇') ? '篇' : '章'}${verses.join('到')}节`,
  ordinal: (digits) => `第${cardinal(digits)}`,
  digits: spellDigits,
  letters: (letters) => letters.toUpperCase(), // capitals that stand together are read by letters
  year,
  decade: () => undefined, // 90年代 is a number and a noun
  fraction: (fraction) => sayFraction(fraction),
  count,
  measure,
  money,
  date,
  time,
  duration: (parts) =>
    parts
      .map(
        ([digits, unit]) =>
          countOf({ negative: false, whole: digits, decimals: '', grouped: false }) + DURATION[unit],
      )
      .join(''),
  power: (exponent) =>
    exponent === '2' ? '的平方' : exponent === '3' ? '的立方' : `的${decimal(integerOf(exponent))}次方`,
  range: (from, to) => `${from}${RANGE}${to}`,
  score: (home, guest) => `${home}比${guest}`,
  outOf: (got, most, behind) =>
    `${cardinal(got)}分，满分${cardinal(most)}${behind.startsWith('分') ? '' : '分'}`,
  atLeast: (number, noun) => `${number}${noun}以上`,
  telephone: (groups, plus) => (plus ? '加' : '') + groups.map(spellClearly).join('，'),
};
