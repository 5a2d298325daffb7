// How Korean is said.
import type { Currency, Fraction, Noun, Quantity, Speech, WrittenDate, WrittenTime } from '../language.js';
import { inMyriads } from '../myriads.js';
import { numeralOf, valueOf, withoutZeros, type Numeral } from '../numerals.js';
import type { Around } from '../reading.js';
import { cardinal, decimal, finalOf, letterNames, native, spellDigits } from './numbers.js';

const RANGE = '에서';
const LAST_SHORT = 19; // 열두 시간, but 이십사 시간
const LAST_HOUR = 12; // 열두 시, but 십삼 시
const LAST_TIME = 20; // 스무 번, but 이십일번 is the name of something

function amount(quantity: Quantity): string {
  const { number, to, magnitude, fraction } = inMyriads(quantity);
  const name = magnitude?.forms[0] ?? '';
  const mixed =
    fraction === undefined ? '' : `${particle(number.whole, '과', '와')} ${sayFraction(fraction)}`;
  const range = to === undefined ? '' : `${RANGE} ${multiple(to, name)}`;
  return (to === undefined ? multiple(number, name) : decimal(number)) + mixed + range;
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
  const numbered = /제 ?$/.test(around.text.slice(Math.max(0, around.start - 2), around.start)); // 제3장
  switch (numbered ? 'close' : unit.form) {
    case 'native':
      return isOrdinal(quantity, name) ? '첫 번째' : counted(quantity, name, Infinity);
    case 'short':
      return counted(quantity, name, LAST_SHORT);
    case 'hours':
      return counted(quantity, name, LAST_HOUR);
    case 'times':
      return isName(quantity, around) ? amount(quantity) + name : counted(quantity, name, LAST_TIME);
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
  const month = name === '월' ? IRREGULAR_MONTHS[number.whole] : undefined;
  if (month !== undefined && number.decimals === '') return month;
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

// 3번 출구, 1번을 누르세요: names. 하루 3번, 3번 시도: how often.
const NAMED =
  /^(?:[을은이과의]|으로|에서| ?(?:출구|버스|게이트|홈|국도|문항|문제|창구|좌석|승강장|선수|타자|테이블|방|메뉴|트랙|채널|항목|보기|후보|시드|교향곡|마을버스|노선|탑승구|환자|고객|레인|회선|매듭|포트|키|눌러|누르))/;
const OFTEN =
  /(?:하루|하루에|매일|매주|매월|매년|총|최대|최소|약|단|또|한 달에|달에|주에|년에|벌써|모두|지난|이미|무려) ?$/;

function isName({ number }: Quantity, { text, start, end }: Around): boolean {
  if (OFTEN.test(text.slice(Math.max(0, start - 6), start))) return false;
  if (/\d[,·] ?$/.test(text.slice(Math.max(0, start - 3), start))) return true; // 1, 2, 3번
  return (
    NAMED.test(text.slice(end, end + 6)) || Number(number.whole) === 0 || Number(number.whole) > LAST_TIME
  );
}

const MACHINE =
  /(?:차량?|버스|택시|트럭|컴퓨터|노트북|폰|기|카메라|TV|서버|에어컨|냉장고|오토바이|헬기|드론|로봇|피아노|총|약|모두|각각|장비|열차|구급차|소방차|승용차|트랙터|모니터|태블릿) ?$/;

/** 20대 are people of that age, 3대 의혹 the greatest three; 차량 3대 are counted. */
function isEra({ number }: Quantity, { text, start, end }: Around): boolean {
  if (MACHINE.test(text.slice(Math.max(0, start - 6), start))) return false;
  return (
    /^[1-9]0$/.test(number.whole) ||
    /^ [가-힣]/.test(text.slice(end, end + 2)) ||
    /대 ?$/.test(text.slice(Math.max(0, start - 2), start))
  );
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

export const SPEECH: Speech = {
  number: (numeral) => decimal(numeral),
  ordinal: (digits) => `제${cardinal(digits)}`,
  digits: spellDigits,
  letters: letterNames,
  year: (digits, _around, sure) => (sure ? cardinal(digits) : undefined),
  decade: () => undefined, // 90년대 is a number and a noun
  fraction: (fraction) => sayFraction(fraction),
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
  telephone: (groups, plus) => (plus ? '플러스 ' : '') + groups.map(spellDigits).join(', '),
};
