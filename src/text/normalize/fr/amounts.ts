// Spoken amounts in French: numbers with nouns, money, fractions.
import type { Currency, Fraction, Noun, Quantity } from '../quantity.js';
import { numeralOf, withoutZeros, type Numeral } from '../numerals.js';
import { NOWHERE, type Around } from '../reading.js';
import { and, isFeminineAhead, isNumbered, isPlural, of } from './grammar.js';
import { cardinal, decimal, ordinal, rank } from './numbers.js';

const THOUSAND = 3;
/** Behind these a noun is joined with "de": deux millions d'euros. */
const ROUND = /illi(?:on|ard)s?$/;
/** Currencies whose hundredth needs no name: trois euros cinquante. */
const SHORT_CENTS = new Set(['euro', 'dollar']);

function isFeminine(noun: Noun): boolean {
  return noun.gender === 'f';
}

/** 2,5 k is 2500: "mille" is no noun that decimals could stand before. */
function multiplied(number: Numeral, power: number | undefined): Numeral {
  if (power !== THOUSAND || number.decimals.length > THOUSAND) return number;
  const whole = withoutZeros(number.whole + number.decimals.padEnd(THOUSAND, '0'));
  return { ...number, whole, decimals: '' };
}

function largest({ number, to }: Quantity): Numeral {
  return to ?? number;
}

function amount(quantity: Quantity, feminine: boolean, around: Around): string {
  const { number, to, magnitude } = quantity;
  const say = (value: Numeral): string =>
    decimal(multiplied(value, magnitude?.power), feminine && magnitude === undefined);
  const range = to === undefined ? '' : ` ${and(around)} ${say(to)}`;
  return `${say(number)}${range}${magnitudeName(quantity)}`;
}

function magnitudeName(quantity: Quantity): string {
  const { magnitude } = quantity;
  if (magnitude === undefined || magnitude.power === THOUSAND) return '';
  return ` ${magnitude.forms[isPlural(largest(quantity)) ? 1 : 0] ?? ''}`;
}

function isMany(quantity: Quantity): boolean {
  return quantity.magnitude !== undefined || isPlural(largest(quantity));
}

/** Deux heures et demie, trois millions d'euros, cinq kilomètres. */
export function withNoun(quantity: Quantity, noun: Noun, around: Around = NOWHERE): string {
  const name = noun.forms[isMany(quantity) ? 1 : 0] ?? '';
  const half =
    quantity.fraction === undefined ? '' : ` et ${sayFraction(quantity.fraction, 'part', isFeminine(noun))}`;
  const words = amount(quantity, isFeminine(noun), around);
  return `${words} ${ROUND.test(words) ? of(name) : name}${half}`;
}

const TALLEST = 2; // metres; a height has its own way: un mètre soixante-quinze

export function measure(quantity: Quantity, unit: Noun, around: Around): string {
  const { number, to } = quantity;
  const height =
    unit.forms[0] === 'mètre' && number.decimals.length === 2 && !number.negative && to === undefined;
  if (!height || Number(number.whole) > TALLEST || number.whole === '0' || number.decimals.startsWith('0')) {
    return withNoun(quantity, unit, around);
  }
  return `${withNoun({ number: numeralOf(number.whole) }, unit)} ${cardinal(number.decimals)}`;
}

/** A plain number with what it counts. */
export function count(quantity: Quantity, around: Around): string {
  const { number, magnitude, fraction, to } = quantity;
  if (fraction !== undefined)
    return `${amount(quantity, false, around)} et ${sayFraction(fraction, 'part', false)}`;
  const plain = magnitude === undefined && to === undefined && number.decimals === '' && !number.negative;
  if (plain && isNumbered(around)) return rank(number.whole);
  return amount(quantity, isFeminineAhead(around), around);
}

export function money(quantity: Quantity, currency: Currency, around: Around = NOWHERE): string {
  const { number, to, magnitude, fraction } = quantity;
  const { minor } = currency;
  const cents = number.decimals.length === 2 || to?.decimals.length === 2;
  if (!cents || minor === undefined || magnitude !== undefined || fraction !== undefined) {
    return withNoun(quantity, currency, around);
  }
  const first = majorAndMinor(number, currency, minor);
  return to === undefined ? first : `${first} ${and(around)} ${majorAndMinor(to, currency, minor)}`;
}

