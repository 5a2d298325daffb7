// Tokens that only German has: 3x, 10 x 20 m, 1:05:20 Stunden, the keys of a telephone.
import { tablesOf } from '../../tables/language-tables.js';
import { withoutZeros } from '../numerals.js';
import { certain, type Found, type Reading } from '../reading.js';
import type { Rules } from '../shared-forms.js';
import { cardinal, decimal, ordinalStem } from './numbers.js';
import { SPEECH } from './speech.js';

const LASTING = /(\d{1,2}):(\d{2}):(\d{2})(?: (?:Stunden|Std\.|h)(?!\p{L}))?(?![\d:])/uy;
const BEFORE_LASTING = tablesOf('de').set('before a duration');

/** Er lief 1:05:20 Stunden: that is no time of day. */
function lasting(reading: Reading): Found | undefined {
  const match = reading.match(LASTING);
  if (match === undefined) return undefined;
  const [written, hours = '', minutes = '', seconds = ''] = match;
  if (!/\p{L}/u.test(written) && !BEFORE_LASTING.has(reading.around(reading.at).previousWord))
    return undefined;
  const parts = (
    [
      [hours, 'h'],
      [minutes, 'min'],
      [seconds, 's'],
    ] as const
  )
    .map(([digits, unit]) => [withoutZeros(digits), unit] as const)
    .filter(([digits]) => digits !== '0');
  if (parts.length === 0) return undefined;
  const end = reading.at + written.length;
  return { end, spoken: SPEECH.duration(parts, reading.around(end)), rule: 'duration' };
}

const NUMBER = '\\d{1,5}(?:,\\d{1,3})?';
const LONGEST_SIZE = 8; // units behind the digits of a size, before its sign
const SIZES = new RegExp(`${NUMBER}(?: ?[x×] ?${NUMBER}){1,3}(?!\\p{N}|[,.]\\d)`, 'uy');
const SIZE = new RegExp(`(${NUMBER}) ?[x×] ?(?=\\d)`, 'y');
const PERIOD = String.raw`\/(Tag|d|Woche|Wo\.|Monat|Mon\.|Jahr)(?!\p{L})`;
const TIMES_AS_MUCH = new RegExp(
  `(${NUMBER})(?:[x×](?![\\p{L}\\p{N}]| ?\\d)(?:${PERIOD})?| [x×](?= \\p{L}{2}))`,
  'uy',
);

/** 10 x 20 m: all but the last number, which may have a unit. */
function sizes(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!/[x×]/.test(text.slice(Math.max(0, at - 2), reading.runEnd + LONGEST_SIZE))) return undefined;
  const behindOne = at === reading.tokenEnd && /[x×] ?$/.test(text.slice(at - 2, at));
  if (!behindOne && !(reading.isFresh && reading.match(SIZES))) return undefined;
  const match = reading.match(SIZE);
  if (match === undefined) return undefined;
  return { end: at + match[0].length, spoken: `${sayDecimal(match[1] ?? '')} mal`, rule: 'measure' };
}

/** 3x so schnell, 2,5x */
function timesAsMuch(reading: Reading): Found | undefined {
  const match = reading.match(TIMES_AS_MUCH);
  if (match === undefined) return undefined;
  const [written, number = '', period] = match;
  const whole = number === '1' ? 'ein' : sayDecimal(number);
  const end = reading.at + written.length;
  const isCounted = /^ ["„«*]{0,2}\p{L}{2}/u.test(reading.text.slice(end, end + 5));
  return {
    end,
    spoken: (number.includes(',') ? `${whole} mal` : `${whole}mal`) + perPeriod(period),
    rule: 'math',
    ...(isCounted ? { isCertain: true } : {}),
  };
}

function perPeriod(period: string | undefined): string {
  return period === undefined
    ? ''
    : ` pro ${{ d: 'Tag', 'Wo.': 'Woche', 'Mon.': 'Monat' }[period] ?? period}`;
}

const TIMES_RANGE = new RegExp(
  String.raw`(\d{1,2}) ?[-–] ?(\d{1,2}) ?[x×](?![\p{L}\p{N}]| ?\d)(?:${PERIOD})?`,
  'uy',
);

/** 3–4x/Woche */
function timesRange(reading: Reading): Found | undefined {
  const match = reading.match(TIMES_RANGE);
  if (match === undefined) return undefined;
  const [written, from = '', to = '', period] = match;
  const first = from === '1' ? 'ein' : cardinal(from);
  return {
    end: reading.at + written.length,
    spoken: `${first}- bis ${cardinal(to)}mal${perPeriod(period)}`,
    rule: 'math',
    isCertain: true,
  };
}

const GOAL = /(\d{1,3})\.(?:\+(\d{1,2})\.?)?(?:\/(?=(?:FE|ET)[,)])|(?=\)|, \d{1,3}\.[,)+/]))/uy;

