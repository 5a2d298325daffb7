// Reads dates that Spanish and Portuguese write alike: days, months, zones (15/01, abr-24, UTC-3),
// quarters (3T24, 2S2023), and the month in which a card expires (vence 12/26).
import type { Speech } from '../language.js';
import type { WrittenDate } from '../quantity.js';
import { withoutZeros } from '../numerals.js';
import type { Around, Found, Reading, Recogniser } from '../reading.js';

interface DateWords {
  readonly months: readonly string[];
  /** Primero, primeiro. */
  readonly first: string;
  readonly cardinal: (digits: string) => string;
  readonly rangeWord: (around: Around) => string;
  readonly and: string;
}

/** 24 is 2024, 85 is 1985. */
function fullYear(written: string): string {
  if (written.length !== 2) return withoutZeros(written);
  return Number(written) < 70 ? `20${written}` : `19${written}`;
}

/** 3.10.12, but not 22.02.22 nor what a word says to be a day. */
function isVersion({ text, start, end, previousWord }: Around): boolean {
  const known = /^(?:em|el|del|al|dia|día|desde|até|hasta)$/.test(previousWord);
  return !known && /^\d+\.[1-9]\d?\.\d\d$/.test(text.slice(start, end));
}

export class DatesInWords implements Pick<Speech, 'date'> {
  readonly #words: DateWords;

  constructor(words: DateWords) {
    this.#words = words;
  }

