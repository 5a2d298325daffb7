// Tokens that only German has: 5,– € and street names in -str.
import type { Found, Reading } from '../reading.js';
import { numeralOf } from '../numerals.js';
import { SPEECH } from './speech.js';
import { CURRENCIES } from './units.js';

const WHOLE_EURO = /(\d{1,3}(?:\.\d{3}){0,3}|\d{1,9}),(?:[-–—]{1,2})(?: ?(?:€|EUR|Euro)(?!\p{L}))?/uy;
const STREET = /\p{Lu}[\p{L}-]{1,40}str\.(?!\p{L})/uy;

/** 5,– or 5,-- €: no cents. */
export function wholeEuro(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(WHOLE_EURO) : undefined;
  const { EUR } = CURRENCIES;
  if (match === undefined || EUR === undefined) return undefined;
  const end = reading.at + match[0].length;
  const number = numeralOf((match[1] ?? '').replaceAll('.', ''));
  return { end, spoken: SPEECH.money({ number }, EUR, reading.around(end)), rule: 'currency' };
}

/** Hauptstr. is the Hauptstraße. */
export function street(reading: Reading): Found | undefined {
  if (!reading.isFresh || !reading.text.startsWith('str.', reading.runEnd - 3)) return undefined;
  const match = reading.match(STREET);
  if (match === undefined) return undefined;
  return { end: reading.at + match[0].length, spoken: `${match[0].slice(0, -1)}aße`, rule: 'abbreviation' };
}

const POSTCODE = /\d{5}(?= \p{Lu}\p{Ll})/uy;

/** In 10115 Berlin, Hauptstr. 5, 10115 Berlin: said digit by digit. */
export function postcode(reading: Reading): Found | undefined {
  if (!reading.isFresh || reading.runEnd - reading.at !== 5) return undefined;
  const before = reading.text.slice(Math.max(0, reading.at - 8), reading.at);
  if (!/(?:\b(?:in|nach|aus|D)[ -]|\d[a-z]?, |,\s)$/u.test(before) || reading.match(POSTCODE) === undefined)
    return undefined;
  const digits = reading.text.slice(reading.at, reading.runEnd);
  if (
    digits.endsWith('000') ||
    /^(?:Euro|Menschen|Personen|Stück)/.test(reading.text.slice(reading.runEnd + 1, reading.runEnd + 10))
  )
    return undefined;
  return { end: reading.runEnd, spoken: SPEECH.digits(digits), rule: 'digits' };
}
