// Tokens that only English reads in its own way: status codes, room numbers, feet and inches, ratings.
import type { Found, Reading } from '../reading.js';
import { cardinal, decimal } from './numbers.js';

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
]);
const PLACE = /[1-9]\d{2,3}(?![\p{L}\p{N}]|[-.,:/]\d)/uy;
const FEET = /(\d{1,2})['’′] ?(\d{1,2})(?:["”″]|'')/y;
const RATING = /(\d{1,2}\.\d)\/(5|10|100)(?![\d/]|\.\d)/y;

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

/** 5'10" is five foot ten. */
export function feetAndInches(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(FEET) : undefined;
  if (match === undefined) return undefined;
  const [written, feet = '', inches = ''] = match;
  return {
    end: reading.at + written.length,
    spoken: `${cardinal(feet)} foot ${cardinal(inches)}`,
    rule: 'measure',
  };
}

/** 9.5/10 is nine point five out of ten. */
export function rating(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(RATING) : undefined;
  if (match === undefined) return undefined;
  const [written, points = '', most = ''] = match;
  const [whole = '', decimals = ''] = points.split('.');
  const said = decimal({ negative: false, whole, decimals, grouped: false });
  return { end: reading.at + written.length, spoken: `${said} out of ${cardinal(most)}`, rule: 'score' };
}
