// Sums, products and parts in the forms that only Spanish has.
import type { Currency } from '../language.js';
import { numeralOf, readNumeral, withoutZeros, type Numeral } from '../numerals.js';
import type { Found, Reading } from '../reading.js';
import { vulgarFraction } from '../recognise/quantities.js';
import { parts } from './fractions.js';
import { genderOf } from './grammar.js';
import { cardinal, decimal } from './numbers.js';
import { atLeast, coordinates } from '../shared-forms.js';
import { SPEECH } from './speech.js';
import { CURRENCIES, MAGNITUDES } from './units.js';
import { WRITING } from './writing.js';

const MIXED = /(\d{1,3})(?: ?([½¼¾⅓⅔])|[ ]([1-9])[/⁄]([2-9])) (\p{Ll}{3,})(?!\p{L})/uy;

/** 2 1/2 tazas: dos tazas y media; 3 1/4 cucharadas: tres cucharadas y un cuarto. */
export function halfMore(reading: Reading): Found | undefined {
  if (!reading.isFresh || !/[ ½¼¾⅓⅔]/u.test(reading.text[reading.runEnd] ?? '')) return undefined;
  const match = reading.match(MIXED);
  const [written = '', whole = '', sign = '', numerator = '', denominator = '', noun = ''] = match ?? [];
  if (match === undefined || /^(?:por|con|del|más|que|para|las|los)$/.test(noun)) return undefined;
  const gender = genderOf(noun);
  const name = whole === '1' ? noun.replace(/(?<=[aeo])s$/, '') : noun;
  const fraction = vulgarFraction(sign) ?? { numerator, denominator };
  if (Number(fraction.numerator) >= Number(fraction.denominator)) return undefined;
  const half = fraction.numerator === '1' && fraction.denominator === '2';
  const part = half ? (gender === 'f' ? 'media' : 'medio') : parts(fraction);
  const spoken = `${cardinal(whole, gender)} ${name} y ${part}`;
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
  if (
    !/[\p{L}²³]/u.test(reading.text[end + last[0].length] ?? ' ') &&
    !/^ ?(?:cm|mm|m|km|px)\b/.test(reading.text.slice(end + last[0].length, end + last[0].length + 4))
  )
    return {
      end: end + last[0].length,
      spoken: `${spoken} por ${decimal(numeralIn(last[0]))}`,
      rule: 'math',
    };
  return sayLast(reading, end, spoken);
}

/** The unit behind the last factor. */
function sayLast(reading: Reading, end: number, spoken: string): Found | undefined {
  const number = readNumeral(reading.text, end, WRITING.numbers);
  const unit =
    number && /^ ?(cm|mm|m|km|px)(?![\p{L}\p{N}²³])/u.exec(reading.text.slice(number.end, number.end + 5));
  const noun = WRITING.units[unit?.[1] ?? ''];
  if (number === undefined || !unit || noun === undefined) return undefined;
  return {
    end: number.end + unit[0].length,
    spoken: `${spoken} por ${decimal(number.numeral)} ${noun.forms[1] ?? ''}`,
    rule: 'measure',
  };
}

function numeralIn(written: string): Numeral {
  return readNumeral(written, 0, WRITING.numbers)?.numeral ?? numeralOf(written);
}

const MAGNIFIED = /(\d[\d.,]{0,12}) ?(k|K|M|MM|mill\.) ?(€|£|\$|EUR|USD)(?![\p{L}\p{N}])/uy;

/** 3,5 M€ */
export function magnifiedMoney(reading: Reading): Found | undefined {
  if (!reading.isFresh || !/[ .,kKM]/.test(reading.text[reading.runEnd] ?? '')) return undefined;
  const match = reading.match(MAGNIFIED);
  const [written = '', digits = '', short = '', sign = ''] = match ?? [];
  const number = match && readNumeral(reading.text, reading.at, WRITING.numbers);
  const [magnitude, currency] = [MAGNITUDES[short], CURRENCIES[WRITING.currencySigns[sign] ?? sign]];
  if (number === undefined || number.end !== reading.at + digits.length || !magnitude || !currency)
    return undefined;
  const end = reading.at + written.length;
  return {
    end,
    spoken: SPEECH.money({ number: number.numeral, magnitude }, currency, reading.around(end)),
    rule: 'currency',
  };
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

const APOSTROPHE = /(\d{1,4})['’´](\d{2}) ?(?:€|euros?)(?!\p{L})/uy;

/** 3'50 €, as shops write it in Spain. */
export function shopPrice(reading: Reading): Found | undefined {
  if (!reading.isFresh || !/['’´]/.test(reading.text[reading.runEnd] ?? '')) return undefined;
  const match = reading.match(APOSTROPHE);
  const { EUR } = CURRENCIES;
  if (match === undefined || EUR === undefined) return undefined;
  const [written, whole = '', decimals = ''] = match;
  const end = reading.at + written.length;
  return {
    end,
    spoken: SPEECH.money({ number: { ...numeralOf(whole), decimals } }, EUR, reading.around(end)),
    rule: 'currency',
  };
}

const OF_HUNDRED = /(pesos?|dólares|soles) (\d{2})\/100 (?:M\. ?N\.|MN|m\. ?n\.|moneda nacional)/y;

/** Mil pesos 00/100 M.N., as bills write it in Mexico. */
export function centsOfHundred(reading: Reading): Found | undefined {
  if (!reading.isFresh || !/[pds]/.test(reading.text[reading.at] ?? '')) return undefined;
  const match = reading.match(OF_HUNDRED);
  if (match === undefined) return undefined;
  const cents = withoutZeros(match[2] ?? '');
  const spoken = `${match[1] ?? ''} con ${cardinal(cents, 'm')} centavo${cents === '1' ? '' : 's'}, moneda nacional`;
  return { end: reading.at + match[0].length, spoken, rule: 'currency' };
}

const RATING = /(\d{1,2}[.,]\d{1,2})\/(5|10|20|100)(?![\d/]|[.,]\d)/y;

/** Un 9,5/10. */
export function rating(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(RATING) : undefined;
  if (match === undefined) return undefined;
  const [written, points = '', most = ''] = match;
  return {
    end: reading.at + written.length,
    spoken: `${decimal(numeralIn(points))} sobre ${cardinal(most)}`,
    rule: 'score',
  };
}

const DIRECTIONS: Readonly<Record<string, string>> = {
  N: 'norte',
  S: 'sur',
  E: 'este',
  O: 'oeste',
  W: 'oeste',
};

const PARTS = { degree: 'grado', minute: 'minuto', second: 'segundo' } as const;

/** 40º 25' N. */
export const position = coordinates((digits, part) => counted(digits, PARTS[part]), DIRECTIONS);

function counted(digits: string, noun: string): string {
  return `${cardinal(digits, 'm')} ${noun}${digits === '1' ? '' : 's'}`;
}

/** 100+ usuarios. */
export const moreThan = atLeast('más de', WRITING.numbers, SPEECH);
