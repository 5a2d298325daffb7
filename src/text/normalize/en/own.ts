// Tokens that only English reads in its own way: status codes, room numbers, feet and inches, ratings.
import { isWordAt } from '../characters.js';
import { withoutZeros } from '../numerals.js';
import { NOWHERE, type Found, type Reading } from '../reading.js';
import { cardinal, decimal, ordinal } from './numbers.js';
import { SPEECH } from './speech.js';

const STATUS = /[1-5]\d{2}(?![\p{L}\p{N}]|[.,:/-]\d)/uy;
const BEFORE_STATUS = new Set(['http', 'https', 'error', 'status', 'code']);
const BEFORE_PLACE = new Set([
  'room',
  'suite',
  'apartment',
  'apt',
  'gate',
  'highway',
  'route',
  'bus',
  'interstate',
  'hwy',
  'rte',
  'rt',
]);
const PLACE = /[1-9]\d{2,3}(?![\p{L}\p{N}]|[-.,:/]\d)/uy;
const FEET = /(\d{1,2})['’′] ?(\d{1,2})(?:["”″]|'')/y;
const FEET_IN_WORDS = /(\d{1,2}) ?(?:ft|feet|foot)\.?,? ?(\d{1,2}) ?(?:in\b\.?|inch(?:es)?)/y;
const INCHES = /(\d{1,3}(?:\.\d{1,2})?)["″](?= ?[\p{L}.,;)])/uy;
const RATING = /(\d{1,2}(?:\.\d)?)\/(5|10|100)(?![\d/]|\.\d)/y;
const RATED = /\b(?:rat(?:e|ed|ing)|scor(?:e|ed)|gave|give|pain|solid)\b[\p{L}' ]{0,24}$/iu;
const SHORT_DATE = /(1[0-2]|0?[1-9])\/(3[01]|[12]\d|0?[1-9])(?![\d/]|\.\d)/y;
const BEFORE_DATE = new Set(['on', 'due', 'dated', 'until', 'starting', 'ending', 'through']);
const BEFORE_WEEKDAY = /\b(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)(?:day|nesday|rsday|urday)?\.?,? $/i;
const LASTING = /(\d{1,2}):(\d{2}):(\d{2})(?![\d:])/y;
const BEFORE_LASTING = new Set([
  'in',
  'for',
  'after',
  'took',
  'lasted',
  'of',
  'time',
  'lasting',
  'runtime',
  'duration',
]);
// Not "2x 500 mL", which are two.
const SIZES = /(?!\d{1,5}x )\d{1,5}(?:\.\d{1,3})?(?: ?[x×] ?\d{1,5}(?:\.\d{1,3})?){1,3}(?!\p{N}| ?=|\.\d)/uy;
const SIZE = /\d+(?:\.\d+)?(?= ?[x×])/y;
const GROUPED_ORDINAL = /(\d{1,3}(?:,\d{3}){1,6})(?:st|nd|rd|th)(?![\p{L}\p{N}])/uy;
const TIMES_AS_MUCH = /(\d{1,4}(?:\.\d{1,2})?)x(?![\p{L}\p{N}])/uy;

/** HTTP 404 is four oh four, 500 is five hundred, 418 is four eighteen. */
export function httpStatus(reading: Reading): Found | undefined {
  if (!reading.isFresh || reading.runEnd - reading.at !== 3) return undefined;
  const around = reading.around(reading.runEnd);
  const before = around.previousShort;
  if (!BEFORE_STATUS.has(before) || (before === 'code' && around.secondPreviousWord !== 'status'))
    return undefined;
  return inPairs(reading, STATUS);
}

/** Room 204 is two oh four, Suite 1500 is fifteen hundred. */
export function place(reading: Reading): Found | undefined {
  if (!reading.isFresh || reading.runEnd - reading.at < 3) return undefined;
  return BEFORE_PLACE.has(reading.around(reading.runEnd).previousShort) ? inPairs(reading, PLACE) : undefined;
}

function inPairs(reading: Reading, pattern: RegExp): Found | undefined {
  const digits = reading.match(pattern)?.[0];
  if (digits === undefined) return undefined;
  return {
    end: reading.at + digits.length,
    spoken: digits.endsWith('000') ? cardinal(digits) : pairs(digits),
    rule: 'digits',
  };
}

function pairs(digits: string): string {
  const [head, rest] = [digits.slice(0, -2), digits.slice(-2)];
  const tail =
    rest === '00' ? 'hundred' : rest.startsWith('0') ? `oh ${cardinal(rest.slice(1))}` : cardinal(rest);
  return `${cardinal(head)} ${tail}`;
}

/** 5'10" is five foot ten, 6ft 2in is six feet two inches. */
export function feetAndInches(reading: Reading): Found | undefined {
  if (!reading.isFresh) return undefined;
  const short = reading.match(FEET);
  const [written, feet = '', inches = ''] = short ?? reading.match(FEET_IN_WORDS) ?? [];
  if (written === undefined) return undefined;
  const end = reading.at + written.length;
  if (short !== undefined)
    return { end, spoken: `${cardinal(feet)} foot ${cardinal(inches)}`, rule: 'measure' };
  const units = [Number(feet) === 1 ? 'foot' : 'feet', Number(inches) === 1 ? 'inch' : 'inches'];
  return { end, spoken: `${cardinal(feet)} ${units[0]} ${cardinal(inches)} ${units[1]}`, rule: 'measure' };
}

/** A 27" monitor; within quotes the sign closes them. */
export function inches(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(INCHES) : undefined;
  if (match === undefined) return undefined;
  const [written, number = ''] = match;
  const before = reading.text.slice(Math.max(0, reading.at - LONGEST_QUOTE), reading.at);
  if (written.endsWith('"') && before.split('"').length % 2 === 0) return undefined;
  return { end: reading.at + written.length, spoken: `${sayDecimal(number)} inch`, rule: 'measure' };
}

const LONGEST_QUOTE = 120; // units in which an open quote is looked for

function sayDecimal(written: string): string {
  const [whole = '', decimals = ''] = written.split('.');
  return decimal({ negative: false, whole, decimals, grouped: false });
}

/** 9.5/10 is nine point five out of ten; 8/10 is where something is rated. */
export function rating(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(RATING) : undefined;
  if (match === undefined) return undefined;
  const [written, points = '', most = ''] = match;
  const before = reading.text.slice(Math.max(0, reading.at - 32), reading.at);
  if (!points.includes('.') && !RATED.test(before)) return undefined;
  const spoken = `${sayDecimal(points)} out of ${cardinal(most)}`;
  return { end: reading.at + written.length, spoken, rule: 'score' };
}

/** On 3/1, Tue 3/5: elsewhere that is a fraction. */
export function shortDate(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(SHORT_DATE) : undefined;
  if (match === undefined || match[0] === '9/11') return undefined;
  const before = reading.text.slice(Math.max(0, reading.at - 12), reading.at);
  const asked = BEFORE_DATE.has(reading.around(reading.at).previousWord) || BEFORE_WEEKDAY.test(before);
  const [written, month = '', day = ''] = match;
  const end = reading.at + written.length;
  if (!asked || isWordAt(reading.text, end)) return undefined;
  const date = { day: String(Number(day)), month: Number(month), style: 'name' } as const;
  const spoken = SPEECH.date(date, NOWHERE);
  return spoken === undefined ? undefined : { end, spoken, rule: 'date' };
}

/** It took 1:05:20: that is no time of day. */
export function lasting(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(LASTING) : undefined;
  if (match === undefined || !BEFORE_LASTING.has(reading.around(reading.at).previousWord)) return undefined;
  const [written, hours = '', minutes = '', seconds = ''] = match;
  const parts = ([[hours, 'h'], [minutes, 'min'], [seconds, 's']] as const)
    .map(([digits, unit]) => [withoutZeros(digits), unit] as const)
    .filter(([digits]) => digits !== '0'); // prettier-ignore
  if (parts.length === 0) return undefined;
  const end = reading.at + written.length;
  return { end, spoken: SPEECH.duration(parts, reading.around(end)), rule: 'duration' };
}

/** 1,000th */
export function groupedOrdinal(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(GROUPED_ORDINAL) : undefined;
  if (match === undefined) return undefined;
  const digits = withoutZeros((match[1] ?? '').replaceAll(',', ''));
  return { end: reading.at + match[0].length, spoken: ordinal(digits), rule: 'ordinal' };
}

/** 10 x 20 ft, 3x5: all but the last number, which may have a unit. */
export function sizes(reading: Reading): Found | undefined {
  const isFollowed = reading.isFresh && reading.match(SIZES) !== undefined;
  const behindOne =
    reading.at === reading.tokenEnd && /[x×] ?$/.test(reading.text.slice(reading.at - 2, reading.at));
  const number = isFollowed || behindOne ? reading.match(SIZE)?.[0] : undefined;
  if (number === undefined) return undefined;
  const end = reading.at + number.length;
  const mark = / ?[x×] ?/y;
  mark.lastIndex = end;
  return {
    end: end + (mark.exec(reading.text)?.[0].length ?? 0),
    spoken: `${sayDecimal(number)} by`,
    rule: 'measure',
  };
}

/** 2x faster */
export function timesAsMuch(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(TIMES_AS_MUCH) : undefined;
  if (match === undefined) return undefined;
  const [written, number = ''] = match;
  const word = number === '1' ? 'time' : 'times';
  return { end: reading.at + written.length, spoken: `${sayDecimal(number)} ${word}`, rule: 'math' };
}