/** Tore: Müller (12.), Wirtz (45.+2) */
function goal(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const match = /\p{Ll} \((?:\d{1,3}\.(?:\+\d{1,2})?(?:\/FE)?, ){0,4}$/u.test(
    text.slice(Math.max(0, at - 48), at),
  )
    ? reading.match(GOAL)
    : undefined;
  if (match === undefined) return undefined;
  const more = match[2] === undefined ? '' : ` plus ${cardinal(match[2])}`;
  const stroke = match[0].endsWith('/') ? ', ' : '';
  return {
    end: at + match[0].length,
    spoken: `${ordinalStem(match[1] ?? '')}e${more} Minute${stroke}`,
    rule: 'ordinal',
  };
}

function sayDecimal(written: string): string {
  const [whole = '', decimals = ''] = written.split(',');
  return decimal({ negative: false, whole, decimals, grouped: false });
}

const TICKER = /\+{3}(?!\+)/y;

/** +++ Eilmeldung +++ */
function ticker(reading: Reading): Found | undefined {
  return reading.match(TICKER) && { end: reading.at + 3, spoken: '', rule: 'punctuation' };
}

const BORN = /\* ?(?=(?:1\d|20)\d\d(?!\d)|\d{1,2}\. )/y;

/** Goethe (* 1749; † 1832) */
function born(reading: Reading): Found | undefined {
  if (reading.text[reading.at - 1] !== '(') return undefined;
  return reading.match(BORN) && { end: reading.at + 1, spoken: 'geboren', rule: 'symbol' };
}

const EXTENSION = /[-–](\d{1,5})(?![\p{L}\p{N}])/uy;

/** Durchwahl -42 */
function extension(reading: Reading): Found | undefined {
  const match = /[-–]/.test(reading.text[reading.at] ?? '') ? reading.match(EXTENSION) : undefined;
  if (
    match === undefined ||
    !/(?:Durchwahl|DW|Nebenstelle|[fF]ax):? ?$/.test(
      reading.text.slice(Math.max(0, reading.at - 12), reading.at),
    )
  )
    return undefined;
  return { end: reading.at + match[0].length, spoken: SPEECH.digits(match[1] ?? ''), rule: 'telephone' };
}

const PER_UNIT =
  /(\d{1,4})\/(?:(min|Min\.)|(s|Sek\.)|(h|Std\.)|(Tag|d)|(Woche)|(Monat|Mon\.)|(Jahr))(?![\p{L}\p{N}])/uy;
const PER_NAMES = ['Minute', 'Sekunde', 'Stunde', 'Tag', 'Woche', 'Monat', 'Jahr'];

/** Puls 72/min */
function perUnit(reading: Reading): Found | undefined {
  const match = reading.match(PER_UNIT);
  if (match === undefined) return undefined;
  const name = PER_NAMES[match.slice(2).findIndex((unit) => unit !== undefined)] ?? '';
  return {
    end: reading.at + match[0].length,
    spoken: `${sayDecimal(match[1] ?? '')} pro ${name}`,
    rule: 'measure',
  };
}

const KEY = /[*#](?=[\s.,;!?)“”"]|$)/y;

/** Drücken Sie die *: behind the article the sign is a key. */
function namedKey(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!/(?<!\p{L})[dD](?:ie|er) $/u.test(text.slice(Math.max(0, at - 5), at))) return undefined;
  if (reading.match(KEY) === undefined || /^ ?-?[tT]aste/.test(text.slice(at + 1, at + 8))) return undefined;
  return { end: at + 1, spoken: text[at] === '*' ? 'Sterntaste' : 'Rautetaste', rule: 'symbol' };
}

const DIRECTED = /(\d{1,3}(?:[,.]\d{1,6})?)[°º] ?([NSOWE])(?!\p{L})/uy;
// prettier-ignore
const POINTS: Readonly<Record<string, string>> = {
  N: 'Nord', S: 'Süd', O: 'Ost', E: 'Ost', W: 'West', NO: 'Nordost', NW: 'Nordwest', SO: 'Südost', SW: 'Südwest', NE: 'Nordost', SE: 'Südost',
};

/** 47,3769° N */
function directed(reading: Reading): Found | undefined {
  const match = reading.match(DIRECTED);
  if (match === undefined) return undefined;
  const [written, number = '', point = ''] = match;
  const spoken = `${sayDecimal(number.replace('.', ','))} Grad ${POINTS[point] ?? ''}`;
  return { end: reading.at + written.length, spoken, rule: 'measure' };
}

const GRADE = /-(?=[,;.)](?!\d)|$)/y;

