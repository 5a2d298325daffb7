// Sums in the forms that only Spanish has.
import type { Currency } from '../language.js';
import { numeralOf, readNumeral, withoutZeros } from '../numerals.js';
import type { Found, Reading } from '../reading.js';
import { cardinal } from './numbers.js';
import { SPEECH } from './speech.js';
import { CURRENCIES, MAGNITUDES } from './units.js';
import { WRITING } from './writing.js';

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
