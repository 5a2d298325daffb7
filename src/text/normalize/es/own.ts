// Tokens that Spanish reads in its own way.
import type { Currency } from '../language.js';
import { numeralOf, readNumeral, withoutZeros, type Numeral } from '../numerals.js';
import type { Found, Reading } from '../reading.js';
import { genderOf } from './grammar.js';
import { romanValue } from '../recognise/words.js';
import { cardinal, decimal, ordinal } from './numbers.js';
import { MONTH_NAMES, sayDay, SPEECH } from './speech.js';
import { CURRENCIES, MAGNITUDES } from './units.js';
import { WRITING } from './writing.js';

const DAY_AND_MONTH = /(\d{1,2})[/-](\d{1,2})(?![\p{L}\p{N}/-]|[.,:]\d)/uy;
const BEFORE_DATE = new Set('el del al día lunes martes miércoles jueves viernes sábado domingo desde hasta'.split(' '));

/** El 15/01, del 3/4 al 8/4: a day and its month where an article or weekday says so. */
export function dayAndMonth(reading: Reading): Found | undefined {
  if (!reading.isFresh || reading.runEnd - reading.at > 2) return undefined;
  if (!/[/-]/.test(reading.text[reading.runEnd] ?? '')) return undefined;
  const match = reading.match(DAY_AND_MONTH);
  const [written = '', day = '', month = ''] = match ?? [];
  const [d, m] = [Number(day), Number(month)];
  if (match === undefined || d < 1 || d > 31 || m < 1 || m > 12 || written === '24/7') return undefined;
  const end = reading.at + written.length;
  if (!BEFORE_DATE.has(reading.around(end).previousWord) || (written.includes('-') && !/^0/.test(month))) return undefined;
  return { end, spoken: `${sayDay(withoutZeros(day))} de ${MONTH_NAMES[m - 1] ?? ''}`, rule: 'date' };
}

const DOTTED_TIME = /(\d{1,2})[.,]([0-5]\d)(?=(?: ?h(?:oras|s)?\b)?)(?!\d|[.,/]\d| ?(?:%|€|\$|euros))/y;
const HOUR_WORD = / ?(?:horas|hrs?\.?|hs?\.?)(?![\p{L}\p{N}])/uy;

/** A las 10.30: behind "las" a point parts hours and minutes. */
export function dottedTime(reading: Reading): Found | undefined {
  if (!reading.isFresh || !/[.,]/.test(reading.text[reading.runEnd] ?? '')) return undefined;
  const match = reading.match(DOTTED_TIME);
  const [written = '', hours = '', minutes = ''] = match ?? [];
  if (match === undefined || Number(hours) > 24) return undefined;
  const around = reading.around(reading.at + written.length);
  if (!/^las?$/.test(around.previousWord) || !/^(?:a|de|desde|hasta|sobre|hacia|entre|y|para)$/.test(around.secondPreviousWord)) return undefined;
  const word = reading.match(HOUR_WORD, around.end)?.[0] ?? '';
  const time = { hours: withoutZeros(hours), minutes, ...(word !== '' && { word: 'horas' }) };
  const spoken = SPEECH.time(time, around);
  return spoken === undefined ? undefined : { end: around.end + word.length, spoken, rule: 'time' };
}

const MIXED = /(\d{1,3})(?: ?½|[ ]1[/⁄]2) (\p{Ll}{3,})(?!\p{L})/uy;

/** 2 1/2 tazas: dos tazas y media. */
export function halfMore(reading: Reading): Found | undefined {
  if (!reading.isFresh || !/[ ½]/.test(reading.text[reading.runEnd] ?? '')) return undefined;
  const match = reading.match(MIXED);
  const [written = '', whole = '', noun = ''] = match ?? [];
  if (match === undefined || /^(?:por|con|del|más|que|para|las|los)$/.test(noun)) return undefined;
  const gender = genderOf(noun);
  const name = whole === '1' ? noun.replace(/(?<=[aeo])s$/, '') : noun;
  const spoken = `${cardinal(whole, gender)} ${name} y ${gender === 'f' ? 'media' : 'medio'}`;
  return { end: reading.at + written.length, spoken, rule: 'fraction' };
}

const PRODUCT = /(\d{1,6}(?:[.,]\d{1,3})?)( ?)[x×X]\2(?=\d)/y;
const LAST_FACTOR = /\d{1,6}(?:[.,]\d{1,3})?(?![\d]|[.,]\d)/y;

