// Dates that only English writes so: 3/17, a card's 05/27, Sat 10am, the 16th-18th.
import { tablesOf } from '../../tables/language-tables.js';
import { isWordAt } from '../characters.js';
import type { Saying } from '../language.js';
import { type Found, NOWHERE, type Reading, type Recogniser } from '../reading.js';
import type { DigitRule } from './digit-rules.js';
import { ohBefore } from './numbers.js';
import { SPEECH } from './speech.js';

const LONGEST_LEAD = 48; // units before a date that may say what kind it is

const SHORT_DATE = /(1[0-2]|0?[1-9])\/(3[01]|[12]\d|0?[1-9])(?![\d/]|\.\d)/y;
const SHORT_DATE_BY_DAY = /(3[01]|[12]\d|0?[1-9])\/(1[0-2]|0?[1-9])(?![\d/]|\.\d)/y;
const BEFORE_DATE = tablesOf('en').set('before a date');
const BEFORE_WEEKDAY = /\b(?:mon|tues?|wed|th(?:u(?:rs?)?)?|fri|sat|sun)(?:day|nesday|rsday|urday)?\.?,? $/i;
const BY = /\bby $/i;
const CANCELLED =
  /\b(?:cancel|ship|arriv|return|pay|paid|reply|register|rsvp|order|deliver|pick)\p{Ll}* (?:it )?by $/iu;
const ROW_OF_DATES = /\b\d{1,2}\/\d{1,2}(?:,| (?:and|or|&),?|, (?:and|or)) $/;
const DIVIDED = /\b(?:divid|multipl|increas|reduc|decreas|scal|grew|rose|fell)/i;
const LAST_PART = 12; // denominator of a fraction that something may change by
const WEEK_OF =
  /\b(?:w(?:ee)?k\.? of|check-?(?:in|out)|as of|effective|deadline|date|from|between|since|posted|by|is|to|and)[: ]{1,2}$/i;
/** Parts that nothing is divided into; 3/17 is a day. */
const NO_PARTS = new Set([13, 14, 15, 17, 18, 19, 21, 22, 23, 26, 27, 28, 29, 30, 31]);

type Order = 'dmy' | 'mdy' | 'ymd';

/** The month and the day of two figures, and the date that they make. */
function dayOf(one: string, other: string, order: Order): [month: string, day: string] {
  return order === 'dmy' ? [other, one] : [one, other];
}

function sayDay(month: string, day: string, order: Order): string | undefined {
  const date = { day: String(Number(day)), month: Number(month), style: 'name' } as const;
  return SPEECH.date(order === 'dmy' ? { ...date, order } : date, NOWHERE);
}

/** Check-in: 3/1, ship by 3/12; not "grew by 3/4". */
function isDateBehind(lead: string, day: string): boolean {
  if (/\b(?:week of|check-?(?:in|out):?) $/i.test(lead)) return true;
  return BY.test(lead) && (Number(day) > LAST_PART || CANCELLED.test(lead)) && !DIVIDED.test(lead);
}

/** Due 3/1 and 4/1; not "add 2/3 and 1/4", whose first one is read as a fraction. */
function isBehindDate({ tokenWords }: Reading, lead: string): boolean {
  return ROW_OF_DATES.test(lead) && /\p{Lu}/u.test(tokenWords);
}

/** On 3/1, Tue 3/5, 3/17: elsewhere that is a fraction. */
const shortDate =
  (order: Order): Recogniser =>
  (reading) => {
    const match = reading.match(order === 'dmy' ? SHORT_DATE_BY_DAY : SHORT_DATE);
    if (match === undefined || match[0] === '9/11') return undefined;
    const lead = reading.text.slice(Math.max(0, reading.at - LONGEST_LEAD), reading.at);
    const [written, one = '', other = ''] = match;
    const [month, day] = dayOf(one, other, order);
    const end = reading.at + written.length;
    const asked =
      BEFORE_DATE.has(reading.around(reading.at).previousShort) ||
      BEFORE_WEEKDAY.test(lead) ||
      /^,? (?:at|@) \d/.test(reading.text.slice(end, end + 8)) ||
      isDateBehind(lead, day) ||
      (isBehindDate(reading, lead) && !/^ of\b/.test(reading.text.slice(end, end + 4)));
    const isWeekOf = WEEK_OF.test(lead);
    const likely =
      (/^0|\/0/.test(written) && isWeekOf) ||
      (NO_PARTS.has(Number(day)) && (Number(month) > 1 || month.startsWith('0') || isWeekOf));
    if (
      isWordAt(reading.text, end) ||
      (!asked && (!likely || /^ (?:of|inch)/.test(reading.text.slice(end, end + 5))))
    )
      return undefined;
    const spoken = sayDay(month, day, order);
    return spoken === undefined ? undefined : { end, spoken, rule: 'date' };
  };

