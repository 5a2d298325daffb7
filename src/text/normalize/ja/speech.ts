// Spoken forms of Japanese.
import type { Speech } from '../language.js';
import type { Currency, Fraction, Noun, Quantity, WrittenDate, WrittenTime } from '../quantity.js';
import { inMyriads } from '../myriads.js';
import { integerOf, type Numeral, numeralOf, valueOf, withoutZeros } from '../numerals.js';
import type { Around } from '../reading.js';
import { cardinal, decimal, spellDigits } from './numbers.js';

const RANGE = 'から';

function amount(quantity: Quantity): string {
  const { number, to, magnitude, fraction } = inMyriads(quantity);
  const name = magnitude?.forms[0] ?? '';
  const mixed = fraction === undefined ? '' : `と${sayFraction(fraction)}`;
  const first = name !== '' && number.whole === '1000' && number.decimals === '' ? '一千' : decimal(number);
  return first + mixed + (to === undefined ? '' : name + RANGE + decimal(to)) + name;
}

/** 時速五十キロメートル, unless 時速 is written already. */
function measure(quantity: Quantity, { forms, form }: Noun, around: Around): string {
  const { text, start } = around;
  const said = form === undefined || text.slice(Math.max(0, start - form.length - 2), start).includes(form);
  return `${said ? '' : form}${amount(quantity)}${forms[0] ?? ''}`;
}

function money(quantity: Quantity, { forms, minor }: Currency): string {
  const { number, to, magnitude, fraction } = quantity;
  const name = forms[0] ?? '';
  const cents = minor !== undefined && number.decimals.length === 2 && to === undefined;
  if (!cents || magnitude !== undefined || fraction !== undefined) return amount(quantity) + name;
  const small = numeralOf(withoutZeros(number.decimals));
  const major = number.whole === '0' && valueOf(small) !== 0 ? '' : cardinal(number.whole) + name;
  const rest = valueOf(small) === 0 ? '' : cardinal(small.whole) + (minor.forms[0] ?? '');
  return (number.negative ? 'マイナス' : '') + major + rest;
}

function sayFraction({ numerator, denominator }: Fraction): string {
  return `${cardinal(withoutZeros(denominator))}分の${cardinal(withoutZeros(numerator))}`;
}

function date({ day, month, year, style }: WrittenDate): string | undefined {
  if (style === 'numeric' && year === undefined) return undefined;
  const full = year?.length === 2 ? `${Number(year) < 70 ? '20' : '19'}${year}` : year;
  const parts = [
    full === undefined ? '' : `${cardinal(full)}年`,
    month === undefined ? '' : `${cardinal(String(month))}月`,
    day === undefined ? '' : `${cardinal(day)}日`,
  ];
  return parts.join('');
}

/** 九時, 九時五分, 十時二十分三十秒; midnight is 零時. */
export function time({ hours, minutes, seconds, half }: WrittenTime): string {
  const past = Number(minutes || '0');
  const parts = [half ?? '', hours === '0' ? '零' : cardinal(hours), '時'];
  if (past > 0 || seconds !== undefined) parts.push(`${cardinal(withoutZeros(minutes))}分`);
  if (seconds !== undefined) parts.push(`${cardinal(withoutZeros(seconds))}秒`);
  return parts.join('');
}

const DURATION: Readonly<Record<'h' | 'min' | 's', string>> = { h: '時間', min: '分', s: '秒' };

/** 09012345678 as it is said: three, four, four. */
function parted(group: string): string[] {
  return /^0[5789]0\d{8}$/.test(group) ? [group.slice(0, 3), group.slice(3, 7), group.slice(7)] : [group];
}

const PER_MONTH = /(?:[月年日時週]額|月々|毎[月年日週]) ?$/;

export const SPEECH: Speech = {
  per: (amount) => `${amount}あたり`,
  rate: (amount, per, { text, start }) =>
    PER_MONTH.test(text.slice(Math.max(0, start - 3), start)) ? amount : per + amount,
  exchange: (from, to) => `${from}トゥー${to}`,
  processor: (brand, series, model) => `${brand} ${cardinal(series)} ${spellDigits(model)}`,
  number: (numeral: Numeral) => decimal(numeral),
  verse: (book, chapter, verses) =>
    `${book}${chapter}${book.endsWith('篇') ? '篇' : '章'}${verses.join('から')}節`,
  ordinal: (digits) => `第${cardinal(digits)}`,
  digits: spellDigits,
  letters: (letters) => letters.toUpperCase(), // capitals that stand together are read by letters
  year: (digits, _around, sure) => (sure ? cardinal(digits) : undefined),
  decade: () => undefined, // 90年代 is a number and a noun
  fraction: (fraction) => sayFraction(fraction),
  count: amount,
  measure,
  money,
  date,
  time,
  duration: (parts) => parts.map(([digits, unit]) => cardinal(digits) + DURATION[unit]).join(''),
  power: (exponent) =>
    exponent === '2' ? 'の二乗' : exponent === '3' ? 'の三乗' : `の${decimal(integerOf(exponent))}乗`,
  range: (from, to) => `${from}${RANGE}${to}`,
  score: (home, guest) => `${home}対${guest}`,
  outOf: (got, most, behind) =>
    `${cardinal(most)}点満点中${cardinal(got)}${behind.startsWith('点') ? '' : '点'}`,
  atLeast: (number, noun) => `${number}${noun}以上`,
  telephone: (groups, plus) => (plus ? 'プラス' : '') + groups.flatMap(parted).map(spellDigits).join('、'),
};