/** 3x4, 1920 × 1080, 2 x 4 x 6. */
export function product(reading: Reading): Found | undefined {
  if (!reading.isFresh || !/[xX× .,]/.test(reading.text[reading.runEnd] ?? '')) return undefined;
  const factors: string[] = [];
  let end = reading.at;
  for (;;) {
    const match = reading.match(PRODUCT, end);
    if (match === undefined || match[1] === '0' || factors.length > 3) break;
    factors.push(match[1] ?? '');
    end += match[0].length;
  }
  const last = reading.match(LAST_FACTOR, end);
  if (factors.length === 0 || last === undefined) return undefined;
  const spoken = factors.map((factor) => decimal(numeralIn(factor))).join(' por ');
  if (!/[\p{L}²³]/u.test(reading.text[end + last[0].length] ?? ' ') && !/^ ?(?:cm|mm|m|km|px)\b/.test(reading.text.slice(end + last[0].length, end + last[0].length + 4)))
    return { end: end + last[0].length, spoken: `${spoken} por ${decimal(numeralIn(last[0]))}`, rule: 'math' };
  return sayLast(reading, end, spoken);
}

/** The unit behind the last factor. */
function sayLast(reading: Reading, end: number, spoken: string): Found | undefined {
  const number = readNumeral(reading.text, end, WRITING.numbers);
  const unit = number && /^ ?(cm|mm|m|km|px)(?![\p{L}\p{N}²³])/u.exec(reading.text.slice(number.end, number.end + 5));
  const noun = WRITING.units[unit?.[1] ?? ''];
  if (number === undefined || !unit || noun === undefined) return undefined;
  return { end: number.end + unit[0].length, spoken: `${spoken} por ${decimal(number.numeral)} ${noun.forms[1] ?? ''}`, rule: 'measure' };
}

function numeralIn(written: string): Numeral {
  return readNumeral(written, 0, WRITING.numbers)?.numeral ?? numeralOf(written);
}

const IDENTITY = /\d{7,8}-?[A-Z](?![\p{L}\p{N}])/uy;

/** 12345678Z: the number of an identity card. */
export function identity(reading: Reading): Found | undefined {
  if (!reading.isFresh || reading.runEnd - reading.at < 7) return undefined;
  const match = reading.match(IDENTITY);
  if (match === undefined) return undefined;
  const [written] = match;
  const digits = written.replace(/\D/g, '');
  return { end: reading.at + written.length, spoken: `${SPEECH.digits(digits)} ${written.slice(-1)}`, rule: 'identifier' };
}

const MAGNIFIED = /(\d[\d.,]{0,12}) ?(k|K|M|MM|mill\.) ?(€|£|\$|EUR|USD)(?![\p{L}\p{N}])/uy;

/** 3,5 M€ */
export function magnifiedMoney(reading: Reading): Found | undefined {
  if (!reading.isFresh || !/[ .,kKM]/.test(reading.text[reading.runEnd] ?? '')) return undefined;
  const match = reading.match(MAGNIFIED);
  const [written = '', digits = '', short = '', sign = ''] = match ?? [];
  const number = match && readNumeral(reading.text, reading.at, WRITING.numbers);
  const [magnitude, currency] = [MAGNITUDES[short], CURRENCIES[WRITING.currencySigns[sign] ?? sign]];
  if (number === undefined || number.end !== reading.at + digits.length || !magnitude || !currency) return undefined;
  const end = reading.at + written.length;
  return { end, spoken: SPEECH.money({ number: number.numeral, magnitude }, currency, reading.around(end)), rule: 'currency' };
}

const POSTCODE = /\d{5}(?= (?:de )?\p{Lu}\p{Ll})/uy;

/** Calle Mayor 5, 28013 Madrid: said digit by digit. */
export function postcode(reading: Reading): Found | undefined {
  if (!reading.isFresh || reading.runEnd - reading.at !== 5 || reading.match(POSTCODE) === undefined) return undefined;
  const before = reading.text.slice(Math.max(0, reading.at - 3), reading.at);
  const digits = reading.text.slice(reading.at, reading.runEnd);
  if (!/,\s$/.test(before) || digits.endsWith('000')) return undefined;
  return { end: reading.runEnd, spoken: SPEECH.digits(digits), rule: 'digits' };
}

const NAMED_MONEY =
  /\$ ?(\d[\d.,]*)( (?:mil millones|mil|millones|millón|billones))?(?: (?:de )?(pesos(?: (?:mexicanos|argentinos|chilenos|colombianos|uruguayos))?|dólares|MXN|ARS|CLP|COP|UYU|DOP|USD|M\.N\.))(?!\p{L})/uy;

