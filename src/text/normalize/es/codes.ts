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

const POSTCODE = /\d{5}(?= (?:de )?\p{Lu}\p{Ll})/uy;

/** Calle Mayor 5, 28013 Madrid; C. P. 64000: said digit by digit. */
export function postcode(reading: Reading): Found | undefined {
  if (!reading.isFresh || reading.runEnd - reading.at !== 5) return undefined;
  const before = reading.text.slice(Math.max(0, reading.at - 8), reading.at);
  const digits = reading.text.slice(reading.at, reading.runEnd);
  const placed = /,\s$/.test(before) && !digits.endsWith('000') && reading.match(POSTCODE) !== undefined;
  if (!placed && !/C\.? ?P\.?:? $/.test(before)) return undefined;
  return { end: reading.runEnd, spoken: SPEECH.digits(digits), rule: 'digits' };
}

const ACCOUNT = /[A-Z]{2}\d{2}(?: ?\d{4}){5}(?![\p{L}\p{N}])/uy;

/** ES91 2100 0418 …: with a pause behind each group. */
export function accountNumber(reading: Reading): Found | undefined {
  const match = reading.isFresh && reading.runEnd === reading.at + 2 ? reading.match(ACCOUNT) : undefined;
  if (match === undefined) return undefined;
  const [written] = match;
  const groups = written.slice(4).replaceAll(' ', '').match(/\d{4}/g) ?? [];
  const country = `${SPEECH.letters(written.slice(0, 2))} ${SPEECH.digits(written.slice(2, 4))}`;
  const spoken = [country, ...groups.map((group) => SPEECH.digits(group))].join(', ');
  return { end: reading.at + written.length, spoken, rule: 'identifier' };
}

const LAW = /(\d{1,3}(?:\.\d{3})?)\/((?:19|20)\d\d)(?![\d/]|[.,]\d)/y;
const LAW_WORDS =
  /(?:ley|leyes|orgánica|decreto|RD|orden|resolución|expediente|circular|directiva|reglamento) $/iu;

/** Ley 39/2015, Real Decreto 1.514/2007. */
export function lawNumber(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(LAW) : undefined;
  if (match === undefined || !LAW_WORDS.test(reading.text.slice(Math.max(0, reading.at - 16), reading.at)))
    return undefined;
  const [written, number = '', year = ''] = match;
  const spoken = `${cardinal(number.replace('.', ''))} barra ${cardinal(year)}`;
  return { end: reading.at + written.length, spoken, rule: 'identifier' };
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
