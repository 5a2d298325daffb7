// Short names of days without a full stop: Mo, Mi, Fr 9–12 Uhr; Di u. Do; am Fr.
import type { Found, Reading } from '../reading.js';
import { WEEKDAYS } from './calendar.js';

const NAMES = new Map(WEEKDAYS.map(([full = '', , short = '']) => [short, full]));
const DAY = '(?:Mo|Di|Mi|Do|Fr|Sa|So)\\.?';
const SHORT = /(Mo|Di|Mi|Do|Fr|Sa|So)\.?(?![\p{L}\p{N}])/uy;
const JOIN = '(?: ?[,/&+–-] ?| (?:u\\.|und|bis|oder|o\\.|sowie) )';
const BEFORE_DAY = new RegExp(`^${JOIN}${DAY}(?![\\p{L}\\p{N}])`, 'u');
const BEHIND_DAY = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:${DAY}|(?:Mon|Diens|Donners|Frei|Sams|Sonn)tag|Mittwoch)${JOIN}$`,
  'u',
);
const UM = /^ um \d/;
/** A sign between two days is a word. */
const SIGN = /^ ?[+&/] ?(?=(?:Mo|Di|Mi|Do|Fr|Sa|So)(?!\p{L}))/u;
const BEHIND_WORD =
  /(?:^|[\s(])(?:[aA]m|[jJ]eden|nächsten|kommenden|diesen|letzten|vergangenen|[aA]b|[vV]om) $/;
const BEFORE_HOURS =
  /^,?:? (?:ab |von |bis )?\d{1,2}(?:[:.]\d\d)?(?: ?(?:Uhr|h)(?!\p{L})| ?[-–] ?\d{1,2}(?:[:.]\d\d)?(?: ?(?:Uhr|h)(?!\p{L})|\s*(?:$|[,;)\n])))/u;
const LONGEST_LEAD = 16; // units before a day that may hold another one
const LONGEST_HOURS = 28;

export function weekday(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!reading.isFresh || reading.runEnd - at !== 2) return undefined;
  const match = reading.match(SHORT);
  if (match === undefined) return undefined;
  const [written, short = ''] = match;
  const end = at + written.length;
  const [before, behind] = [
    text.slice(Math.max(0, at - LONGEST_LEAD), at),
    text.slice(end, end + LONGEST_HOURS),
  ];
  const listed = BEFORE_DAY.test(behind) || BEHIND_DAY.test(before);
  const isDay =
    listed || BEHIND_WORD.test(before) || BEFORE_HOURS.test(behind) || (short !== 'So' && UM.test(behind));
  const spoken = NAMES.get(short);
  if (!isDay || spoken === undefined || /^ ?[-–] ?(?:Mo|Di|Mi|Do|Fr|Sa|So)(?!\p{L})/u.test(behind))
    return undefined;
  const sign = SIGN.exec(behind)?.[0];
  if (sign !== undefined) return { end: end + sign.length, spoken: `${spoken} und`, rule: 'date' };
  const stop = written.endsWith('.') && !listed && /^\s+\p{Lu}/u.test(behind);
  return { end: stop ? end - 1 : end, spoken, rule: 'date' };
}