  readonly day = (day: string): string => (day === '1' ? this.#words.first : this.#words.cardinal(day));

  readonly dayOf = (day: string, month: number): string =>
    `${this.day(day)} de ${this.#words.months[month - 1] ?? ''}`;

  readonly date = (
    { day, dayTo, isPair, month, year, style }: WrittenDate,
    around: Around,
  ): string | undefined => {
    const { months, cardinal, rangeWord, and } = this.#words;
    const name = month === undefined ? '' : (months[month - 1] ?? '');
    if (style === 'numeric' && year === undefined) return undefined;
    if (isVersion(around)) return undefined;
    const full = year === undefined ? '' : ` de ${cardinal(fullYear(year))}`;
    if (day === undefined) return `${name}${full}`;
    const range = dayTo === undefined ? '' : ` ${isPair ? and : rangeWord(around)} ${cardinal(dayTo)}`;
    return `${range === '' ? this.day(day) : cardinal(day)}${range} de ${name}${full}`;
  };
}

interface PartsOfYear {
  readonly quarter: string;
  readonly half: string;
  /** First to fourth. */
  readonly ordinals: readonly string[];
  readonly cardinal: (digits: string) => string;
}

const NUMBER_FIRST = /([1-4])([TQS])(?: |\/| (?:de|del) )?((?:20)?[0-4]\d)(?![\p{L}\d]|[.,/-]\d)/uy;
const LETTER_FIRST = /([TQS])([1-4])(?:[ /-]| (?:de|del) )?(20[0-4]\d)(?![\p{L}\d]|[.,/-]\d)/uy;

function sayPart(words: PartsOfYear, letter: string, digit: string, year: string): string | undefined {
  const half = letter === 'S';
  if (half && Number(digit) > 2) return undefined;
  const name = half ? words.half : words.quarter;
  return `${words.ordinals[Number(digit) - 1] ?? ''} ${name} de ${words.cardinal(fullYear(year))}`;
}

/** 3T24, 2S2023. */
export function partOfYear(words: PartsOfYear): Recogniser {
  return (reading) => {
    const match = reading.match(NUMBER_FIRST);
    const [written = '', digit = '', letter = '', year = ''] = match ?? [];
    const spoken = match && sayPart(words, letter, digit, year);
    return spoken === undefined ? undefined : { end: reading.at + written.length, spoken, rule: 'date' };
  };
}

/** T3 2024. */
export function letteredPartOfYear(words: PartsOfYear): Recogniser {
  return (reading) => {
    const match = reading.match(LETTER_FIRST);
    const [written = '', letter = '', digit = '', year = ''] = match ?? [];
    const spoken = match && sayPart(words, letter, digit, year);
    return spoken === undefined ? undefined : { end: reading.at + written.length, spoken, rule: 'date' };
  };
}

const MONTHS =
  /(\p{L}{3,4})\.?[-–/](\p{L}{3,4})(?:\.(?= ?(?:de )?\d))?(?: (?:de )?((?:19|20)\d\d))?(?![\p{L}\d-]|[.,]\d)/uy;

/** Mar-jun 2024, ene./mar. */
export function monthRange(
  months: readonly (readonly string[])[],
  { date, range }: Pick<Speech, 'date' | 'range'>,
): Recogniser {
  const byName = new Map<string, number>();
  for (const [index, names] of months.entries())
    for (const name of names) byName.set(name.replace('.', ''), index + 1);
  const say = (month: number | undefined, around: Around, year?: string): string | undefined =>
    month === undefined ? undefined : date({ month, style: 'name', year }, around);
  return (reading) => {
    const match = reading.match(MONTHS);
    const [written = '', first = '', last = '', year] = match ?? [];
    if (match === undefined || first.toLowerCase() === last.toLowerCase()) return undefined;
    const end = reading.at + written.length;
    const around = reading.around(end);
    const [from, to] = [
      say(byName.get(first.toLowerCase()), around),
      say(byName.get(last.toLowerCase()), around, year),
    ];
    if (from === undefined || to === undefined) return undefined;
    return { end, spoken: range(from, to, around), rule: 'date' };
  };
}

const EXPIRY_MONTH = /(0?[1-9]|1[0-2])\/(2\d|3\d|4[0-5])(?![\p{L}\d/]|[.,]\d)/uy;
const NEAR = 32; // units before it in which a word tells of a card

/**
 * `before` ends with a word of cards; `withArticle` is said where "el" stands before it: el nueve del
 * veintisiete.
 */
export function cardExpiry(
  before: RegExp,
  { date }: Pick<Speech, 'date'>,
  withArticle: (month: string, year: string) => string,
): Recogniser {
  return (reading) => {
    const match = reading.match(EXPIRY_MONTH);
    if (match === undefined || !before.test(reading.text.slice(Math.max(0, reading.at - NEAR), reading.at)))
      return undefined;
    const [written, month = '', year = ''] = match;
    const end = reading.at + written.length;
    const around = reading.around(end);
    const spoken = /^(?:el|o)$/.test(around.previousWord)
      ? withArticle(String(Number(month)), year)
      : date({ month: Number(month), year: `20${year}`, style: 'numeric' }, around);
    return spoken === undefined ? undefined : { end, spoken, rule: 'date' };
  };
}

interface DayWords {
  /** Behind these words, in small letters, two numbers with a slash are a day and its month. */
  readonly before: ReadonlySet<string>;
  /** The beginning of a text behind them that goes on with a time. */
  readonly beforeTime: RegExp;
  /** True if the two numbers are more likely a blood pressure. */
  readonly isPressure: (around: Around) => boolean;
  /** Month and day as digits. */
  readonly say: (day: string, month: number) => string;
  readonly range: Speech['range'];
}

const BEFORE_COMMA = /(?<!\p{L})(\p{L}{3,13})\.?, $/u; // ter., 9/12
const DAY_AND_MONTH = /(\d{1,2})([/-])(\d{1,2})(?![\p{L}\p{N}/-]|[.,:]\d)/uy;
const TWO_DAYS =
  /(\d{1,2}\/\d{1,2})( ?[-–] ?| (?:al?|ao|até|hasta(?: el)?) )(\d{1,2}\/\d{1,2})(?![\p{L}\p{N}/-]|[.,:]\d)/uy;

/** El 15/01, até 3/4, 24/12: a day and its month where a word or the zeros say so. */
export function dayAndMonth(words: DayWords): Recogniser {
  return (reading) => twoDays(reading, words) ?? oneDay(reading, words);
}

function oneDay(reading: Reading, words: DayWords): Found | undefined {
  const match = reading.match(DAY_AND_MONTH);
  const [written = '', day = '', mark = '', month = ''] = match ?? [];
  const spoken = match && sayDay(day, month, words);
  if (spoken === undefined || written === '24/7') return undefined;
  const end = reading.at + written.length;
  const around = reading.around(end);
  const timed = words.beforeTime.test(reading.text.slice(end, end + 12));
  const named = BEFORE_COMMA.exec(reading.text.slice(Math.max(0, reading.at - NEAR), reading.at))?.[1] ?? '';
  const known =
    timed ||
    words.before.has(around.previousShort) ||
    words.before.has(named.toLowerCase()) ||
    isWrittenAsDate(day, month);
  if (!known || words.isPressure(around) || (mark === '-' && !month.startsWith('0') && Number(day) < 13))
    return undefined;
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
    const match = reading.match(ZONE);
    if (match === undefined) return undefined;
    const [written, name = '', sign, hours = '', minutes = '00'] = match;
    const half = minutes === '00' ? '' : `${signs.joint} ${cardinal(withoutZeros(minutes))}`;
    const spoken = `${letters(name)} ${sign === '+' ? signs.plus : signs.minus} ${cardinal(withoutZeros(hours))}${half}`;
    return { end: reading.at + written.length, spoken, rule: 'zone' };
  };
}

