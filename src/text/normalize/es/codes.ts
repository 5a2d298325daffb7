// Numbers of identity cards, accounts, places and laws; the opening marks.
import type { Found, Reading } from '../reading.js';
import { romanValue } from '../recognise/words.js';
import { cardinal } from './numbers.js';
import { SPEECH } from './speech.js';

const IDENTITY = /\d{7,8}-?[A-Z](?![\p{L}\p{N}])/uy;

/** 12345678Z: the number of an identity card. */
export function identity(reading: Reading): Found | undefined {
  if (!reading.isFresh || reading.runEnd - reading.at < 7) return undefined;
  const match = reading.match(IDENTITY);
  if (match === undefined) return undefined;
  const [written] = match;
  const digits = written.replace(/\D/g, '');
  return {
    end: reading.at + written.length,
    spoken: `${SPEECH.digits(digits)} ${written.slice(-1)}`,
    rule: 'identifier',
  };
}

const GROUPED = /\d{1,2}\.\d{3}\.\d{3}-[\dkK](?![\p{L}\p{N}-])|\d{3}\.\d{3}\.\d{3}-\d(?![\p{L}\p{N}-])/uy;

/** 12.345.678-9, 900.123.456-7: a tax number of Chile or Colombia. */
export function taxNumber(reading: Reading): Found | undefined {
  const match = reading.isFresh && reading.text[reading.runEnd] === '.' ? reading.match(GROUPED) : undefined;
  if (match === undefined) return undefined;
  const groups = match[0].match(/\d+|[kK]/g) ?? [];
  const spoken = groups.map((group) => (/\d/.test(group) ? SPEECH.digits(group) : 'K')).join(', ');
  return { end: reading.at + match[0].length, spoken, rule: 'identifier' };
}

const CIVIL_CODE = /[A-Z]{3,4}\d{6}(?:[HM][A-Z]{5}[A-Z\d]\d|[A-Z\d]{3})(?![\p{L}\p{N}])/uy;

/** CURP and RFC of Mexico: letters, a date, letters. */
export function lettersAndDigits(reading: Reading): Found | undefined {
  if (!reading.isFresh || !/\d/.test(reading.text[reading.runEnd] ?? '')) return undefined;
  const match = reading.match(CIVIL_CODE);
  if (match === undefined) return undefined;
  const runs = match[0].match(/\d+|[A-Z]+/g) ?? [];
  const spoken = runs.map((run) => (/\d/.test(run) ? SPEECH.digits(run) : SPEECH.letters(run))).join(' ');
  return { end: reading.at + match[0].length, spoken, rule: 'identifier' };
}

const POSTCODE = /\d{5}(?= (?:de )?\p{Lu}\p{Ll})/uy;

/** Calle Mayor 5, 28013 Madrid; C. P. 64000: said digit by digit. */
export function postcode(reading: Reading): Found | undefined {
  if (!reading.isFresh || reading.runEnd - reading.at !== 5) return undefined;
  const before = reading.text.slice(Math.max(0, reading.at - 8), reading.at);
  const digits = reading.text.slice(reading.at, reading.runEnd);
  const placed =
    /,\s$|^$|\n$/.test(before) && !digits.endsWith('000') && reading.match(POSTCODE) !== undefined;
  const named = /C\.? ?P\.?:? $|c[óo]digo postal[^.;\d]{0,24}$/i.test(
    reading.text.slice(Math.max(0, reading.at - 40), reading.at),
  );
  if (!placed && !named) return undefined;
  return { end: reading.runEnd, spoken: SPEECH.digits(digits), rule: 'digits' };
}

const HOUSE = /(\d{1,3})([A-Z]?)-(\d{1,3})(?![\p{L}\d-])/uy;
const STREET =
  /(?:calle|carrera|avenida|diagonal|transversal|c(?:l|ll|r|ra)\.?|kr\.?|av\.?|dg\.?|tv\.?) \d{1,3} ?[A-Z]?(?: bis| sur| norte)? (?:#|n[.º°]*º?|no\.?|nro\.) ?$/iu;

/** Calle 45 # 23-67: a house of Colombia, by its crossing and its distance. */
export function house(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(HOUSE) : undefined;
  if (match === undefined || !STREET.test(reading.text.slice(Math.max(0, reading.at - 32), reading.at)))
    return undefined;
  const [written, crossing = '', letter = '', distance = ''] = match;
  const spoken = `${cardinal(crossing)}${letter === '' ? '' : ` ${letter}`} guion ${cardinal(distance)}`;
  return { end: reading.at + written.length, spoken, rule: 'address' };
}

const OPENING = /([¿¡])\1+/uy;

/** ¡¡¡Hola!!! begins with one mark. */
export function openingMarks(reading: Reading): Found | undefined {
  const match = reading.match(OPENING);
  return match && { end: reading.at + match[0].length, spoken: match[1] ?? '', rule: 'punctuation' };
}

const ROAD = /N-(I{1,3}|IV|VI?)(?![\p{L}\p{N}-])/uy;

/** The roads N-I to N-VI. */
export function road(reading: Reading): Found | undefined {
  const match = reading.text[reading.at] === 'N' && reading.isFresh ? reading.match(ROAD) : undefined;
  if (match === undefined) return undefined;
  const spoken = `N ${cardinal(String(romanValue(match[1] ?? '')))}`;
  return { end: reading.at + match[0].length, spoken, rule: 'roman' };
}
