// Figures and signs that read as phrases: 3'25", 48°51′ N, 50%-60%, 10x plus, lun-ven, 1/2 journée.
import { tablesOf } from '../../tables/language-tables.js';
import type { Noun } from '../quantity.js';
import { numeralOf } from '../numerals.js';
import type { Found, Reading } from '../reading.js';
import { sayFraction, withNoun } from './amounts.js';
import { isFeminine } from './grammar.js';
import { cardinal } from './numbers.js';
import { SPEECH } from './speech.js';
import {
  dayAndDay,
  hundredths,
  longDuration,
  perWord,
  plusBetween,
  primed,
  relation,
  type Rules,
  until,
} from '../shared-forms.js';
import { WRITING } from './writing.js';

const MINUTES = /(\d{1,3})(?: ?min ?|['’′] ?)(\d{1,2})(?:"|”|″|''|’’| ?s\b)?(?![\p{L}\p{N}])/uy;
const PLACE = /(\d{1,3})° ?(\d{1,2})['’′](?: ?(\d{1,2})(?:["”″]|''|’’))? ?([NSEOW])?(?![\p{L}\p{N}])/uy;
const TIMES =
  /(\d{1,4}) ?[x×](?= (?:plus|moins|sans)(?!\p{L})|(?=[\s,.;)]|$)(?<=(?:en|payer|par) \d{1,2} ?x))/uy;
const DAY = '(lun|mar|mer|jeu|ven|sam|dim)\\.?';
const DAYS = new RegExp(`${DAY}(?: ?[-–] ?| au | à )${DAY}(?!\\p{L})`, 'iuy');
const HALF = /(?:1\/2|½) (\p{Ll}{3,24}|h)(?![\p{L}\p{N}])/uy;
const AND_A_HALF = /(?:1\/2|½)(?![\p{L}\p{N}/]| ?\p{L})/uy;
const NO_NOUN = tablesOf('fr').set('no noun behind a half');
const DETERMINER =
  /^(?:une?|la|le|cette|ce|chaque|par|sa|son|ma|mon|notre|votre|leur|prochaine?|première?|dernière?|autre)$/;
const PART = /(\d{1,3})\/(\d{1,4})(?:èmes?|es?)(?![\p{L}\p{N}])/uy;
const AMERICAN = /(?:(1)[- .])?\(?([2-9]\d{2})\)?[- .]([2-9]\d{2})[-.](\d{4})(?![\d\p{L}]|[-.]\d)/uy;

const NAMES = 'lundi mardi mercredi jeudi vendredi samedi dimanche'.split(' ');
const DIRECTIONS: Readonly<Record<string, string>> = {
  N: 'nord',
  S: 'sud',
  E: 'est',
  O: 'ouest',
  W: 'ouest',
};
const HOUR: Noun = { forms: ['heure', 'heures'], gender: 'f' };
const MINUTE: Noun = { forms: ['minute', 'minutes'], gender: 'f' };
const SECOND: Noun = { forms: ['seconde', 'secondes'], gender: 'f' };
const DEGREE: Noun = { forms: ['degré', 'degrés'], gender: 'm' };

function counted(digits: string, noun: Noun): string {
  return withNoun({ number: numeralOf(String(Number(digits))) }, noun);
}

/** 3'25" is "trois minutes vingt-cinq secondes", 3min30 "trois minutes trente". */
function minutes(reading: Reading): Found | undefined {
  const match = reading.match(MINUTES);
  if (match === undefined || Number(match[2]) > 59) return undefined;
  const [written, first = '', second = ''] = match;
  const named = /["”″'’s]$/.test(written);
  const rest = named ? counted(second, SECOND) : cardinal(String(Number(second)));
  return { end: reading.at + written.length, spoken: `${counted(first, MINUTE)} ${rest}`, rule: 'duration' };
}

/** 48°51′24″ N */
function place(reading: Reading): Found | undefined {
  const match = reading.match(PLACE);
  if (match === undefined) return undefined;
  const [written, degrees = '', past = '', seconds, direction] = match;
  const parts = [counted(degrees, DEGREE), counted(past, MINUTE)];
  if (seconds !== undefined) parts.push(counted(seconds, SECOND));
  if (direction !== undefined) parts.push(DIRECTIONS[direction] ?? direction);
  return { end: reading.at + written.length, spoken: parts.join(' '), rule: 'measure' };
}

/** 10x plus rapide */
function times(reading: Reading): Found | undefined {
  const match = reading.match(TIMES);
  if (match === undefined) return undefined;
  return {
    end: reading.at + match[0].length,
    spoken: `${cardinal(match[1] ?? '', true)} fois`,
    rule: 'cardinal',
  };
}

/** Lun-ven, du lun. au ven. */
export function days(reading: Reading): Found | undefined {
  const match = reading.match(DAYS);
  if (match === undefined) return undefined;
  const [from, to] = [match[1] ?? '', match[2] ?? ''].map((short) =>
    NAMES.find((name) => name.startsWith(short.toLowerCase())),
  );
  if (from === undefined || to === undefined) return undefined;
  const start = /^(?:du|de)$/.test(reading.around(reading.at).previousWord) ? from : `du ${from}`;
  return { end: reading.at + match[0].length, spoken: `${start} au ${to}`, rule: 'date' };
}

const toLast = until({
  ...tablesOf('fr').dates,
  hours: tablesOf('fr').set('names of hours'),
  toDay: 'au',
  toWeekday: 'au',
  toHour: 'à',
});

/** 1/2 heure is "une demi-heure"; behind "une" the article is not said again. */
function halfOf(reading: Reading): Found | undefined {
  const match = reading.match(HALF);
  const [written = '', name = ''] = match ?? [];
  if (match === undefined || NO_NOUN.has(name)) return undefined;
  const noun = name === 'h' ? 'heure' : name;
  const article = DETERMINER.test(reading.around(reading.at).previousWord)
    ? ''
    : isFeminine(noun)
      ? 'une '
      : 'un ';
  return { end: reading.at + written.length, spoken: `${article}demi-${noun}`, rule: 'fraction' };
}

/** 3 ans et 1/2 is "trois ans et demi", 2 heures et 1/2 "et demie". */
function andAHalf(reading: Reading): Found | undefined {
  const match = reading.match(AND_A_HALF);
  const around = reading.around(reading.at);
  if (match === undefined || around.previousWord !== 'et') return undefined;
  const noun = around.secondPreviousWord;
  const spoken = isFeminine(noun) ? 'demie' : 'demi';
  return { end: reading.at + match[0].length, spoken, rule: 'fraction' };
}

/** 1/10e de seconde */
function part(reading: Reading): Found | undefined {
  const match = reading.match(PART);
  if (match === undefined || Number(match[2]) < 2) return undefined;
  const spoken = sayFraction({ numerator: match[1] ?? '', denominator: match[2] ?? '' }, 'part', false);
  return { end: reading.at + match[0].length, spoken, rule: 'fraction' };
}

const related = relation(tablesOf('fr').signs.inFront, tablesOf('fr').set('before a compared amount'));
const longDurations = longDuration((parts) =>
  parts
    .map(([amount, unit]) => counted(amount, unit === 'h' ? HOUR : unit === 'min' ? MINUTE : SECOND))
    .join(' '),
);
const secondsAnd = hundredths(
  (seconds, rest, minutes) =>
    `${minutes === undefined ? '' : `${counted(minutes, MINUTE)} `}${counted(seconds, SECOND)} ${rest.startsWith('0') ? SPEECH.digits(rest) : cardinal(rest)}`,
);
const plus = plusBetween('plus');
const per = perWord(WRITING.per, 'toutes les');
const prime = primed((digits) => counted(digits, MINUTE));
/** 514-555-1234: in America figure by figure. */
function american(reading: Reading): Found | undefined {
  const match = reading.match(AMERICAN);
  if (match === undefined) return undefined;
  const groups = match.slice(1).filter((group) => group !== undefined);
  const spoken = groups.map((group) => (group === '800' ? 'huit cent' : SPEECH.digits(group))).join(', ');
  return { end: reading.at + match[0].length, spoken, rule: 'telephone' };
}

/** In the order in which the language asks them. */
export const signRules = {
  behindDigits: [
    [/[-.)\d]/, american],
    [/h/, longDurations],
    [/["'’″”]/, secondsAnd],
    [/°/, place],
    [/[m'’′]/, minutes],
    [/['’′]/, prime],
    [/[x×]/, times],
    [/\//, part],
    [/\//, andAHalf],
    [/\//, halfOf],
  ],
  atMark: [
    [/[-–—]/, toLast],
    [/\//, dayAndDay(tablesOf('fr').dates.weekdays, 'et')],
    [/\(/, american],
    [/[<>≤≥≈]/, related],
    [/\+/, plus],
    [/½/, andAHalf],
    [/½/, halfOf],
    [/\//, per],
  ],
} satisfies Rules;
