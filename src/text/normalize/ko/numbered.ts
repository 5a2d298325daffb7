// What Korean reads by its neighbours: scores, addresses, particles such as 은(는).
import { withoutZeros } from '../numerals.js';
import type { Found, Reading } from '../reading.js';
import { isScore } from './dates.js';
import { cardinal, finalOf, spellDigits } from './numbers.js';

const POSTCODE = /\d{5}(?![\d,.-])/y;

/** (우) 06236: each digit. */
export function postcode(reading: Reading): Found | undefined {
  if (!reading.isFresh || !/\(우\) ?$/.test(reading.text.slice(Math.max(0, reading.at - 4), reading.at))) return undefined;
  const digits = reading.match(POSTCODE)?.[0];
  return digits === undefined ? undefined : { end: reading.at + digits.length, spoken: spellDigits(digits), rule: 'digits' };
} // prettier-ignore

const PARTS = /(\d{1,6})분의 ?(\d{1,6})(?!\d)/y;
const SCORE = /(\d{1,3}) ?[-–:대] ?(\d{1,3})(?![\d:.-]\d|\d)/y;
const VERSUS = /(\d{1,3}) ?대 ?(\d{1,3})(?!\d|[.,]\d|년|세기)/y;

/** 3분의 2; 3-1로 이겼다, 3대1. */
export function parts(reading: Reading): Found | undefined {
  if (!reading.isFresh) return undefined;
  const part = reading.match(PARTS);
  if (part !== undefined) {
    const spoken = `${cardinal(withoutZeros(part[1] ?? ''))}분의 ${cardinal(withoutZeros(part[2] ?? ''))}`;
    return { end: reading.at + part[0].length, spoken, rule: 'fraction' };
  }
  const versus = reading.match(VERSUS);
  const score = versus ?? reading.match(SCORE);
  const known =
    versus !== undefined || (score !== undefined && isScore(reading, reading.at + score[0].length));
  if (score === undefined || !known) return undefined;
  const spoken = `${cardinal(withoutZeros(score[1] ?? ''))} 대 ${cardinal(withoutZeros(score[2] ?? ''))}`;
  return { end: reading.at + score[0].length, spoken, rule: 'score' };
}

const LOT = /(\d{1,4})-(\d{1,4})(?=번지|호|,|\.|\s|$)/y;

/** 역삼동 123-45번지: 다시 stands for the dash. */
export function lot(reading: Reading): Found | undefined {
  if (!reading.isFresh || !/[동리가로길] ?$/.test(reading.text.slice(Math.max(0, reading.at - 2), reading.at))) return undefined;
  const match = reading.match(LOT);
  if (match === undefined) return undefined;
  const spoken = `${cardinal(withoutZeros(match[1] ?? ''))} 다시 ${cardinal(withoutZeros(match[2] ?? ''))}`;
  return { end: reading.at + match[0].length, spoken, rule: 'address' };
} // prettier-ignore

const LONG_COUNT = /^ ?[원명개건회대표주]/;

/** 12345678명 is counted, however long. */
export function longCount(reading: Reading): Found | undefined {
  const { text, at, runEnd } = reading;
  if (!reading.isFresh || runEnd - at < 8 || runEnd - at > 20 || text[at] === '0') return undefined;
  const unit = LONG_COUNT.exec(text.slice(runEnd, runEnd + 2))?.[0];
  if (unit === undefined) return undefined;
  const end = runEnd + unit.length;
  return { end, spoken: `${cardinal(text.slice(at, runEnd))} ${unit.trim()}`, rule: 'cardinal' };
}

// Written for both sounds, the first behind a consonant.
const PARTICLES: readonly (readonly [written: RegExp, closed: string, open: string])[] = [
  [/은\(는\)|는\(은\)/y, '은', '는'],
  [/이\(가\)|가\(이\)/y, '이', '가'],
  [/을\(를\)|를\(을\)/y, '을', '를'],
  [/과\(와\)|와\(과\)/y, '과', '와'],
  [/아\(야\)|야\(아\)/y, '아', '야'],
];
const OPTIONAL = /\((으|이)\)(?=로|나|라|랑|며|면|니|든|야|시|세|신|실)/y;

/** 홍길동은(는), 사과을(를): the one that fits. */
export function particle(reading: Reading): Found | undefined {
  if (reading.text[reading.at + 1] !== '(') return undefined;
  const final = finalOf(reading.text[reading.at - 1] ?? '');
  if (final === undefined) return undefined;
  for (const [written, closed, open] of PARTICLES) {
    const match = reading.match(written);
    if (match === undefined) continue;
    return { end: reading.at + match[0].length, spoken: final === 'vowel' ? open : closed, rule: 'symbol' };
  }
  return undefined;
}

/** 서울(으)로, 학생(이)나. */
export function optionalVowel(reading: Reading): Found | undefined {
  const match = reading.text[reading.at] === '(' ? reading.match(OPTIONAL) : undefined;
  const final = finalOf(reading.text[reading.at - 1] ?? '');
  if (match === undefined || final === undefined) return undefined;
  const [written, vowel = ''] = match;
  const rieul = final === 'rieul' && vowel === '으' && reading.text[reading.at + written.length] === '로';
  const spoken = final === 'vowel' || rieul ? '' : vowel;
  return { end: reading.at + written.length, spoken, rule: 'symbol' };
}

const ROMAN = /(I{1,3}|IV|VI{0,3}|IX|X{1,2}I{0,3}V?)(?=[세형기부장권급류]|단계)/y;
const ROMANS = 'I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII XIX XX'.split(' ');

/** 2세 as II세; an X세대 is no number. */
export function roman(reading: Reading): Found | undefined {
  const written = reading.isFresh ? reading.match(ROMAN)?.[0] : undefined;
  const value = written === undefined ? 0 : ROMANS.indexOf(written) + 1;
  if (written === undefined || value === 0 || (written.length === 1 && written !== 'I')) return undefined;
  return { end: reading.at + written.length, spoken: cardinal(String(value)), rule: 'roman' };
}

const COMPANY = /㈜ ?/y;

/** ㈜ is one character, and one of the script. */
export function company(reading: Reading): Found | undefined {
  const match = reading.match(COMPANY);
  return match && { end: reading.at + match[0].length, spoken: '주식회사 ', rule: 'abbreviation' };
}

const EQUALS = /={1,2} ?(?=[-\d(]|[A-Za-z](?![A-Za-z]{3}))/y;

/** 5 + 3 = 8: 은 or 는 by the number before it. */
export function equals(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const before = text
    .slice(Math.max(0, at - 2), at)
    .trimEnd()
    .slice(-1);
  const amount = /\d ?[가-힣]{1,3} ?$/.test(text.slice(Math.max(0, at - 6), at)); // 1달러=1,300원
  const match = amount || /[\dA-Za-z)²³]/.test(before) ? reading.match(EQUALS) : undefined;
  if (match === undefined) return undefined;
  const spoken = finalOf(before) === 'vowel' ? '는 ' : '은 ';
  return { end: at + match[0].length, spoken, rule: 'math', clings: true };
}

const CAR = /(\d{1,3})-(\d{1,2})(?=번 ?(?:칸|출입문|승강장|문|홈|버스))/y;

/** 9-4번 칸: 다시 stands for the dash. */
export function car(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(CAR) : undefined;
  if (match === undefined) return undefined;
  const spoken = `${cardinal(match[1] ?? '')} 다시 ${cardinal(match[2] ?? '')}번`;
  return { end: reading.at + match[0].length + 1, spoken, rule: 'identifier' };
}
