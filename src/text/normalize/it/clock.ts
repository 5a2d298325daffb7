// Times as Italians write them: alle 8.30, ore 9-13, 9.00–17.30, h 15, l'1:30, 2h30.
import { tablesOf } from '../../tables/language-tables.js';
import type { WrittenTime } from '../quantity.js';
import { numeralOf, withoutZeros } from '../numerals.js';
import type { Around, Found, Reading } from '../reading.js';
import type { Rules } from '../shared-forms.js';
import { withNoun } from './amounts.js';
import { before, isNumbered, words } from './grammar.js';
import { cardinal } from './numbers.js';
import { WRITING } from './writing.js';

const HOUR = '(\\d{1,2})';
const MINUTES = '[.:]([0-5]\\d)';
const BEHIND =
  '(?![\\p{L}\\d]|[.,:/]\\d| ?(?:[€$%£]|euro|mila|mln|milion|miliard|dollar|punti|per cento|percento|kg|km|m\\b|cm|gb|ghz))';
const DOTTED = new RegExp(`${HOUR}[.,]([0-5]\\d)${BEHIND}`, 'iuy');
const BOTH = new RegExp(`${HOUR}${MINUTES} ?[-–/] ?${HOUR}${MINUTES}${BEHIND}`, 'iuy');
const HOURS = /ore (\d{1,2})(?:[.:]([0-5]\d))? ?[-–/] ?(\d{1,2})(?:[.:]([0-5]\d))?(?![\p{L}\d]|[.,:/]\d)/iuy;
const ONE_OCLOCK =
  /(?:(a|da|de|su)l)?le (?:ore )?0?1(?:[.:]([0-5]\d))?(?![\p{L}\d]|[.,:/]\d| ?(?:[-–%€]|ore|per))/iuy;