function majorAndMinor(number: Numeral, currency: Currency, minor: Noun): string {
  const sign = number.negative ? 'moins ' : '';
  const major = numeralOf(withoutZeros(number.whole));
  const cents = numeralOf(withoutZeros(number.decimals || '0'));
  if (cents.whole === '0') return sign + withNoun({ number: major }, currency);
  if (major.whole === '0') return sign + withNoun({ number: cents }, minor);
  const rest = SHORT_CENTS.has(currency.forms[0] ?? '')
    ? cardinal(cents.whole)
    : `et ${withNoun({ number: cents }, minor)}`;
  return `${sign}${withNoun({ number: major }, currency)} ${rest}`;
}

const PARTS: Readonly<Record<string, string>> = { '2': 'demi', '3': 'tiers', '4': 'quart' };
const OUT_OF = new Set(['10', '20', '24', '100']); // grades, hours, per cent

/**
 * Un demi, deux tiers, trois quarts, quatre cinquièmes; 12/20 douze sur vingt. As a part behind a whole: et
 * demi.
 */
export function sayFraction(fraction: Fraction, use: 'alone' | 'part', feminine: boolean): string {
  const [numerator, denominator] = [withoutZeros(fraction.numerator), withoutZeros(fraction.denominator)];
  const value = Number(numerator);
  if (use === 'part' && value === 1 && denominator === '2') return feminine ? 'demie' : 'demi';
  if (use === 'alone' && !isRead(value, denominator))
    return numerator === '50' && denominator === '50'
      ? `${cardinal(numerator)} ${cardinal(denominator)}`
      : `${cardinal(numerator)} sur ${cardinal(denominator)}`;
  const part = PARTS[denominator] ?? ordinal(denominator);
  const one = value === 1 && denominator === '2' && feminine ? 'une' : cardinal(numerator);
  return `${one} ${part}${value > 1 && !part.endsWith('s') ? 's' : ''}`;
}

/** Behind these no article stands: par quart d'heure. */
const NAMING = new Set(['par', 'chaque', 'le', 'un', 'ce', 'dernier', 'premier', 'demi']);

/** Trois quarts d'heure, un demi-litre; 120/80 mmHg is a pressure. */
export function fractionOf(fraction: Fraction, unit: Noun, around: Around): string {
  const [one = '', many = ''] = unit.forms;
  const [numerator, denominator] = [withoutZeros(fraction.numerator), withoutZeros(fraction.denominator)];
  if (isRatio(around) || !isRead(Number(numerator), denominator))
    return `${cardinal(numerator)} sur ${cardinal(denominator)} ${many}`;
  if (one.startsWith('pour ')) return `${sayFraction(fraction, 'alone', false)} ${one}`;
  if (numerator === '1' && denominator === '2') return `${isFeminine(unit) ? 'une' : 'un'} demi-${one}`;
  const words = `${sayFraction(fraction, 'alone', false)} ${of(one)}`;
  return numerator === '1' && NAMING.has(around.previousWord) ? words.slice('un '.length) : words;
}

/** Tension 16/9 is a blood pressure, page 1/12 one of twelve. */
export function isRatio({ text, start }: Around): boolean {
  return /(?:tension[\p{L} :]{0,24}|(?<!\p{L})(?:pages?|étape|partie|épisode|question|score|note)(?: est de)?(?: :)? ?)$/iu.test(
    text.slice(Math.max(0, start - 32), start),
  );
}

function isRead(numerator: number, denominator: string): boolean {
  const whole = Number(denominator);
  if (whole < 2 || OUT_OF.has(denominator)) return numerator === 1 && whole > 1;
  if (numerator === whole) return false;
  return numerator < whole
    ? numerator === 1 || whole <= 16
    : whole <= 4 || `${numerator}/${denominator}` === '16/9';
}
