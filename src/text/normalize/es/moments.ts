// Dates, times and centuries in the forms that only Spanish has.
import { numeralOf, withoutZeros } from '../numerals.js';
import { numberedByRomans } from '../iberian/romans.js';
import type { Found, Reading, Recogniser } from '../reading.js';
import { romanValue } from '../recognise/words.js';
import { cardinal, decimal, ordinal } from './numbers.js';
import { MONTH_NAMES, sayDay, SPEECH } from './speech.js';

const DAY_AND_MONTH = /(\d{1,2})[/-](\d{1,2})(?![\p{L}\p{N}/-]|[.,:]\d)/uy;
const BEFORE_DATE = new Set(
  'el del al día lunes martes miércoles jueves viernes sábado domingo desde hasta lun mié jue vie sáb dom'.split(
    ' ',
  ),
);

/** El 15/01, del 3/4 al 8/4: a day and its month where an article or weekday says so. */
export function dayAndMonth(reading: Reading): Found | undefined {
  if (!reading.isFresh || reading.runEnd - reading.at > 2) return undefined;
  if (!/[/-]/.test(reading.text[reading.runEnd] ?? '')) return undefined;
  const match = reading.match(DAY_AND_MONTH);
  const [written = '', day = '', month = ''] = match ?? [];
  const [d, m] = [Number(day), Number(month)];
  if (match === undefined || d < 1 || d > 31 || m < 1 || m > 12 || written === '24/7') return undefined;
  const end = reading.at + written.length;
  if (
    !BEFORE_DATE.has(reading.around(end).previousShort) ||
    (written.includes('-') && !month.startsWith('0'))
  )
    return undefined;
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
  if (
    !/^las?$/.test(around.previousWord) ||
    !/^(?:a|de|desde|hasta|sobre|hacia|entre|y|para)$/.test(around.secondPreviousWord)
  )
    return undefined;
  const word = reading.match(HOUR_WORD, around.end)?.[0] ?? '';
  const time = { hours: withoutZeros(hours), minutes, ...(word !== '' && { word: 'horas' }) };
  const spoken = SPEECH.time(time, around);
  return spoken === undefined ? undefined : { end: around.end + word.length, spoken, rule: 'time' };
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

/** Siglos XV y XVI, s. XIX, siglos XV-XVI; S. X is rather a saint. */
export const centuries: Recogniser = numberedByRomans({
  names: {
    's.': 'siglo', 'S.': 'Siglo', 'ss.': 'siglos', 'Ss.': 'Siglos', siglo: '', siglos: '', Siglo: '', Siglos: '', SIGLO: '', SIGLOS: '',
  },
  isPlural: (name) => /^ss|s$/i.test(name),
  say: (value) => (Number(value) <= 10 ? ordinal(value) : undefined) ?? cardinal(value),
}); // prettier-ignore

const ROMAN_MONTH = /(\d{1,2})-(I{1,3}|I?V|VI{1,3}|I?X|XI{1,2})-((?:1[5-9]|20)\d\d)(?![\p{L}\p{N}-])/uy;

/** 2-V-1808. */
export function romanMonth(reading: Reading): Found | undefined {
  const match =
    reading.isFresh && reading.text[reading.runEnd] === '-' ? reading.match(ROMAN_MONTH) : undefined;
  const [written = '', day = '', month = '', year = ''] = match ?? [];
  if (match === undefined || Number(day) < 1 || Number(day) > 31) return undefined;
  const end = reading.at + written.length;
  const date = { day: withoutZeros(day), month: romanValue(month), year, style: 'numeric' } as const;
  const spoken = SPEECH.date(date, reading.around(end));
  return spoken === undefined ? undefined : { end, spoken, rule: 'date' };
}

const DECADE = /['’]([1-9]0)(?![\p{L}\p{N}])/uy;

/** Los '90. */
export function decade(reading: Reading): Found | undefined {
  const match = reading.match(DECADE);
  if (match === undefined || !/^(?:los|años)$/.test(reading.around(reading.at).previousWord))
    return undefined;
  return { end: reading.at + match[0].length, spoken: cardinal(match[1] ?? ''), rule: 'decade' };
}
