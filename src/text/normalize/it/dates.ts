// Dates and years as Italians write them: l'8/3, il 14/07, 12-15 maggio, anni '90, 5 set 2024.
import { tablesOf } from '../../tables/language-tables.js';
import type { WrittenDate } from '../quantity.js';
import { certain, type Around, type Found, type Reading } from '../reading.js';
import type { Rules } from '../shared-forms.js';
import { before } from './grammar.js';
import { cardinal } from './numbers.js';

const MONTHS = tablesOf('it').dates.months.map(([name = '']) => name);
const WEEKDAYS = tablesOf('it').dates.weekdays.map(([name = '']) => name);
const SHORT_DATE = /(\d{1,2})\/(0?[1-9]|1[0-2])(?![\p{L}\d/]|,\d)/uy;
const SHORT_DAY = /^(?:lun|mar|mer|gio|ven|sab|dom)$/;
// il 25 e 26/12
const DAYS_BEFORE = /(?:^|\s)(?:il|del|al|dal|nei giorni|i giorni) \d{1,2}(?:, \d{1,2}){0,3} e (?:il )?$/iu;
const PART_OF = /^ (?:de(?:gli|i|lle|lla|ll['’]|l)|d['’]|di) ?(?!(?:quest|ogni|anno|mese)|\d)\p{L}/u;
const SHORT_MONTH = /(\d{1,2}) (set|ago)\.? ((?:19|20)\d\d)(?![\p{L}\d])/uy;
/** Fino al 31.12: an amount has no zero in front of its decimals, and seldom eleven or twelve hundredths. */
const POINTED_DATE =
  /(\d{1,2})\.(0[1-9]|1[0-2])(?![\p{L}\d]|[.,:]\d| ?[%€$°]| (?:euro|milioni|miliardi|mila|metri|km|kg))/uy;
const BEFORE_DATE = tablesOf('it').set('before a date');
const CENTURY = /['’](\d{2,3})(?![\p{L}\p{N}]|['’"]|[.,]\d)/uy;
const DATE_RANGE =
  /(\d{1,2})(?:\/(\d{1,2}))? ?[-–] ?(\d{1,2})\/(\d{1,2})(?:\/(\d{4}))?(?![\p{L}\d/]|[.,]\d)/uy;

/** Primo, but "l'uno": the elided article has been written. */
function day(digits: string, around: Around): string {
  if (digits !== '1') return cardinal(digits);
  return /['’]$/.test(around.previousWord) ? 'uno' : 'primo';
}

export function date(
  { day: first, dayTo, isPair, month, year, style }: WrittenDate,
  around: Around,
): string | undefined {
  if (style === 'numeric' && year === undefined) return undefined;
  const name = MONTHS[(month ?? 0) - 1] ?? '';
  const full = year === undefined ? '' : cardinal(year.length === 2 ? withCentury(year) : year);
  const days =
    first === undefined
      ? ''
      : dayTo === undefined
        ? day(first, around)
        : isPair
          ? `${day(first, around)} e ${cardinal(dayTo)}`
          : daysBetween(first, dayTo, around);
  return [days, name, full].filter((part) => part !== '').join(' ');
}

/** Dal dodici al quindici; "il 12-13" is "il dodici e il tredici". */
function daysBetween(from: string, to: string, around: Around): string {
  const [first, last] = [day(from, around), cardinal(to)];
  const word = around.previousWord;
  if (/^(?:dal|dall['’])$/.test(word)) return `${first} ${before('al', last)}`;
  if (/^(?:il|l['’]|del|dell['’])$/.test(word)) {
    const article = /^(?:otto|undici)/.test(last) ? "l'" : 'il ';
    return Number(to) - Number(from) === 1
      ? `${first} e ${article}${last}`
      : `${first} ${before('al', last)}`;
  }
  return `${before('dal', first)} ${before('al', last)}`;
}

function withCentury(two: string): string {
  return Number(two) < 70 ? `20${two}` : `19${two}`;
}

function isDay(digits: string): boolean {
  return Number(digits) >= 1 && Number(digits) <= 31;
}

/** Il 14/07; 1/2 alone is a half. */
export function shortDate(reading: Reading): Found | undefined {
  const match = reading.match(SHORT_DATE) ?? reading.match(POINTED_DATE);
  if (match === undefined) return undefined;
  const around = reading.around(reading.at);
  const [written, digits = '', month = ''] = match;
  const weekday = SHORT_DAY.test(around.previousShort);
  const row = weekday || DAYS_BEFORE.test(reading.text.slice(Math.max(0, reading.at - 24), reading.at));
  if (!(row || BEFORE_DATE.has(around.previousWord)) || !isDay(digits)) return undefined;
  const part =
    Number(digits) < Number(month) &&
    PART_OF.test(reading.text.slice(reading.at + written.length, reading.at + written.length + 16));
  if (part) return undefined; // l'1/5 degli italiani
  const spoken = `${day(String(Number(digits)), around)} ${MONTHS[Number(month) - 1] ?? ''}`;
  return { end: reading.at + written.length, spoken, rule: 'date' };
}

/** 5 set 2024: without its year it is a set of a match. */
function shortMonth(reading: Reading): Found | undefined {
  const match = reading.match(SHORT_MONTH);
  if (match === undefined) return undefined;
  const [written, digits = '', name, year = ''] = match;
  if (!isDay(digits)) return undefined;
  const month = name === 'set' ? 'settembre' : 'agosto';
  const spoken = `${day(String(Number(digits)), reading.around(reading.at))} ${month} ${cardinal(year)}`;
  return { end: reading.at + written.length, spoken, rule: 'date' };
}

const DAY_NAME = '(lun|mar|mer|gio|ven|sab|dom)\\.?(?!\\p{L})';
const SHORT_WEEKDAY = new RegExp(DAY_NAME, 'iuy');
const TO_DAY = new RegExp(`^ al?(?:la)? ${DAY_NAME}`, 'iu');
const FROM_DAY = new RegExp(`(?<!\\p{L})dal?(?:la)? ${DAY_NAME} al?(?:la)? $`, 'iu');
const BESIDE_DAY = new RegExp(`(?<!\\p{L})(?:${DAY_NAME}|${WEEKDAYS.join('|')})(?: e |/)$`, 'iu');
const SLASHED_DAY = new RegExp(`^\\.?(?:/| e )${DAY_NAME}`, 'iu');
const LOOK_AHEAD = 20; // units
const WEEKS = /(\d{1,2}) sett\.?(?= (?:di|e|al|per|dopo|fa|prima|consecutive)\b)/uy;

/** 12-15/03, 28/12 - 6/1 */
function dateRange(reading: Reading): Found | undefined {
  const match = reading.match(DATE_RANGE);
  if (match === undefined || /[.,:/]/.test(reading.text[reading.at - 1] ?? '')) return undefined;
  const [written, from = '', monthFrom, to = '', month = '', year] = match;
  const [first, second] = [
    monthFrom === undefined ? '' : MONTHS[Number(monthFrom) - 1],
    MONTHS[Number(month) - 1],
  ];
  if (first === undefined || second === undefined || !isDay(from) || !isDay(to)) return undefined;
  const around = reading.around(reading.at);
  const start = [day(String(Number(from)), around), first].filter((part) => part !== '').join(' ');
  const end = [cardinal(to), second, year === undefined ? '' : cardinal(year)]
    .filter((part) => part !== '')
    .join(' ');
  const said = around.previousWord === 'dal' ? start : before('dal', start);
  return { end: reading.at + written.length, spoken: `${said} ${before('al', end)}`, rule: 'date' };
}

/** Anni '90, il '68, l'arte del '900: the apostrophe stands for the rest of the year. */
export function shortYear(reading: Reading): Found | undefined {
  const match = reading.match(CENTURY);
  if (match === undefined || (!reading.startsChunk && !/[-–]/.test(reading.text[reading.at - 1] ?? '')))
    return undefined;
  const [written, digits = ''] = match;
  if (digits.length === 3 && !digits.endsWith('00')) return undefined;
  const spoken = digits.startsWith('0') ? `zero ${cardinal(digits)}` : cardinal(digits);
  return { end: reading.at + written.length, spoken, rule: 'year' };
}

const IN_THE_YEAR = tablesOf('it').set('before a year');

/** Dal millenovecentotrentanove al millenovecentoquarantacinque; "nel biennio 2019-2020" is said without. */
export function yearRange(from: string, to: string, around: Around): string {
  const word = around.previousWord;
  if (word === 'tra' || word === 'fra') return `il ${from} e il ${to}`;
  if (word === 'dal') return `${from} al ${to}`;
  const ofSchool = /a\.[sa]\. $/i.test(around.text.slice(Math.max(0, around.start - 5), around.start));
  return ofSchool || IN_THE_YEAR.has(word) ? `${from} ${to}` : `dal ${from} al ${to}`;
}

/** The days of "da lun a ven", "dal lun. al ven.". */
export function shortWeekday(reading: Reading): Found | undefined {
  const match = reading.match(SHORT_WEEKDAY);
  const { text, at } = reading;
  if (match === undefined) return undefined;
  const [written, short = ''] = match;
  const first =
    /\b(?:da|dal|dalla) $/i.test(text.slice(Math.max(0, at - 6), at)) &&
    TO_DAY.test(text.slice(at + written.length, at + LOOK_AHEAD));
  const last = FROM_DAY.test(text.slice(Math.max(0, at - LOOK_AHEAD), at));
  const name = WEEKDAYS.find((day) => day.startsWith(short.toLowerCase()));
  const opens =
    (written.endsWith('.') &&
      /^ \d{1,2}(?:[.:]\d\d)? ?[-–]/.test(text.slice(at + written.length, at + written.length + 9))) ||
    BESIDE_DAY.test(text.slice(Math.max(0, at - LOOK_AHEAD), at)) ||
    SLASHED_DAY.test(text.slice(at + short.length, at + LOOK_AHEAD));
  return (first || last || opens) && name !== undefined
    ? { end: at + written.length, spoken: name, rule: 'date' }
    : undefined;
}

/** 2 sett. di ferie are weeks, 2 sett. a day. */
function shortWeeks(reading: Reading): Found | undefined {
  const match = reading.match(WEEKS);
  if (match === undefined) return undefined;
  const [written, digits = ''] = match;
  const spoken = digits === '1' ? 'una settimana' : `${cardinal(digits)} settimane`;
  return { end: reading.at + written.length, spoken, rule: 'measure' };
}

/** Dal lunedì al venerdì, dalla domenica al giovedì; undefined where these are no days. */
export function weekdayRange(from: string, to: string, around: Around): string | undefined {
  const [first, last] = [WEEKDAYS.indexOf(from), WEEKDAYS.indexOf(to)];
  if (first < 0 || last < 0) return undefined;
  if (last - first === 1) return `${from} e ${to}`;
  const start = /^dal(?:la)?$/.test(around.previousWord)
    ? from
    : `${from === 'domenica' ? 'dalla' : 'dal'} ${from}`;
  return `${start} ${to === 'domenica' ? 'alla' : 'al'} ${to}`;
}

/** Da gennaio a marzo, dal primo gennaio al trentuno marzo; undefined where these are no dates. */
export function dateToDate(from: string, to: string, around: Around): string | undefined {
  const word = around.previousWord;
  const between = word === 'tra' || word === 'fra';
  if (MONTHS.includes(from)) {
    if (between) return `${from} e ${to}`;
    return word === 'da' ? `${from} a ${to}` : `da ${from} a ${to}`;
  }
  if (!MONTHS.some((month) => from.includes(` ${month}`))) return undefined;
  return `${/^dal(?:l['’])?$/.test(word) ? from : before('dal', from)} ${before('al', to)}`;
}

/** In the order in which the language asks them. */
export const dateRules = {
  behindDigits: [
    [/[-–/]/, dateRange],
    [/s/, certain(shortWeeks)],
    [/[sa]/, shortMonth],
  ],
} satisfies Rules;