const SHORT_DATES =
  /(1[0-2]|0?[1-9])\/(3[01]|[12]\d|0?[1-9]) ?[-–] ?(1[0-2]|0?[1-9])\/(3[01]|[12]\d|0?[1-9])(?![\d/]|\.\d)/y;

const SHORT_DATES_BY_DAY =
  /(3[01]|[12]\d|0?[1-9])\/(1[0-2]|0?[1-9]) ?[-–] ?(3[01]|[12]\d|0?[1-9])\/(1[0-2]|0?[1-9])(?![\d/]|\.\d)/y;

/** 3/15–4/2, but 1/2–3/4 of a cup. */
const shortDates =
  (order: Order): Recogniser =>
  (reading) => {
    const match = reading.match(order === 'dmy' ? SHORT_DATES_BY_DAY : SHORT_DATES);
    const [written = '', one = '', other = '', oneTo = '', otherTo = ''] = match ?? [];
    const [month, day] = dayOf(one, other, order);
    const [monthTo, dayTo] = dayOf(oneTo, otherTo, order);
    const asked = BEFORE_DATE.has(reading.around(reading.at).previousShort);
    if (match === undefined || (!asked && !NO_PARTS.has(Number(day)) && !NO_PARTS.has(Number(dayTo))))
      return undefined;
    const said = [sayDay(month, day, order), sayDay(monthTo, dayTo, order)];
    return { end: reading.at + written.length, spoken: said.join(' to '), rule: 'date' };
  };

const CARD_DATE = /(0?[1-9]|1[0-2])\/(\d{2})(?![\d/]|\.\d)/y;
const ON_CARD =
  /\b(?:exp(?:ir\p{L}+|\.|:)?|valid|good (?:thru|through|until))(?![\p{L}\p{N}])[^!?;\d]{0,24}$/iu;
const SHORT_FORM = /\b(?:exp|expiry|expiration(?: date)?|good|valid)\b[^!?;\d]{0,24}$/i;
const CARD = /\b(?:card|visa|mastercard|amex|debit|credit|cvv)\b/i;

/** The month and the year on a card: 05/27 is oh five twenty-seven. */
export const cardDate: Recogniser = (reading) => {
  const match = reading.match(CARD_DATE);
  if (match === undefined) return undefined;
  const lead = reading.text.slice(Math.max(0, reading.at - LONGEST_LEAD), reading.at);
  const [written, month = '', two = ''] = match;
  if (!ON_CARD.test(lead)) return undefined;
  const sure = month.startsWith('0') || Number(two) > 31 || SHORT_FORM.test(lead) || CARD.test(lead);
  if (!sure) return undefined;
  return { end: reading.at + written.length, spoken: `${ohBefore(month)} ${ohBefore(two)}`, rule: 'date' };
};

const SHORT_YEAR = /['’](\d{2})(?![\p{L}\p{N}'’]|[.,]\d)/uy;
const SECOND_YEAR = / ?[-–] ?['’](\d{2})(?![\p{L}\p{N}'’]|[.,]\d)/uy;
const BEFORE_YEAR = tablesOf('en').set('before a year');

/** The summer of '69, the '08 crash, Q4'23, '08–'09. */
export function shortYear(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const attached = isWordAt(text, at - 1);
  const fiscal = /(?:^|[^\p{L}\p{N}])(?:Q[1-4]|FY) ?$/u.test(text.slice(Math.max(0, at - 5), at));
  if (attached && !fiscal) return undefined;
  const match = reading.match(SHORT_YEAR);
  if (match === undefined) return undefined;
  const end = at + match[0].length;
  const to = reading.match(SECOND_YEAR, end);
  if (to !== undefined) {
    const spoken = `${ohBefore(match[1] ?? '')} to ${ohBefore(to[1] ?? '')}`;
    return { end: end + to[0].length, spoken, rule: 'year' };
  }
  const before = reading.around(at).previousShort;
  const quoted = /^[^'’]{0,24}['’](?!\p{L})/u.test(text.slice(end, end + 32));
  if (!fiscal && !BEFORE_YEAR.has(before) && (quoted || !/^(?:the|a|an)$/.test(before))) return undefined;
  return { end, spoken: ohBefore(match[1] ?? ''), rule: 'year' };
}

const DAY_PART =
  /^(?:,? (?:the )?\d|,? (?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)|,? (?:at|from|by|before|after|around) \d|,? (?:through|thru|to|and|or|&) (?:mon|tue|wed|thu|fri|sat|sun)|(?:\/|, )(?:mon|tue|wed|thu|fri|sat|sun)| (?:morning|afternoon|evening|night|noon|mornings|evenings|nights|only|a\.m\.|p\.m\.))/i;
const DAY_BEFORE =
  /\b(?:mon|tue|tues|wed|thu|thur|thurs|fri|sat|sun)\.?(?: (?:through|thru|to|and|or|&) |, |\/)$/i;

