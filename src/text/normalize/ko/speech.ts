// How Korean is said.
import type { Currency, Fraction, Noun, Quantity, Speech, WrittenDate, WrittenTime } from '../language.js';
import { inMyriads } from '../myriads.js';
import { numeralOf, valueOf, withoutZeros, type Numeral } from '../numerals.js';
import type { Around } from '../reading.js';
import { cardinal, decimal, finalOf, letterNames, native, spellDigits } from './numbers.js';
import { arePeople, isEra, isName, LAST_TIME } from './turns.js';

const RANGE = '에서';
const LAST_SHORT = 19; // 열두 시간, but 이십사 시간
const LAST_HOUR = 12; // 열두 시, but 십삼 시

function amount(quantity: Quantity): string {
  const { number, to, magnitude, repeated, fraction } = inMyriads(quantity);
  const name = magnitude?.forms[0] ?? '';
  const mixed =
    fraction === undefined ? '' : `${particle(number.whole, '과', '와')} ${sayFraction(fraction)}`;
  const range = to === undefined ? '' : `${RANGE} ${multiple(to, name)}`;
  return (to === undefined || repeated ? multiple(number, name) : decimal(number)) + mixed + range;
}

/** 만, 천, 일억: the one before them is said from 억 on. */
function multiple(number: Numeral, name: string): string {
  const lone = number.whole === '1' && number.decimals === '' && /^[십백천만]/.test(name);
  return `${lone ? (number.negative ? '마이너스 ' : '') : decimal(number)}${name}`;
}

function particle(before: string, closed: string, open: string): string {
  return finalOf(before.slice(-1)) === 'vowel' ? open : closed;
}

/** Each number of a counted thing, where native words are asked for. */
function counted(quantity: Quantity, name: string, most: number): string {
  const { number, to, magnitude, fraction } = quantity;
  if (magnitude !== undefined || fraction !== undefined) return `${amount(quantity)} ${name}`;
  const said = (numeral: Numeral): string => `${nativeOf(numeral, most) ?? decimal(numeral)} ${name}`;
  return to === undefined ? said(number) : `${said(number)}${RANGE} ${said(to)}`;
}

function nativeOf({ whole, decimals, negative }: Numeral, most: number): string | undefined {
  return decimals === '' && !negative && Number(whole) <= most ? native(whole) : undefined;
}

function measure(quantity: Quantity, unit: Noun, around: Around): string {
  const [name = '', before] = unit.forms;
  const numbered = /(?:제|개정|증보) ?$/.test(around.text.slice(Math.max(0, around.start - 3), around.start)); // 제3장
  switch (numbered ? 'close' : unit.form) {
    case 'native':
      return isOrdinal(quantity, name) ? '첫 번째' : counted(quantity, name, Infinity);
    case 'short':
      return counted(quantity, name, LAST_SHORT);
    case 'hours':
      return counted(quantity, name, LAST_HOUR);
    case 'times':
      return isName(quantity, around) ? amount(quantity) + name : counted(quantity, name, LAST_TIME);
    case 'minutes':
      return arePeople(around) ? counted(quantity, name, Infinity) : `${amount(quantity)} ${name}`;
    case 'machines':
      return isEra(quantity, around) ? amount(quantity) + name : counted(quantity, name, Infinity);
    case 'close':
      return close(quantity, name);
    case 'degrees':
      return degrees(quantity, name);
    default:
      return `${speed(before, around)}${amount(quantity)} ${name}`;
  }
}

/** 1번째 is 첫 번째. */
function isOrdinal({ number, to }: Quantity, name: string): boolean {
  return name === '번째' && number.whole === '1' && to === undefined;
}

/** 유월, 시월 and all else that is written together. */
function close(quantity: Quantity, name: string): string {
  const { number, to, magnitude } = quantity;
  if (to !== undefined && magnitude === undefined) {
    return `${close({ number }, name)}${RANGE} ${close({ number: to }, name)}`;
  }
  const month = name.startsWith('월') ? IRREGULAR_MONTHS[number.whole] : undefined;
  if (month !== undefined && number.decimals === '') return month + name.slice(1); // 유월호
  const together = number.decimals === '' && magnitude === undefined;
  return together ? amount(quantity) + name : `${amount(quantity)} ${name}`;
}

const IRREGULAR_MONTHS: Readonly<Record<string, string>> = { '6': '유월', '10': '시월' };