interface SpanWords {
  readonly weekdays: readonly (readonly string[])[];
  /** Words, in small letters, for an end of the day or of opening hours, and the word before each. */
  readonly ends: Readonly<Record<string, string>>;
  /** The word before a weekday behind "del". */
  readonly toThe: string;
  readonly range: Speech['range'];
}

const NAME_BEHIND = /^ ?(\p{L}{3,13})/u;

/** Vie 17 oct – dom 19 oct, 8:00–mediodía: the dash before the name at the end of a span. */
export function spanOfNames({ weekdays, ends, toThe, range }: SpanWords): Recogniser {
  const names = weekdays.flat().map((name) => name.replace('.', '').toLowerCase());
  const days = new Set(names);
  const dated = new RegExp(`(?<!\\p{L})(?:${names.join('|')})\\.?,? \\d{1,2}[^–—;.!?\\n]{0,14} ?$`, 'iu');
  const timed = /(?:\d(?:[:.h]\d\d)?(?: ?hs?\.?| ?[ap]\.? ?m\.?)?|mediodía|meio-dia) ?$/u;
  return (reading) => {
    const { text, at } = reading;
    const end = at + 1;
    const name = NAME_BEHIND.exec(text.slice(end, end + 16))?.[1]?.toLowerCase() ?? '';
    const before = text.slice(Math.max(0, at - NEAR), at);
    if (days.has(name) ? !dated.test(before) : ends[name] === undefined || !timed.test(before))
      return undefined;
    const article = /(?<!\p{L})del [^–—]*$/iu.test(before) ? toThe : range('', '', reading.around(at)).trim();
    return { end, spoken: ends[name] ?? article, rule: 'range' };
  };
}

interface LastingWords {
  /** The word before a time says how long something takes: tarda 1h30. */
  readonly before: ReadonlySet<string>;
  /** Only before a time with an h, where minutes behind a colon are a clock: en 2h41. */
  readonly beforeHours: ReadonlySet<string>;
  /** Nouns with "de" between them and the time: un retraso de 1h20, 6h20 de viaje. */
  readonly nouns: ReadonlySet<string>;
  /** Words behind a time that is counted from another one: 2h30 antes. */
  readonly behind: ReadonlySet<string>;
  /** Words before a time of day. */
  readonly clock: ReadonlySet<string>;
}

/** True if 1h20 is how long something takes; a few hours with no word of a clock before them are. */
export function isLasting(words: LastingWords, around: Around): boolean {
  const { text, start, end, previousShort, previousWord, secondPreviousWord } = around;
  if (words.before.has(previousShort)) return true;
  const written = text.slice(start, end);
  if (!/^\d{1,2} ?h/.test(written) || words.clock.has(previousShort)) return false;
  if (words.beforeHours.has(previousShort)) return true;
  if (previousWord === 'de' && words.nouns.has(secondPreviousWord)) return true;
  if (around.nextWord === 'de' && words.nouns.has(around.secondNextWord)) return true;
  if (words.behind.has(around.nextWord)) return true;
  return /^[1-4] ?h/.test(written) && !LEADING.has(previousShort);
}

/** Before a time of day, too. */
const LEADING = new Set('de del do a al ao y e o ou'.split(' '));