/** Sat 10am, Mon thru Fri: where a time or another day stands beside it. */
function weekday(name: string): Saying {
  return ({ text, start, end }) =>
    DAY_PART.test(text.slice(end, end + 16)) || DAY_BEFORE.test(text.slice(Math.max(0, start - 16), start))
      ? name
      : undefined;
}

/** A form with its stop is a day; "Sun." may end a sentence about the sun. */
// prettier-ignore
const SHORT_DAYS = { Mon: 'Monday', Tue: 'Tuesday', Tues: 'Tuesday', Wed: 'Wednesday', Thu: 'Thursday', Thur: 'Thursday', Thurs: 'Thursday', Fri: 'Friday', Sat: 'Saturday', Sun: 'Sunday' };
// prettier-ignore
const SHORT_MONTHS = { Jan: 'January', Feb: 'February', Mar: 'March', Apr: 'April', Jun: 'June', Jul: 'July', Aug: 'August', Sept: 'September', Sep: 'September', Oct: 'October', Nov: 'November', Dec: 'December' };

export const DAYS_AND_MONTHS: Readonly<Record<string, Saying>> = Object.fromEntries([
  ...Object.entries(SHORT_DAYS).flatMap(([short, name]): [string, Saying][] => [
    [short, weekday(name)],
    [`${short}.`, short === 'Sun' || short === 'Sat' ? (around) => dayAtEnd(name, around) : name],
  ]),
  ...Object.entries(SHORT_MONTHS).flatMap(([short, name]): [string, Saying][] => [
    [`${short}.`, name],
    [
      short,
      (around) => (/^ ['’]\d\d(?!\d)/.test(around.text.slice(around.end, around.end + 5)) ? name : undefined),
    ],
  ]),
]);

function dayAtEnd(
  name: string,
  { text, end, previousWord }: Parameters<Exclude<Saying, string>>[0],
): string | undefined {
  return /^[^\S\n]*[^\s"'”’)]/.test(text.slice(end, end + 4)) || previousWord === 'on' ? name : undefined;
}

const DAY_LETTERS = 'M(?:on)?|Tu(?:es?)?|Thu(?:rs?)?|Th|T|W(?:ed)?|F(?:ri)?|Sat?|Sun?|S';
const DAY_ROW = new RegExp(`(?:${DAY_LETTERS})(?:/(?:${DAY_LETTERS})){1,6}(?![\\p{L}\\p{N}/])`, 'uy');
const DAY_NAMES = 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split(' ');
const DAY_STARTS = 'M Tu W Th F Sa Su'.split(' ');

const LETTER_ROW = /[A-Z](?:\/[A-Z]){2,5}(?![\p{L}\p{N}/])/uy;

function dayName(written: string): string {
  const start = written === 'T' ? 'Tu' : written.slice(0, /^[MWF]/.test(written) ? 1 : 2);
  return DAY_NAMES[DAY_STARTS.indexOf(start)] ?? written;
}

const DAY_OF_HOURS = /(M|Tu|T|W|Th|F|Sa|Su)(?= \d{1,2}(?::\d\d)?(?: ?[ap]\.?m\.?)? ?[-–] ?\d)/uy;

/** Open M–F 9–5, W 9–7: a letter before hours, behind other days. */
function dayOfHours(reading: Reading): Found | undefined {
  const written = reading.match(DAY_OF_HOURS)?.[0];
  const { text, at } = reading;
  if (written === undefined || !/(?:\d|m\.?)[,;] (?:and )?$/.test(text.slice(Math.max(0, at - 8), at)))
    return undefined;
  return { end: at + written.length, spoken: dayName(written), rule: 'date', isCertain: true };
}

/** Mon/Wed/Fri, M/T/Th/F, T/Th; M/F and T/F are no days. */
export function dayRow(reading: Reading): Found | undefined {
  if (!reading.isFresh) return undefined;
  if (reading.text[reading.runEnd] !== '/') return dayOfHours(reading);
  const written = reading.match(DAY_ROW)?.[0] ?? '';
  const parts = written.split('/');
  const letters = written === '' ? reading.match(LETTER_ROW)?.[0] : undefined; // take the A/C/E
  if (letters !== undefined)
    return { end: reading.at + letters.length, spoken: letters.replaceAll('/', ', '), rule: 'acronym' };
  if (parts.length < 2 || parts.includes('S') || (parts.length < 3 && !/[a-z]/.test(written)))
    return undefined;
  const names = parts.map(dayName);
  const spoken = names.join(parts.length > 2 ? ', ' : ' and ');
  return { end: reading.at + written.length, spoken, rule: 'date', isCertain: true };
}

/** Dates without a year, in the order in which the language asks them. */
export function shortDateRules(order: Order): readonly DigitRule[] {
  return [
    [/\//, /(?!)/, shortDates(order)],
    [/\//, /(?!)/, shortDate(order)],
  ];
}