function degrees(quantity: Quantity, name: string): string {
  const { number } = quantity;
  if (!number.negative) return `${amount(quantity)} ${name}`;
  return `영하 ${amount({ ...quantity, number: { ...number, negative: false } })} ${name}`;
}

/** 시속 오십 킬로미터, unless 시속 is written already. */
function speed(before: string | undefined, { text, start }: Around): string {
  return before === undefined || text.slice(Math.max(0, start - 4), start).includes(before)
    ? ''
    : `${before} `;
}

function money(quantity: Quantity, { forms, minor }: Currency): string {
  const { number, to, magnitude, fraction } = quantity;
  const name = forms[0] ?? '';
  const cents = minor !== undefined && number.decimals.length === 2 && to === undefined;
  if (!cents || magnitude !== undefined || fraction !== undefined) return `${amount(quantity)} ${name}`;
  const small = numeralOf(withoutZeros(number.decimals));
  const major = number.whole === '0' && valueOf(small) !== 0 ? '' : `${cardinal(number.whole)} ${name}`;
  const rest = valueOf(small) === 0 ? '' : `${cardinal(small.whole)} ${minor.forms[0] ?? ''}`;
  return (number.negative ? '마이너스 ' : '') + [major, rest].filter((part) => part !== '').join(' ');
}

function sayFraction({ numerator, denominator }: Fraction): string {
  return `${cardinal(withoutZeros(denominator))}분의 ${cardinal(withoutZeros(numerator))}`;
}

function date({ day, month, year, style }: WrittenDate): string | undefined {
  if (style === 'numeric' && year === undefined) return undefined;
  const full = year?.length === 2 ? `${Number(year) < 70 ? '20' : '19'}${year}` : year;
  const parts = [
    full === undefined ? '' : `${cardinal(full)}년`,
    month === undefined ? '' : (IRREGULAR_MONTHS[String(month)] ?? `${cardinal(String(month))}월`),
    day === undefined ? '' : `${cardinal(day)}일`,
  ];
  return parts.filter((part) => part !== '').join(' ');
}

/** 아홉 시 오 분, 십오 시 삼십 분. */
export function time({ hours, minutes, seconds, half }: WrittenTime): string {
  const hour = Number(hours) <= LAST_HOUR ? (native(hours) ?? cardinal(hours)) : cardinal(hours);
  const parts = half === undefined ? [] : [half];
  parts.push(hour, '시');
  if (Number(minutes || '0') > 0 || seconds !== undefined) parts.push(cardinal(withoutZeros(minutes)), '분');
  if (seconds !== undefined) parts.push(cardinal(withoutZeros(seconds)), '초');
  return parts.join(' ');
}

const DURATION: Readonly<Record<'h' | 'min' | 's', Noun>> = {
  h: { forms: ['시간'], form: 'short' },
  min: { forms: ['분'] },
  s: { forms: ['초'] },
};

/** 01012345678 as it is said: three, four, four. */
function parted(group: string): string[] {
  return /^01\d{8,9}$/.test(group) ? [group.slice(0, 3), group.slice(3, -4), group.slice(-4)] : [group];
}

export const SPEECH: Speech = {
  number: (numeral) => decimal(numeral),
  ordinal: (digits) => `제${cardinal(digits)}`,
  digits: spellDigits,
  letters: letterNames,
  year: (digits, _around, sure) => (sure ? cardinal(digits) : undefined),
  decade: () => undefined, // 90년대 is a number and a noun
  fraction: (fraction) => sayFraction(fraction),
  fractionOf: (fraction, unit) =>
    `${sayFraction(fraction)}${unit.form === 'close' || unit.forms[0] === '도' ? '' : ' '}${unit.forms[0] ?? ''}`,
  count: amount,
  measure,
  money,
  date,
  time,
  duration: (parts, around) =>
    parts.map(([digits, unit]) => measure({ number: numeralOf(digits) }, DURATION[unit], around)).join(' '),
  power: (exponent) =>
    exponent === '2' ? ' 제곱' : exponent === '3' ? ' 세제곱' : `의 ${cardinal(withoutZeros(exponent))}제곱`,
  range: (from, to) => `${from}${RANGE} ${to}`,
  score: (home, guest) => `${home} 대 ${guest}`,
  telephone: (groups, plus) => (plus ? '플러스 ' : '') + groups.flatMap(parted).map(spellDigits).join(', '),
};