/** $500 pesos, $1,200 MXN: the word behind says which money the sign means. */
export function namedMoney(reading: Reading): Found | undefined {
  if (reading.text[reading.at] !== '$') return undefined;
  const match = reading.match(NAMED_MONEY);
  const [written = '', digits = '', magnitude, name = ''] = match ?? [];
  const at = reading.at + written.indexOf(digits);
  const number = match && readNumeral(reading.text, at, WRITING.numbers);
  if (number === undefined || number.end !== at + digits.length) return undefined;
  const currency = currencyOf(name);
  const known = magnitude === undefined ? undefined : MAGNITUDES[magnitude.trim()];
  const end = reading.at + written.length;
  const quantity = { number: number.numeral, ...(known && { magnitude: known }) };
  return { end, spoken: SPEECH.money(quantity, currency, reading.around(end)), rule: 'currency' };
}

function currencyOf(name: string): Currency {
  const { USD, PESO } = CURRENCIES;
  const pesos = { ...PESO, forms: ['peso', 'pesos'] };
  if (name === 'dólares') return { ...USD, forms: ['dólar', 'dólares'] };
  const nation = /^pesos (\p{L}+)$/u.exec(name)?.[1];
  if (nation !== undefined) return { ...pesos, forms: [`peso ${nation.slice(0, -1)}`, name] };
  return CURRENCIES[name] ?? pesos;
}

const ZONE = /(UTC|GMT) ?([+−–-])(\d{1,2})(?::(\d{2}))?(?![\p{L}\p{N}])/uy;

/** UTC-5, GMT+2. */
export function zone(reading: Reading): Found | undefined {
  if (!reading.isFresh || !/[UG]/.test(reading.text[reading.at] ?? '')) return undefined;
  const match = reading.match(ZONE);
  if (match === undefined) return undefined;
  const [written, name = '', sign, hours = '', minutes] = match;
  const half = minutes === undefined || minutes === '00' ? '' : ` ${cardinal(withoutZeros(minutes))}`;
  const spoken = `${SPEECH.letters(name)} ${sign === '+' ? 'más' : 'menos'} ${decimal(numeralOf(withoutZeros(hours)))}${half}`;
  return { end: reading.at + written.length, spoken, rule: 'zone' };
}

const OPENING = /([¿¡])\1+/uy;

/** ¡¡¡Hola!!! begins with one mark. */
export function openingMarks(reading: Reading): Found | undefined {
  const match = reading.match(OPENING);
  return match && { end: reading.at + match[0].length, spoken: match[1] ?? '', rule: 'punctuation' };
}

const CENTURY = /(siglos?|ss?\.) ?([IVXLC]{1,7})(?:( y |, | al | a | ?[-–] ?)([IVXLC]{1,7}))?(?![\p{L}\p{N}])/iuy;

/** Siglos XV y XVI, s. XIX, siglos XV-XVI. */
export function centuries(reading: Reading): Found | undefined {
  if (!reading.isFresh || !/[sS]/.test(reading.text[reading.at] ?? '')) return undefined;
  const match = reading.match(CENTURY);
  const [written = '', name = '', first = '', link, last] = match ?? [];
  if (match === undefined || !/^[IVXLC]+$/.test(first + (last ?? ''))) return undefined;
  const plural = /ss|siglos/i.test(name);
  if (last !== undefined && !plural) return undefined;
  const said = first && last === undefined ? sayCentury(first) : `${sayCentury(first)}${/[-–]/.test(link ?? '') ? ' a ' : (link ?? ' ')}${sayCentury(last ?? '')}`;
  const spoken = `${/^s/.test(name) ? 's' : 'S'}iglo${plural ? 's' : ''} ${said}`;
  return { end: reading.at + written.length, spoken, rule: 'roman' };
}

function sayCentury(roman: string): string {
  const value = romanValue(roman);
  return (value <= 10 ? ordinal(String(value)) : undefined) ?? cardinal(String(value));
}

const APOSTROPHE = /(\d{1,4})['’´](\d{2}) ?(?:€|euros?)(?!\p{L})/uy;

/** 3'50 €, as shops write it in Spain. */
export function shopPrice(reading: Reading): Found | undefined {
  if (!reading.isFresh || !/['’´]/.test(reading.text[reading.runEnd] ?? '')) return undefined;
  const match = reading.match(APOSTROPHE);
  const { EUR } = CURRENCIES;
  if (match === undefined || EUR === undefined) return undefined;
  const [written, whole = '', decimals = ''] = match;
  const end = reading.at + written.length;
  return { end, spoken: SPEECH.money({ number: { ...numeralOf(whole), decimals } }, EUR, reading.around(end)), rule: 'currency' };
}

const RATING = /(\d{1,2}[.,]\d{1,2})\/(5|10|20|100)(?![\d/]|[.,]\d)/y;

/** Un 9,5/10. */
export function rating(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(RATING) : undefined;
  if (match === undefined) return undefined;
  const [written, points = '', most = ''] = match;
  return { end: reading.at + written.length, spoken: `${decimal(numeralIn(points))} sobre ${cardinal(most)}`, rule: 'score' };
}