const LENGTH = /(\d{1,3}) ?h ?([0-5]\d)(?:'|’|′)?(?! ?(?:min|m)\b)(?![\p{L}\d]|[.,:]\d)/uy;
const MINUTES_SECONDS = /(\d{1,3})['’′] ?([0-5]?\d)(?:"|”|″|''|’’)/uy;
const BARE_RANGE =
  /(\d{1,2})(?:[.:,]([0-5]\d))? ?[-–] ?(\d{1,2})(?:[.:,]([0-5]\d))?(?![\p{L}\d/]|[.,:/]\d| ?[€%]|\p{Ll}| (?!e (?:\d{1,2} ?[-–]|lun|mar|mer|gio|ven|sab|dom)|(?:lun|mar|mer|gio|ven|sab|dom))\p{Ll})/uy;
const WEEKDAY =
  /(?<!\p{L})(?:(?:lun|mart|mercol|giov|ven)edì|venerdì|sabato|domenica|(?:lun|mar|mer|gio|ven|sab|dom)(?!\p{L}))/iu;
const OPENING = tablesOf('it').set('opening hours');
const [FIRST_OF_NIGHT, LAST_OF_NIGHT] = [18, 9];
const NEAR_OPENING = 48; // units before 9-13 in which a day or a word of opening hours stands
const BEFORE_TIME = tablesOf('it').set('before a time');
const TO_NOON = /(\d{1,2})(?:[:.]([0-5]\d))? ?[-–] ?(mezzogiorno|mezzanotte)(?!\p{L})/uy;
const AFTER_TIME = /^ (?:di (?:mattina|sera|notte|pomeriggio)|del (?:mattino|pomeriggio)|in punto)(?!\p{L})/u;
const LOOK_AHEAD = 18; // units
const CLOCK = words("alle ore dalle le delle all' dall' l' h");

const EVENING = 6; // o'clock

function halfName(hours: number, half: string): string {
  if (half === 'am') return hours === 12 ? 'di notte' : 'del mattino';
  return hours >= EVENING && hours < 12 ? 'di sera' : 'del pomeriggio';
}

/** Le quindici e trenta; the article is in the text. */
export function time({ hours, minutes, seconds, half, zone }: WrittenTime, around: Around): string {
  if (hours === '0' && /^0*$/.test(minutes) && !CLOCK.has(around.previousWord))
    return withZone('mezzanotte', zone);
  const hour = hours === '1' ? 'una' : cardinal(hours);
  const past = withoutZeros(minutes || '0');
  const parts = [
    seconds === undefined ? `${hour}${minutesPast(past)}` : withSeconds(hours, past, seconds, around),
  ];
  if (half !== undefined) parts.push(halfName(Number(hours), half));
  return withZone(parts.join(' '), zone);
}

function withZone(words: string, zone: string | undefined): string {
  return zone === undefined ? words : `${words} ${zone}`;
}

function minutesPast(minutes: string): string {
  if (minutes === '0') return '';
  return ` e ${minutes === '1' ? 'un minuto' : cardinal(minutes)}`;
}

/** At 23:59:59, or a run of 2:05:30. */
function withSeconds(hours: string, minutes: string, seconds: string, around: Around): string {
  const rest: (readonly [string, 'min' | 's'])[] = [
    [minutes, 'min'],
    [withoutZeros(seconds), 's'],
  ];
  const said = rest.filter(([amount]) => amount !== '0');
  if (!CLOCK.has(around.previousWord)) return duration([[hours, 'h'], ...said]);
  const hour = hours === '1' ? 'una' : cardinal(hours);
  return listed([hour, ...said.map(([amount, unit]) => counted(amount, unit))]);
}

function counted(digits: string, unit: 'h' | 'min' | 's'): string {
  const noun = WRITING.units[unit];
  return noun === undefined ? cardinal(digits) : withNoun({ number: numeralOf(digits) }, noun);
}

export function duration(parts: readonly (readonly [amount: string, unit: 'h' | 'min' | 's'])[]): string {
  return listed(parts.map(([digits, unit]) => counted(digits, unit)));
}

/** Due ore, cinque minuti e trenta secondi. */
function listed(parts: readonly string[]): string {
  return parts.length < 2 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} e ${parts.at(-1) ?? ''}`;
}

/** Dalle nove alle tredici; "dalle 9-13" has its first word already. */
export function timeRange(from: string, to: string, around: Around): string {
  const word = around.previousWord;
  if (/^(?:dalle|dall['’])$/.test(word)) return `${from} ${before('alle', to)}`;
  if (word === 'tra' || word === 'fra' || word === 'le')
    return `${word === 'le' ? '' : 'le '}${from} e le ${to}`;
  return `${before('dalle', from)} ${before('alle', to)}`;
}

function sayTime(hours: string, minutes: string | undefined): string | undefined {
  if (Number(hours) > 24) return undefined;
  const hour = withoutZeros(hours);
  return `${hour === '1' ? 'una' : cardinal(hour)}${minutesPast(withoutZeros(minutes ?? '0'))}`;
}

/** Alle 8.30: behind such a word a full stop (or a comma) parts hours and minutes. */
function dottedTime(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (/[.,:/]/.test(text[at - 1] ?? '')) return undefined;
  const both = dottedRange(reading);
  if (both !== undefined) return both;
  const match = reading.match(DOTTED);
  if (
    match === undefined ||
    (!BEFORE_TIME.has(reading.around(at).previousShort) &&
      !AFTER_TIME.test(text.slice(at + match[0].length, at + match[0].length + LOOK_AHEAD)))
  )
    return undefined;
  const [written, hours = '', minutes] = match;
  const spoken = sayTime(hours, minutes);
  return spoken === undefined ? undefined : { end: at + written.length, spoken, rule: 'time' };
}

const ROUND = 5; // minutes of a timetable

/** 9.00-17.30, 9.30/12.30 */
function dottedRange(reading: Reading): Found | undefined {
  const match = reading.match(BOTH);
  if (match === undefined) return undefined;
  const [written, hours = '', minutes = '', hoursTo = '', minutesTo = ''] = match;
  if (Number(minutes) % ROUND !== 0 || Number(minutesTo) % ROUND !== 0) return undefined;
  const [from, to] = [sayTime(hours, minutes), sayTime(hoursTo, minutesTo)];
  if (from === undefined || to === undefined) return undefined;
  const end = reading.at + written.length;
  return { end, spoken: timeRange(from, to, reading.around(end)), rule: 'time' };
}

/** The second hour is later, or that of the next morning. */
function follows(from: number, to: number): boolean {
  return to > from || (from >= FIRST_OF_NIGHT && to <= LAST_OF_NIGHT);
}

/** Lun.-ven. 9-18, aperto 9-13 e 15-19, 9-18 sab. */
function bareRange(reading: Reading): Found | undefined {
  const match = reading.match(BARE_RANGE);
  if (match === undefined || isNumbered(reading.around(reading.at))) return undefined;
  const { text, at } = reading;
  const clause = /[^!?;\n]*$/.exec(text.slice(Math.max(0, at - NEAR_OPENING), at))?.[0] ?? '';
  const words = clause.toLowerCase().match(/\p{L}+/gu) ?? [];
  if (words.some((word) => WRITING.scoreWords.has(word))) return undefined;
  const end = at + match[0].length;
  const opens = words.some((word) => OPENING.has(word)) || WEEKDAY.test(clause);
  if (!opens && !(WEEKDAY.exec(text.slice(end, end + LOOK_AHEAD))?.index === 1)) return undefined;
  const [, hours = '', minutes, hoursTo = '', minutesTo] = match;
  const [from, to] = [sayTime(hours, minutes), sayTime(hoursTo, minutesTo)];
  if (from === undefined || to === undefined || !follows(Number(hours), Number(hoursTo))) return undefined;
  return { end, spoken: timeRange(from, to, reading.around(end)), rule: 'time' };
}

/** 8:00–mezzogiorno */
function toNoon(reading: Reading): Found | undefined {
  const match = reading.match(TO_NOON);
  const [written = '', hours = '', minutes, name = ''] = match ?? [];
  const from = match && sayTime(hours, minutes);
  if (from === undefined) return undefined;
  const first = timeRange(from, '', reading.around(reading.at)).replace(/ all[e']\s*$/, '');
  return { end: reading.at + written.length, spoken: `${first} a ${name}`, rule: 'time' };
}

/** "Ore 9-13" is "dalle nove alle tredici". */
function hourRange(reading: Reading): Found | undefined {
  const match = reading.match(HOURS);
  if (match === undefined) return undefined;
  const [written, hours = '', minutes, hoursTo = '', minutesTo] = match;
  const [from, to] = [sayTime(hours, minutes), sayTime(hoursTo, minutesTo)];
  if (from === undefined || to === undefined) return undefined;
  const end = reading.at + written.length;
  const said = timeRange(from, to, reading.around(end));
  const spoken = written.startsWith('O') ? said.slice(0, 1).toUpperCase() + said.slice(1) : said;
  return { end, spoken, rule: 'time' };
}

/** "Alle 1" is "all'una". */
function oneOclock(reading: Reading): Found | undefined {
  const match = reading.match(ONE_OCLOCK);
  if (match === undefined) return elidedOne(reading);
  const [written, preposition, minutes] = match;
  const article = preposition === undefined ? written.slice(0, 1) : `${preposition}ll`;
  return {
    end: reading.at + written.length,
    spoken: `${article}'${sayTime('1', minutes) ?? ''}`,
    rule: 'time',
  };
}

