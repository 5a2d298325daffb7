// Tokens of English announcements and addresses: numbers to text to, states, years cut short.
import { isWordAt } from '../characters.js';
import type { Found, Reading } from '../reading.js';
import { cardinal, spellDigits } from './numbers.js';

const TEXTED = /\d{5,6}(?![\p{L}\p{N}]|[.,:/-]\d)/uy;
const TEXT_TO = /\b(?:text|send|reply)\b[^.!?]{0,32} to $/i;
const SHORT_YEAR = /['’](\d{2})(?![\p{L}\p{N}'’]|[.,]\d)/uy;
const BEFORE_YEAR = new Set([
  'of',
  'in',
  'since',
  'before',
  'after',
  'by',
  'until',
  'summer',
  'winter',
  'spring',
  'fall',
]);
const STATE = /[A-Z]{2}(?= \d{5}(?!\d)|[.,;)!?]|$|\s[\p{Ll}])/uy;
const CITY = /\p{Lu}[\p{L}.'’]+, $/u;
const ZIP = /^ \d{5}(?!\d)/;

const STATES: Readonly<Record<string, string>> = {
  AL: 'Alabama', AK: 'Alaska', AZ: 'Arizona', AR: 'Arkansas', CA: 'California', CO: 'Colorado', CT: 'Connecticut', DE: 'Delaware',
  DC: 'D C', FL: 'Florida', GA: 'Georgia', HI: 'Hawaii', ID: 'Idaho', IL: 'Illinois', IN: 'Indiana', IA: 'Iowa', KS: 'Kansas',
  KY: 'Kentucky', LA: 'Louisiana', ME: 'Maine', MD: 'Maryland', MA: 'Massachusetts', MI: 'Michigan', MN: 'Minnesota',
  MS: 'Mississippi', MO: 'Missouri', MT: 'Montana', NE: 'Nebraska', NV: 'Nevada', NH: 'New Hampshire', NJ: 'New Jersey',
  NM: 'New Mexico', NY: 'New York', NC: 'North Carolina', ND: 'North Dakota', OH: 'Ohio', OK: 'Oklahoma', OR: 'Oregon',
  PA: 'Pennsylvania', RI: 'Rhode Island', SC: 'South Carolina', SD: 'South Dakota', TN: 'Tennessee', TX: 'Texas', UT: 'Utah',
  VT: 'Vermont', VA: 'Virginia', WA: 'Washington', WV: 'West Virginia', WI: 'Wisconsin', WY: 'Wyoming',
}; // prettier-ignore
/** Words, titles and names of something else, too: only a ZIP code behind them proves a state. */
const DOUBTFUL = new Set([
  'AL',
  'CO',
  'DE',
  'HI',
  'ID',
  'IN',
  'LA',
  'MA',
  'MD',
  'ME',
  'MS',
  'OH',
  'OK',
  'OR',
  'PA',
  'VA',
]);

/** Text HELP to 40404. */
export function textedTo(reading: Reading): Found | undefined {
  const digits = reading.isFresh ? reading.match(TEXTED)?.[0] : undefined;
  if (digits === undefined) return undefined;
  const before = reading.text.slice(Math.max(0, reading.at - 48), reading.at);
  if (!TEXT_TO.test(before)) return undefined;
  return { end: reading.at + digits.length, spoken: spellDigits(digits), rule: 'digits' };
}

/** The summer of '69. */
export function shortYear(reading: Reading): Found | undefined {
  if (isWordAt(reading.text, reading.at - 1)) return undefined;
  const match = reading.match(SHORT_YEAR);
  if (match === undefined || !BEFORE_YEAR.has(reading.around(reading.at).previousWord)) return undefined;
  const digits = match[1] ?? '';
  const spoken = digits.startsWith('0') ? `oh ${cardinal(digits.slice(1))}` : cardinal(digits);
  return { end: reading.at + match[0].length, spoken, rule: 'year' };
}

const HOUSE = /\d{1,5}(?= [NSEW]\. \p{Lu}\p{Ll})/uy;

/** 123 N. Main St.: no newtons. */
export function houseInDirection(reading: Reading): Found | undefined {
  const digits = reading.isFresh ? reading.match(HOUSE)?.[0] : undefined;
  if (digits === undefined) return undefined;
  return { end: reading.at + digits.length, spoken: cardinal(digits), rule: 'cardinal' };
}

const HOURS = /(\d{1,2})[-–](\d{1,2})(?![\p{L}\p{N}]|[-–.,:/]\d)/uy;
const BEFORE_HOURS = new Set([
  'open',
  'hours',
  'from',
  'daily',
  'weekdays',
  'f',
  'fri',
  'friday',
  'sat',
  'saturday',
  'sun',
  'sunday',
  'works',
  'work',
]);

/** Open 9-5: the second hour is one of the afternoon. */
export function openingHours(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(HOURS) : undefined;
  const [written, from = '', to = ''] = match ?? [];
  if (written === undefined || Number(from) > 12 || Number(to) > 12 || Number(to) >= Number(from))
    return undefined;
  if (!BEFORE_HOURS.has(reading.around(reading.at).previousShort)) return undefined;
  return { end: reading.at + written.length, spoken: `${cardinal(from)} to ${cardinal(to)}`, rule: 'time' };
}

/** Austin, TX 78701 */
export function state(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const code = reading.isFresh && text[at - 1] === ' ' ? reading.match(STATE)?.[0] : undefined;
  const name = code === undefined ? undefined : STATES[code];
  if (code === undefined || name === undefined || !CITY.test(text.slice(Math.max(0, at - 24), at)))
    return undefined;
  const zip = ZIP.test(text.slice(at + 2, at + 9)) ? text.slice(at + 2, at + 8) : '';
  if (zip === '' && DOUBTFUL.has(code)) return undefined;
  const spoken = zip === '' ? name : `${name} ${spellDigits(zip.trim())}`;
  return { end: at + 2 + zip.length, spoken, rule: 'abbreviation' };
}