/** Mathe 2- */
function lessThanGrade(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const isGrade = /\p{L}:? [1-6]$/u.test(text.slice(Math.max(0, at - 4), at));
  return isGrade && reading.match(GRADE) ? { end: at + 1, spoken: ' minus', rule: 'symbol' } : undefined;
}

const STOPPAGE = /(\d{2,3})\. ?\+ ?(\d{1,2})\.?(?= (?:Spielm|M)inute)/uy;

/** 1–5 ⭐; stars that are a picture are not spoken. */
function star({ text, at }: Reading): Found | undefined {
  const isCounted = /\d ?$/.test(text.slice(Math.max(0, at - 2), at));
  return { end: at + 1, spoken: isCounted ? 'Sterne' : '', rule: 'symbol' };
}

/** In der 90.+3 Minute */
function stoppageTime(reading: Reading): Found | undefined {
  const match = reading.match(STOPPAGE);
  if (match === undefined) return undefined;
  const spoken = `${cardinal(match[1] ?? '')} plus ${ordinalStem(match[2] ?? '')}en`;
  return { end: reading.at + match[0].length, spoken, rule: 'ordinal' };
}

const ONE_OF = /1(?= von (?:\d{1,6}|drei|vier|fünf|zehn|zwanzig|hundert) (\p{Lu}\p{L}+))/uy;

/** 1 von 5 Anrufern is einer of them, 1 von 5 Frauen eine. */
function oneOf(reading: Reading): Found | undefined {
  const match = reading.match(ONE_OF);
  const noun = match?.[1] ?? '';
  if (match === undefined || !noun.endsWith('n') || /(?:Punkten|Sternen|Prozent|Seiten)$/.test(noun))
    return undefined;
  const spoken = /(?:innen|frauen|ungen|heiten|keiten|schaften|tionen|itäten)$/i.test(noun)
    ? 'eine'
    : /kindern$/i.test(noun)
      ? 'eines'
      : 'einer';
  return { end: reading.at + 1, spoken, rule: 'cardinal' };
}

/** In the order in which the language asks them. */
export const ownRules = {
  behindDigits: [
    [/:/, lasting],
    [/[x×,]/, sizes],
    [/[x×,]/, timesAsMuch],
    [/[-–]/, timesRange],
    [/\./, certain(goal)],
    [/[°º,.]/, directed],
    [/\./, stoppageTime],
    [/v/, oneOf],
    [/\//, perUnit],
  ],
  atMark: [
    [/[*#]/, namedKey],
    [/[★⭐]/, star],
    [/\+/, ticker],
    [/\*/, born],
    [/[-–]/, extension],
    [/-/, lessThanGrade],
  ],
} satisfies Rules;

const FIRST_PART = /-\/(?=\p{Lu}\p{Ll})/uy;

/** Ober-/Unterhitze */
export function twoFirstParts(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (!/\p{Ll}$/u.test(text.slice(Math.max(0, at - 1), at)) || reading.match(FIRST_PART) === undefined)
    return undefined;
  return { end: at + 2, spoken: '- und ', rule: 'abbreviation', clings: true };
}