const ELIDED_ONE = /((?:(?:a|da|de|su)l)?l['’])1(?![\p{L}\d]|[.,:/]\d| ?[%€])/iuy;
const HOUR_BEHIND =
  /^(?: (?:di|del) (?:notte|mattina|mattino|sera|pomeriggio)| in punto| (?:e|alle) \d| circa[.,;])/u;
const LONGEST_RISE = 24; // units
const RISING = /(?<!\p{L})dal(?:l['’]|lo )? ?\d[\p{L}\d %]*$/u;

/** All'1 di notte, dall'1 alle 2; all'1% is no hour, nor is the end of "dal 3 all'1". */
function elidedOne(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const [written = '', article = ''] = reading.match(ELIDED_ONE) ?? [];
  if (written === '') return undefined;
  const end = at + written.length;
  const behind = text.slice(end, end + LOOK_AHEAD);
  const ends = /^all/i.test(article) && /^(?:[.,;!?)]|$)/.test(behind);
  const isNamed =
    /(?:^|\s)(?:è|era|sarà|sono) $/iu.test(text.slice(Math.max(0, at - 6), at)) &&
    /^(?:[.,;!?)]|$)/.test(behind);
  if (!HOUR_BEHIND.test(behind) && !ends && !isNamed) return undefined;
  if (RISING.test(text.slice(Math.max(0, at - LONGEST_RISE), at))) return undefined;
  return { end, spoken: `${article}una`, rule: 'time' };
}

/** 2h30, 3'25": how long something takes. */
function length(reading: Reading): Found | undefined {
  const long = reading.match(LENGTH);
  const match = long ?? reading.match(MINUTES_SECONDS);
  if (match === undefined) return undefined;
  const [written, first = '', second = ''] = match;
  const parts =
    long === undefined
      ? ([
          [first, 'min'],
          [second, 's'],
        ] as const)
      : ([
          [first, 'h'],
          [second, 'min'],
        ] as const);
  const spoken = duration(
    parts.map(([digits, unit]) => [withoutZeros(digits), unit] as const).filter(([digits]) => digits !== '0'),
  );
  return spoken === '' ? undefined : { end: reading.at + written.length, spoken, rule: 'duration' };
}

/** In the order in which the language asks them. */
export const clockRules = {
  behindDigits: [
    [/[.,:]/, dottedTime],
    [/[-–.:]/, toNoon],
    [/[-–.:]/, bareRange],
    [/[h'’′]/, length],
  ],
  atLetter: [
    [/o/i, hourRange, /\d/],
    [/[adls]/i, oneOclock, /[o01'’]/i],
  ],
} satisfies Rules;
