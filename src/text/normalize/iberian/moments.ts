// Days, months and zones in the forms that Spanish and Portuguese share: 15/01, 30/04-02/05, abr-24, UTC-3.
import type { Speech } from '../language.js';
import { withoutZeros } from '../numerals.js';
import type { Around, Found, Reading, Recogniser } from '../reading.js';

export interface DayWords {
  /** Behind these words, in small letters, two numbers with a slash are a day and its month. */
  readonly before: ReadonlySet<string>;
  /** The beginning of a text behind them that goes on with a time. */
  readonly beforeTime: RegExp;
  /** Where they are rather a blood pressure. */
  readonly isPressure: (around: Around) => boolean;
  /** Marks between them. */
  readonly marks: '/' | '/-';
  /** Month and day as digits. */
  readonly say: (day: string, month: number) => string;
  readonly range: Speech['range'];
}

const DAY_AND_MONTH = /(\d{1,2})([/-])(\d{1,2})(?![\p{L}\p{N}/-]|[.,:]\d)/uy;
const TWO_DAYS =
  /(\d{1,2}\/\d{1,2})( ?[-–] ?| (?:al?|ao|até|hasta(?: el)?) )(\d{1,2}\/\d{1,2})(?![\p{L}\p{N}/-]|[.,:]\d)/uy;

/** El 15/01, até 3/4, 24/12: a day and its month where a word or the zeros say so. */
export function dayAndMonth(words: DayWords): Recogniser {
  return (reading) => {
    if (!reading.isFresh || reading.runEnd - reading.at > 2) return undefined;
    if (!words.marks.includes(reading.text[reading.runEnd] ?? ' ')) return undefined;
    return twoDays(reading, words) ?? oneDay(reading, words);
  };
}

function oneDay(reading: Reading, words: DayWords): Found | undefined {
  const match = reading.match(DAY_AND_MONTH);
  const [written = '', day = '', mark = '', month = ''] = match ?? [];
  const spoken = match && sayDay(day, month, words);
  if (spoken === undefined || written === '24/7') return undefined;
  const end = reading.at + written.length;
  const around = reading.around(end);
  const timed = words.beforeTime.test(reading.text.slice(end, end + 12));
  const known = timed || words.before.has(around.previousShort) || isWrittenAsDate(day, month);
  if (!known || words.isPressure(around) || (mark === '-' && !month.startsWith('0'))) return undefined;
  return { end, spoken, rule: 'date' };
}

/** De 24/12 a 06/01; 30/04-02/05. */
function twoDays(reading: Reading, words: DayWords): Found | undefined {
  const match = reading.match(TWO_DAYS);
  const [written = '', from = '', link = '', to = ''] = match ?? [];
  const [[day = '', month = ''], [dayTo = '', monthTo = '']] = [from.split('/'), to.split('/')];
  if (match === undefined || !(isWrittenAsDate(day, month) || isWrittenAsDate(dayTo, monthTo)))
    return undefined;
  const [first, last] = [sayDay(day, month, words), sayDay(dayTo, monthTo, words)];
  if (first === undefined || last === undefined) return undefined;
  const end = reading.at + written.length;
  const dash = /[-–]/.test(link);
  const spoken = dash ? words.range(first, last, reading.around(end)) : first + link + last;
  return { end, spoken, rule: 'date' };
}

function sayDay(day: string, month: string, words: DayWords): string | undefined {
  const [d, m] = [Number(day), Number(month)];
  return d < 1 || d > 31 || m < 1 || m > 12 ? undefined : words.say(withoutZeros(day), m);
}

/** 15/03 and 24/12, which are no parts of anything. */
function isWrittenAsDate(day: string, month: string): boolean {
  return day.length === 2 && month.length === 2 && (month.startsWith('0') || Number(day) > 12);
}

const MONTH_AND_YEAR = /(\p{L}{3,4})[-/]((?:20)?\d{2})(?![\p{L}\p{N}/-]|[.,]\d)/uy;

/** Dez/2024, abr-24: a short month and its year. */
export function monthAndYear(
  months: readonly (readonly string[])[],
  { date }: Pick<Speech, 'date'>,
  more: Readonly<Record<string, number>> = {},
): Recogniser {
  const byName = new Map(Object.entries(more));
  for (const [index, names] of months.entries()) for (const name of names) byName.set(name, index + 1);
  return (reading) => {
    if (!reading.isFresh || !/[-/]/.test(reading.text[reading.runEnd] ?? '')) return undefined;
    const match = reading.match(MONTH_AND_YEAR);
    const [written = '', name = '', digits = ''] = match ?? [];
    const month = byName.get(name.toLowerCase());
    if (month === undefined || (digits.length === 2 && Number(digits) < 10)) return undefined;
    const end = reading.at + written.length;
    const spoken = date({ month, year: digits, style: 'name' }, reading.around(end));
    return spoken === undefined ? undefined : { end, spoken, rule: 'date' };
  };
}

const ZONE = /(UTC|GMT) ?([+−–-])(\d{1,2})(?::(\d{2}))?(?![\p{L}\p{N}])/uy;

/** UTC-5, GMT+5:30; `joint` is said before the minutes. */
export function zone(
  signs: { readonly plus: string; readonly minus: string; readonly joint: string },
  cardinal: (digits: string) => string,
  { letters }: Pick<Speech, 'letters'>,
): Recogniser {
  return (reading) => {
    if (!reading.isFresh || !/[UG]/.test(reading.text[reading.at] ?? '')) return undefined;
    const match = reading.match(ZONE);
    if (match === undefined) return undefined;
    const [written, name = '', sign, hours = '', minutes = '00'] = match;
    const half = minutes === '00' ? '' : `${signs.joint} ${cardinal(withoutZeros(minutes))}`;
    const spoken = `${letters(name)} ${sign === '+' ? signs.plus : signs.minus} ${cardinal(withoutZeros(hours))}${half}`;
    return { end: reading.at + written.length, spoken, rule: 'zone' };
  };
}
