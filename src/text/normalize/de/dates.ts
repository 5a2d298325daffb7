// Reads German dates: names of months and days, rows of days, months with a year, expiry dates.
import { tablesOf } from '../../tables/language-tables.js';
import type { WrittenDate } from '../quantity.js';
import { withoutZeros } from '../numerals.js';
import type { Around, Found, Reading } from '../reading.js';
import { alternatives } from '../recognise/dates.js';
import type { Rules } from '../shared-forms.js';
import { ordinalEnding } from './grammar.js';
import { year } from './numbers.js';
import { governorOfOrdinal, ordinalWord } from './ordinals.js';

const { months: MONTHS, weekdays: WEEKDAYS } = tablesOf('de').dates;

const NAMES = new Map(WEEKDAYS.map(([full = '', , short = '']) => [short, full]));
const WEEKDAY = '(?:Mo|Di|Mi|Do|Fr|Sa|So)\\.?';
const SHORT = /(Mo|Di|Mi|Do|Fr|Sa|So)\.?(?![\p{L}\p{N}])/uy;
const WEEKDAY_JOIN = '(?: ?[,/&+–-] ?| (?:u\\.|und|bis|oder|o\\.|sowie) )';
const BEFORE_DAY = new RegExp(`^${WEEKDAY_JOIN}${WEEKDAY}(?![\\p{L}\\p{N}])`, 'u');
const BEHIND_DAY = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:${WEEKDAY}|(?:Mon|Diens|Donners|Frei|Sams|Sonn)tag|Mittwoch)${WEEKDAY_JOIN}$`,
  'u',
);
const UM = /^ um \d/;
/** A sign between two days is a word. */
const SIGN = /^ ?[+&/] ?(?=(?:Mo|Di|Mi|Do|Fr|Sa|So)(?!\p{L}))/u;
const BEHIND_WORD =
  /(?:^|[\s(])(?:[aA]m|[jJ]eden|nächsten|kommenden|diesen|letzten|vergangenen|[aA]b|[vV]om) $/;
const BEFORE_HOURS =
  /^,?:? (?:ab |von |bis )?\d{1,2}(?:[:.]\d\d)?(?: ?(?:Uhr|h)(?!\p{L})| ?[-–] ?\d{1,2}(?:[:.]\d\d)?(?: ?(?:Uhr|h)(?!\p{L})|\s*(?:$|[,;)\n]| [cs]\. ?t\.)))/u;
/** So alle 30 Min.: Sunday, behind other days. */
const SUNDAY_BEHIND = /^ (?:alle|ab|geschlossen|geschl\.|zu|nur|frei|Ruhetag)(?!\p{L})/u;
const CLOSED = /^,?:? (?:geschlossen|geschl\.|Ruhetag)(?!\p{L})/u;
const DAYS_BEFORE = /(?:tag|(?<!\p{L})(?:Mo|Di|Mi|Do|Fr|Sa))(?!\p{Ll})(?:[^.!?]|\.\d){0,60}[,;] $/u;
const LONGEST_WEEKDAY_LEAD = 16; // units before a day that may hold another one
const LONGEST_HOURS = 28;
const LONGEST_ROW = 80; // units of other days and their hours

export function weekday(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const match = reading.match(SHORT);
  if (match === undefined) return undefined;
  const [written, short = ''] = match;
  const end = at + written.length;
  const [before, behind] = [
    text.slice(Math.max(0, at - LONGEST_WEEKDAY_LEAD), at),
    text.slice(end, end + LONGEST_HOURS),
  ];
  const listed = BEFORE_DAY.test(behind) || BEHIND_DAY.test(before);
  const isDay =
    listed ||
    (short === 'So' &&
      SUNDAY_BEHIND.test(behind) &&
      DAYS_BEFORE.test(text.slice(Math.max(0, at - LONGEST_ROW), at))) ||
    BEHIND_WORD.test(before) ||
    BEFORE_HOURS.test(behind) ||
    (short !== 'So' && CLOSED.test(behind)) ||
    (short !== 'So' && UM.test(behind));
  const spoken = NAMES.get(short);
  if (!isDay || spoken === undefined || /^ ?[-–] ?(?:Mo|Di|Mi|Do|Fr|Sa|So)(?!\p{L})/u.test(behind))
    return undefined;
  const sign = SIGN.exec(behind)?.[0];
  if (sign !== undefined) return { end: end + sign.length, spoken: `${spoken} und`, rule: 'date' };
  const stop = written.endsWith('.') && !listed && /^\s+\p{Lu}/u.test(behind);
  return { end: stop ? end - 1 : end, spoken, rule: 'date' };
}

/** Am Montag, dritten Mai: the accusative or dative is heard although no article is written. */
const OBLIQUE = /^(?:auf|in|an|um|gegen|bis|über|per)$/;

export function date(written: WrittenDate, around: Around): string | undefined {
  const { day, dayTo, isPair, style } = written;
  const text = around.text.slice(around.start, around.end);
  const rest = monthAndYear(written, text);
  if (day === undefined) return rest;
  if (style === 'name' && !/^\d{1,2}\./.test(text)) return undefined;
  const ending = endingOfDay(around);
  const days = dayTo === undefined ? [day] : [day, dayTo];
  return `${days.map((one) => ordinalWord(one, ending)).join(isPair ? ' und ' : ' bis ')} ${rest}`;
}

function endingOfDay(around: Around): string {
  const { word, behindWeekday } = governorOfOrdinal(around);
  if (behindWeekday && /^(?:am|vom|ab|seit|zum|bis|für|auf)$/.test(word)) return 'en';
  return OBLIQUE.test(word) ? 'en' : ordinalEnding(word, 'm');
}

function monthAndYear({ month, year: written }: WrittenDate, text: string): string {
  const full = written === undefined ? '' : ` ${year(written.length === 2 ? century(written) : written)}`;
  return `${month === undefined ? '' : monthName(month, text)}${full}`;
}

/** Austria has a name of its own for two months. */
function monthName(month: number, text: string): string {
  if (month < 3 && /Jän|Feber/.test(text)) return month === 1 ? 'Jänner' : 'Feber';
  return MONTHS[month - 1]?.[0] ?? '';
}

function century(two: string): string {
  return Number(two) < 70 ? `20${two}` : `19${two}`;
}

const JOIN = String.raw`(?:, (?=\d)|,? ?(?:und|oder|sowie|bzw\.|u\.|bis) | ?[-–/+&] ?)`;
const DAY = String.raw`(?:3[01]|[12]\d|0?[1-9])\.`;
const ROW = new RegExp(
  `(${DAY}(?:${JOIN}${DAY}){1,6})(?: ?(${alternatives(MONTHS.flat())})(?![\\p{L}\\p{N}])| ?(1[0-2]|0?[1-9])\\.)(?: ?((?:1\\d|20)\\d\\d)(?!\\d|[.,:]\\d)|(\\d\\d)(?![\\p{L}\\d]|[.,:]\\d))?`,
  'uy',
);
const MEMBERS = /(\d{1,2})\.([^\d]*)/g;
const MONTH_NUMBERS = new Map(
  MONTHS.flatMap((names, index) => names.map((name): [string, number] => [name, index + 1])),
);

/** Vom 1.-3.3., am 1. und 2. April, am 5./6. Mai 2024: one month for several days. */
function days(reading: Reading): Found | undefined {
  if (!/^\. ?[-–/+&,uobs]/.test(reading.text.slice(reading.runEnd, reading.runEnd + 3))) return undefined;
  const match = reading.match(ROW);
  if (match === undefined) return undefined;
  const [written, row = '', name, figure, long, short] = match;
  const month = name === undefined ? Number(figure) : MONTH_NUMBERS.get(name);
  if (month === undefined) return undefined;
  const around = reading.around(reading.at + written.length);
  const rest = monthAndYear({ month, year: long ?? short, style: 'name' } as WrittenDate, written);
  const ending = endingOfDay(around);
  const night = /Nacht vo[mn] $/.test(reading.text.slice(Math.max(0, reading.at - 10), reading.at));
  const said = Array.from(row.matchAll(MEMBERS), ([, day = '', join = '']) => {
    return `${ordinalWord(withoutZeros(day), ending)}${night && /[-–/]/.test(join) ? ' auf den ' : joining(join)}`;
  }).join('');
  return { end: around.end, spoken: `${said} ${rest}`, rule: 'date' };
}

function joining(written: string): string {
  const bare = written.trim();
  if (bare === '' || bare === ',') return written;
  if (/[-–]/.test(bare)) return ' bis ';
  if (bare === 'bzw.') return ' beziehungsweise ';
  return /^(?:[/+&]|u\.)$/.test(bare) ? ' und ' : written;
}

const MONTH_YEAR = /(0?[1-9]|1[0-2])\.((?:19|20)\d\d)(?![\p{L}\d]|[.,]\d)/uy;
const EXPIRY = /(0[1-9]|1[0-2])\/(\d\d)(?![\p{L}\d/]|[.,]\d)/uy;
const EXPIRES =
  /(?:[gG]ültig\p{L}*|[aA]bl[aä]uf\p{L}*|[lL]äuft|[hH]altbar\p{L}*|MHD|[vV]erf[aä]ll\p{L}*|Kartenprüf\p{L}*|Exp\.?|TÜV|HU)[^\n]{0,28}$/u;
const LONGEST_LEAD = 44; // units before a date of expiry

/** 04.2024 */
export function monthOfYear(reading: Reading): Found | undefined {
  const match = reading.match(MONTH_YEAR);
  return match && sayMonth(reading, match);
}

/** Gültig bis 12/26, and 05/23, which is no fraction. */
function expiry(reading: Reading): Found | undefined {
  const match = reading.match(EXPIRY);
  if (match === undefined || Number(match[2]) < 13) return undefined;
  const before = reading.text.slice(Math.max(0, reading.at - LONGEST_LEAD), reading.at);
  if (match[0] === '08/15' && !EXPIRES.test(before)) return undefined; // the idiom "nullachtfünfzehn"
  return match[1]?.startsWith('0') || EXPIRES.test(before) ? sayMonth(reading, match) : undefined;
}

function sayMonth(reading: Reading, [written, month = '', year = '']: RegExpExecArray): Found {
  const end = reading.at + written.length;
  return { end, spoken: monthAndYear({ month: Number(month), year, style: 'numeric' }, ''), rule: 'date' };
}

/** In the order in which the language asks them. */
export const dateRules = {
  behindDigits: [
    [/[.]/, days],
    [/\//, expiry],
  ],
} satisfies Rules;
