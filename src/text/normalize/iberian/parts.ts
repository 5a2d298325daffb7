// Numbers with a part, a mark or a place: 2 1/2 tazas, 9,5/10, 40º 25' N.
import type { Speech } from '../language.js';
import type { Fraction } from '../quantity.js';
import { readNumeral, type NumberFormat, type Numeral } from '../numerals.js';
import type { Found, Reading, Recogniser } from '../reading.js';
import { vulgarFraction } from '../recognise/quantities.js';
import { coordinates } from '../shared-forms.js';
import type { Gender } from './amounts.js';

interface PartWords {
  readonly and: string;
  readonly half: Readonly<Record<Gender, string>>;
  readonly cardinal: (digits: string, gender?: Gender) => string;
  readonly parts: (fraction: Fraction) => string;
  readonly genderOf: (noun: string) => Gender;
  /** Words in small letters that are no nouns. */
  readonly noNouns: ReadonlySet<string>;
}

const MIXED = /(\d{1,3})(?: [ey](?= ))?(?: ?([½¼¾⅓⅔])|[ ]([1-9])[/⁄]([2-9])) (\p{Ll}{3,})(?!\p{L})/uy;

/** 2 1/2 tazas, 2 y 1/2 tazas: dos tazas y media; 3 1/4 colheres: três colheres e um quarto. */
export function mixedWithNoun(words: PartWords): Recogniser {
  return (reading) => {
    const match = reading.match(MIXED);
    const [written = '', whole = '', sign = '', numerator = '', denominator = '', noun = ''] = match ?? [];
    if (match === undefined || words.noNouns.has(noun)) return undefined;
    const fraction = vulgarFraction(sign) ?? { numerator, denominator };
    if (Number(fraction.numerator) >= Number(fraction.denominator)) return undefined;
    const gender = words.genderOf(noun);
    const name = whole === '1' ? noun.replace(/(?<=[aeo])s$/, '') : noun;
    const half = fraction.numerator === '1' && fraction.denominator === '2';
    const part = half ? words.half[gender] : words.parts(fraction);
    const spoken = `${words.cardinal(whole, gender)} ${name} ${words.and} ${part}`;
    return { end: reading.at + written.length, spoken, rule: 'fraction' };
  };
}

const RATING = /(\d{1,2}[.,]\d{1,2})\/(5|10|20|100)(?![\d/]|[.,]\d)/y;

/** 9,5/10; `of` is said between them. */
export function rating(
  of: string,
  numbers: NumberFormat,
  decimal: (numeral: Numeral) => string,
  cardinal: (digits: string) => string,
): Recogniser {
  return (reading) => {
    const match = reading.match(RATING);
    const [written = '', points = '', most = ''] = match ?? [];
    const number = match && readNumeral(points, 0, numbers)?.numeral;
    if (number === undefined) return undefined;
    const spoken = `${decimal(number)} ${of} ${cardinal(most)}`;
    return { end: reading.at + written.length, spoken, rule: 'score' };
  };
}

const LAW = /(\d{1,3}(?:\.?\d{3})?)\/(\d{4}|\d{2})(?![\d/]|[.,]\d)/y;
const NEAR = 16; // units before it in which a law is named

/** Ley 39/2015, Lei 8.112/90; `before` ends with the name of a kind of law. */
export function lawNumber(before: RegExp, cardinal: (digits: string) => string): Recogniser {
  return (reading) => {
    const match = reading.match(LAW);
    if (match === undefined || !before.test(reading.text.slice(Math.max(0, reading.at - NEAR), reading.at)))
      return undefined;
    const [written, number = '', year = ''] = match;
    const spoken = `${cardinal(number.replace('.', ''))} barra ${cardinal(year.replace(/^0(?=\d)/, ''))}`;
    return { end: reading.at + written.length, spoken, rule: 'identifier' };
  };
}

const BANK_ACCOUNT =
  /[A-Z]{2}\d{2}(?:(?: ?\d{4}){3,6}(?: ?\d{1,3})?| \d{4} \d{4} \d{2} \d{10})(?![\p{L}\p{N}])/uy;

/** ES91 2100 0418 …: with a pause behind each group. */
export function bankAccount({ letters, digits }: Pick<Speech, 'letters' | 'digits'>): Recogniser {
  return (reading) => {
    const match = reading.match(BANK_ACCOUNT);
    if (match === undefined) return undefined;
    const [written] = match;
    const groups =
      written
        .slice(4)
        .replaceAll(' ', '')
        .match(/\d{1,4}/g) ?? [];
    const country = `${letters(written.slice(0, 2))} ${digits(written.slice(2, 4))}`;
    const spoken = [country, ...groups.map((group) => digits(group))].join(', ');
    return { end: reading.at + written.length, spoken, rule: 'identifier' };
  };
}

/** 40º 25' N; the nouns in the singular. */
export function position(
  nouns: Readonly<Record<'degree' | 'minute' | 'second', string>>,
  directions: Readonly<Record<string, string>>,
  cardinal: (digits: string, gender?: Gender) => string,
): Recogniser {
  const counted = (digits: string, noun: string): string =>
    `${cardinal(digits, 'm')} ${noun}${digits === '1' ? '' : 's'}`;
  return coordinates((digits, part) => counted(digits, nouns[part]), directions);
}

const UNION_LAW = /((?:19|20)\d\d)\/(\d{1,4})\/(CEE?|UE)(?![\p{L}\d])/uy;

/** Directiva 2006/112/CE */
export function unionLaw(
  cardinal: (digits: string) => string,
  { letters }: Pick<Speech, 'letters'>,
): Recogniser {
  return (reading) => {
    const match = reading.match(UNION_LAW);
    const [written = '', year = '', number = '', body = ''] = match ?? [];
    if (match === undefined) return undefined;
    const spoken = `${cardinal(year)} barra ${cardinal(number)} barra ${letters(body)}`;
    return { end: reading.at + written.length, spoken, rule: 'identifier' };
  };
}

/** Leucocitos 7.500/mm³ */
export function perCubic(words: string): Recogniser {
  return (reading) => {
    const { text, at } = reading;
    if (!/\d/.test(text[at - 1] ?? '')) return undefined;
    const match = reading.match(CUBIC);
    return match && { end: at + match[0].length, spoken: words, rule: 'measure' };
  };
}

const CUBIC = /\/(?:mm³|mm3|µl|µL|μl|μL)(?![\p{L}\d])/uy;
const CODE_BEFORE = /[A-Z]{1,4}-?\d{1,8}$/;

/** F-2024/0153: the slash within a code. */
export function slashOfCode({ text, at }: Reading): Found | undefined {
  if (!/[\dA-Z]/.test(text[at + 1] ?? '')) return undefined;
  return CODE_BEFORE.test(text.slice(Math.max(0, at - 14), at))
    ? { end: at + 1, spoken: 'barra', rule: 'identifier' }
    : undefined;
}
