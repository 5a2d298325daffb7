// Dates, times and centuries in the forms that only Spanish has.
import { withoutZeros } from '../numerals.js';
import { dayAndMonth, monthAndYear, zone } from '../iberian/dates.js';
import { numberedByRomans } from '../iberian/romans.js';
import type { Found, Reading, Recogniser } from '../reading.js';
import { romanValue } from '../recognise/words.js';
import { DATES, FRACTIONS, SPEECH } from './speech.js';
import { cardinal, ordinal } from './numbers.js';
import { WRITING } from './writing.js';

const BEFORE_DATE =
  'vence vencen venció caduca el del al día lunes martes miércoles jueves viernes sábado domingo desde hasta lun mié jue vie sáb dom';

export const day = dayAndMonth({
  before: new Set(BEFORE_DATE.split(' ')),
  beforeTime: /^,? a las? \d/,
  isPressure: FRACTIONS.isPressure,
  marks: '/-',
  say: DATES.dayOf,
  range: (from, to, around) => SPEECH.range(from, to, around),
});

/** Abr-24, ene/2025. */
export const shortMonth = monthAndYear(WRITING.dates.months, SPEECH);

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

/** UTC-5, GMT+2. */
export const utc = zone({ plus: 'más', minus: 'menos', joint: '' }, cardinal, SPEECH);

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

const SHORT_YEAR = /['’](\d{2})(?![\p{L}\p{N}])/uy;

/** Los '90, el '92. */
export function shortYear(reading: Reading): Found | undefined {
  const match = reading.match(SHORT_YEAR);
  const [written = '', year = ''] = match ?? [];
  const before = reading.around(reading.at).previousWord;
  if (match === undefined || !(year.endsWith('0') ? /^(?:los|años)$/ : /^(?:el|del|al)$/).test(before))
    return undefined;
  return { end: reading.at + written.length, spoken: cardinal(withoutZeros(year)), rule: 'year' };
}
