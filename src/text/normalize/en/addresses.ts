// Addresses of letters: 1600 Pennsylvania Ave. NW, 12 W 34th St, Austin, TX 78701-1234, I-95 N.
import { tablesOf } from '../../tables/language-tables.js';
import type { Around, Recogniser } from '../reading.js';
import { endsSentenceAt } from '../../sentence-end.js';
import { shortFormsOf } from '../../short-forms.js';
import type { Saying } from '../language.js';
import type { Rules } from '../shared-forms.js';
import { cardinal, pairs, spellDigits } from './numbers.js';

const STATE = /[A-Z]{2}(?=[.,;)!?]|$|\s[\p{Ll}(])/uy;
const CITY = /\p{Lu}[\p{L}.'’]+, $/u;

export const STATES: Readonly<Record<string, string>> = tablesOf('en').map('states');
/** Words, titles and names of something else, too: only a ZIP code behind them proves a state. */
const DOUBTFUL = tablesOf('en').set('states that are words');

/** Miami, FL. `recognise/codes.ts` reads a state before its ZIP code. */
export const state: Recogniser = (reading) => {
  const { text, at } = reading;
  const code = text[at - 1] === ' ' ? reading.match(STATE)?.[0] : undefined;
  const name = code === undefined ? undefined : STATES[code];
  if (code === undefined || name === undefined) return undefined;
  const isBeforeNoun =
    /^(?:OH|PA|VA|MD|MA|CO)$/.test(code) && /^ \p{Ll}{3}/u.test(text.slice(at + 2, at + 6));
  if (DOUBTFUL.has(code) && !isBeforeNoun) return undefined;
  if (!CITY.test(text.slice(Math.max(0, at - 24), at))) return undefined;
  return { end: at + 2, spoken: name, rule: 'address' };
};

const COMPASS: Readonly<Record<string, string>> = {
  N: 'North',
  S: 'South',
  E: 'East',
  W: 'West',
  NE: 'Northeast',
  NW: 'Northwest',
  SE: 'Southeast',
  SW: 'Southwest',
};
const SUFFIX =
  '(?:St|Ave|Av|Blvd|Rd|Ln|Dr|Ct|Pl|Ter|Terr|Cir|Pkwy|Hwy|Sq|Way|Trl|Street|Avenue|Boulevard|Road|Lane|Drive|Court|Place|Terrace|Circle|Parkway|Highway|Square|Trail|Broadway)';
const POINT = String.raw`(?:[NSEW]\.? |[NS]\.?[EW]\.? )?`;
const NAME = String.raw`(?:(?:\p{Lu}[\p{L}.'’-]*|\d{1,3}(?:st|nd|rd|th)) ){1,3}`;
const HOUSE = new RegExp(
  String.raw`(\d{1,5})([A-Z]?)(?:-\d{1,5})?(?= ${POINT}${NAME}${SUFFIX}(?![\p{L}\p{N}]))`,
  'uy',
);
const DIRECTED_HOUSE = /\d{1,5}(?= (?:[NSEW]\.?|[NS]\.?[EW]\.?) (?:\p{Lu}\p{Ll}|\d{1,3}(?:st|nd|rd|th)))/uy;

/** 1600 Pennsylvania Ave. is sixteen hundred; 123 N. Main St. has no newtons. */
export const house: Recogniser = (reading) => {
  const match = reading.match(HOUSE);
  const directed = match === undefined ? reading.match(DIRECTED_HOUSE)?.[0] : undefined;
  const [, digits = directed ?? '', letter = ''] = match ?? [];
  if (digits === '' || digits.startsWith('0') || match?.[0].includes('-') === true) return undefined;
  if (
    match !== undefined &&
    /^(?:19|20)\d\d$/.test(digits) &&
    reading.around(reading.at).previousWord === 'in'
  )
    return undefined;
  const number =
    digits.length === 5
      ? spellDigits(digits)
      : digits.length === 4 || letter !== ''
        ? pairs(digits)
        : cardinal(digits);
  const spoken = letter === '' ? number : `${number} ${letter}`;
  return { end: reading.at + digits.length + letter.length, spoken, rule: 'address' };
};

const POINTED = /(N\.?[EW]|S\.?[EW]|[NSEW])\.?(?![\p{L}\p{N}])/uy;
const BEHIND_STREET = new RegExp(
  String.raw`(?:\p{Lu}\p{L}+ ${SUFFIX}\.?,? |(?:I|US|[A-Z]{2}|Hwy\.?|Highway|Route|Rte\.?|Interstate)[- ]\d{1,3} )$`,
  'u',
);
const BEFORE_STREET = new RegExp(String.raw`^ ${NAME}${SUFFIX}(?![\p{L}\p{N}])`, 'u');
/** 12 W 34th St, Ave. NW, I-95 N */
const direction: Recogniser = (reading) => {
  const match = reading.match(POINTED);
  const name = COMPASS[(match?.[1] ?? '').replace('.', '')];
  if (match === undefined || name === undefined) return undefined;
  const { text, at } = reading;
  const lead = text.slice(Math.max(0, at - 48), at);
  const letters = at + (match[1] ?? '').length;
  const stop = text[letters] === '.';
  if (BEHIND_STREET.test(lead)) return { end: letters, spoken: name, rule: 'address' };
  if (
    /\d ?(?:km|mi|miles?|kilomet(?:er|re)s?|m|ft|feet|yards?|blocks?)\.? $/.test(lead) &&
    /^ of\b/.test(text.slice(letters, letters + 4))
  ) {
    return { end: letters, spoken: name.toLowerCase(), rule: 'abbreviation' };
  }
  const end = stop ? letters + 1 : letters;
  const numbered =
    /\d[A-Z]? $/.test(lead) && /^ (?:\p{Lu}\p{Ll}|\d{1,3}(?:st|nd|rd|th))/u.test(text.slice(end, end + 8));
  return numbered || BEFORE_STREET.test(text.slice(end, end + 48))
    ? { end, spoken: name, rule: 'address' }
    : undefined;
};

const ROAD = /(I|US|SR|CR)-(\d{3})(?![\p{L}\p{N}]|-\d)/uy;

/** I-405 is four oh five. */
const road: Recogniser = (reading) => {
  const match = reading.match(ROAD);
  if (match === undefined) return undefined;
  const spoken = `${Array.from(match[1] ?? '').join(' ')} ${pairs(match[2] ?? '')}`;
  return { end: reading.at + match[0].length, spoken, rule: 'address' };
};

const STREET_BEFORE = /^(?:\p{Lu}|\d)/u;
const FORMS = shortFormsOf('en');

/** Before a saint's name they are part of a place's: Lake St. Clair, Fort St. John. */
const PLACES = tablesOf('en').set('before a place name');
const SAINTS = tablesOf('en').set('saints');

/** St. is a saint before a name and a street behind one. */
export const saintOrStreet: Saying = (around) => {
  const before = around.text.slice(Math.max(0, around.start - 40), around.start).trimEnd();
  const word = /[\p{L}\d]+$/u.exec(before)?.[0] ?? '';
  const named = STREET_BEFORE.test(word);
  const next = around.nextWord;
  if (named && !/^\p{Lu}\p{Ll}/u.test(next)) return 'Street';
  if (named && endsSentenceAt(around.text, around.end - 1, FORMS)) return 'Street';
  const begins = /(?:^|[.!?:]\s)["'“(]?[\p{L}\d]+$/u.test(before);
  if (named && !begins && !PLACES.has(word) && !SAINTS.has(next.replace(/['’]s$/, ''))) return 'Street';
  if (/^\p{Lu}/u.test(next) && around.text[around.end] !== '\n') return 'Saint';
  return named ? 'Street' : undefined;
};

export function streetOrSaint(around: Around): string | undefined {
  const street = inStreet('Street');
  const found = typeof street === 'string' ? street : street(around);
  return (
    found ??
    (/^\p{Lu}\p{Ll}/u.test(around.nextWord) && !/^\p{L}/u.test(around.previousWord) ? 'Saint' : undefined)
  );
}

/** Main St without its stop, where a number or a direction stands before the name. */
export const inStreet =
  (said: string): Saying =>
  (around) =>
    /(?:\d\S{0,3}|(?:^|[ ,])[NSEW]{1,2}|(?<!\p{L})(?:on|off|down|along|at|near)) (?:[\p{Lu}\d][\p{L}.\d'’]* ){1,3}$/u.test(
      around.text.slice(Math.max(0, around.start - 40), around.start),
    ) && !/^\p{Lu}/u.test(around.nextWord)
      ? said
      : undefined;

/** Dr. is a doctor before a name and a drive behind one. */
export const doctorOrDrive: Saying = (around) => {
  if (/^\p{Lu}/u.test(around.nextWord)) {
    return endsSentenceAt(around.text, around.end - 1, FORMS) ? 'Drive' : 'Doctor';
  }
  return around.previousWord === '' ? 'Doctor' : 'Drive';
};

/** In the order in which the language asks them. */
export const addressRules = {
  atCapital: [
    [/[NSEW]/, direction],
    [/[IUSC]/, road],
  ],
} satisfies Rules;
