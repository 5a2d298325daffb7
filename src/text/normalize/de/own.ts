// Tokens that only German has: 5,– €, street names in -str., 3x, 10 x 20 m.
import { numeralOf, withoutZeros } from '../numerals.js';
import type { Found, Reading } from '../reading.js';
import { cardinal, decimal } from './numbers.js';
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

const LASTING = /(\d{1,2}):(\d{2}):(\d{2})(?: (?:Stunden|Std\.|h)(?!\p{L}))?(?![\d:])/uy;
const BEFORE_LASTING = new Set([
  'in',
  'nach',
  'dauerte',
  'dauert',
  'brauchte',
  'lief',
  'läuft',
  'von',
  'zeit',
  'dauer',
  'laufzeit',
]);

/** Er lief 1:05:20 Stunden: that is no time of day. */
export function lasting(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(LASTING) : undefined;
  if (match === undefined) return undefined;
  const [written, hours = '', minutes = '', seconds = ''] = match;
  if (!/\p{L}/u.test(written) && !BEFORE_LASTING.has(reading.around(reading.at).previousWord))
    return undefined;
  const parts = ([[hours, 'h'], [minutes, 'min'], [seconds, 's']] as const)
    .map(([digits, unit]) => [withoutZeros(digits), unit] as const)
    .filter(([digits]) => digits !== '0'); // prettier-ignore
  if (parts.length === 0) return undefined;
  const end = reading.at + written.length;
  return { end, spoken: SPEECH.duration(parts, reading.around(end)), rule: 'duration' };
}

const NUMBER = '\\d{1,5}(?:,\\d{1,3})?';
const SIZES = new RegExp(`${NUMBER}(?: ?[x×] ?${NUMBER}){1,3}(?!\\p{N}| ?=|[,.]\\d)`, 'uy');
const SIZE = new RegExp(`(${NUMBER}) ?[x×] ?(?=\\d)`, 'y');
const TIMES_AS_MUCH = new RegExp(`(${NUMBER})x(?![\\p{L}\\p{N}])`, 'uy');

/** 10 x 20 m: all but the last number, which may have a unit. */
export function sizes(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const behindOne = at === reading.tokenEnd && /[x×] ?$/.test(text.slice(at - 2, at));
  if (!behindOne && !(reading.isFresh && reading.match(SIZES))) return undefined;
  const match = reading.match(SIZE);
  if (match === undefined) return undefined;
  return { end: at + match[0].length, spoken: `${sayDecimal(match[1] ?? '')} mal`, rule: 'measure' };
}

/** 3x so schnell, 2,5x */
export function timesAsMuch(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(TIMES_AS_MUCH) : undefined;
  if (match === undefined) return undefined;
  const [written, number = ''] = match;
  const whole = number === '1' ? 'ein' : sayDecimal(number);
  return {
    end: reading.at + written.length,
    spoken: number.includes(',') ? `${whole} mal` : `${whole}mal`,
    rule: 'math',
  };
}

function sayDecimal(written: string): string {
  const [whole = '', decimals = ''] = written.split(',');
  return decimal({ negative: false, whole, decimals, grouped: false });
}

const HOUSE = /(\d{1,3})([a-h])(?![\p{L}\p{N}])/uy;

/** Hauptstr. 12a */
export function houseNumber(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(HOUSE) : undefined;
  const street = /(?:[sS]tr\.|[sS]traße|weg|platz|allee|gasse|damm|ufer|ring|Nr\.|Hausnummer) $/u;
  if (match === undefined || !street.test(reading.text.slice(Math.max(0, reading.at - 24), reading.at)))
    return undefined;
  const [written, number = '', letter = ''] = match;
  return { end: reading.at + written.length, spoken: `${cardinal(number)} ${letter}`, rule: 'cardinal' };
}

const OFFICE_NUMBER = /\d{3,12}(?![\p{L}\p{N}]|[ .,/-]\d)/uy;

/** Best.-Nr. 4711 */
export function officeNumber(reading: Reading): Found | undefined {
  const digits = reading.isFresh ? reading.match(OFFICE_NUMBER)?.[0] : undefined;
  const before = reading.text.slice(Math.max(0, reading.at - 8), reading.at);
  if (digits === undefined || !/\.-Nr\.:? ?$/.test(before)) return undefined;
  return { end: reading.at + digits.length, spoken: SPEECH.digits(digits), rule: 'digits' };
}
