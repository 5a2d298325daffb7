// Assembles English, and orders its own recognisers by the character that decides.
// Words are American where the two differ and the text does not decide.
import { tablesOf } from '../../tables/language-tables.js';
import { type Asked, only } from '../dispatch.js';
import type { Language } from '../language.js';
import { certain, type Found, type Reading } from '../reading.js';
import { betweenAmounts, byFirstLetter, byMark, coordinates, perWord } from '../shared-forms.js';
import { initials, shouted, unsayable } from './abbreviations.js';
import { addressRules, house, state, STATES } from './addresses.js';
import { algebraRules, piOfFormula } from './algebra.js';
import { age, amountRules, DIRECTIONS, partOfInch, stones, timesSum } from './amounts.js';
import { clockRules, offset, timeBesideTime } from './clock.js';
import { codeRules } from './codes.js';
import { cardDate, dayRow, shortDateRules, shortYear } from './dates.js';
import { bySign } from './digit-rules.js';
import { cardinal, pairs } from './numbers.js';
import { always, pairOf, ratioRules, recordOfThree, result } from './ratios.js';
import { roman, smallRoman } from './roman.js';
import { SPEECH } from './speech.js';
import { WRITING } from './writing.js';

const PARTS = { degree: ['degree', 'degrees'], minute: ['minute', 'minutes'], second: ['second', 'seconds'] };
const position = coordinates(
  (digits, part) => `${cardinal(digits)} ${PARTS[part][digits === '1' ? 0 : 1] ?? ''}`,
  DIRECTIONS,
);

const NONE = /(?!)/;

/** The more certain come first. */
const atNumber = (order: 'dmy' | 'mdy' | 'ymd'): Asked =>
  bySign([
    [/[°º]/, NONE, position],
    [/\//, NONE, always],
    [/\//, NONE, cardDate],
    ...ratioRules.behindDigits,
    ...amountRules.behindDigits,
    [/[/.]/, NONE, certain(pairOf)],
    [/[-/]/, /\d/, partOfInch],
    ...ratioRules.behindDigitsLater,
    ...shortDateRules(order),
    ...amountRules.behindDigitsLater,
    ...clockRules.behindDigits,
    [/s/, /s/, stones],
    ...amountRules.behindDigitsLast,
    ...codeRules.behindDigits,
    [/[A-Z]/, /[\p{Lu}\d]/u, certain(house)],
    ...amountRules.behindDigitsAtEnd,
    ...codeRules.behindDigitsLater,
    ...clockRules.behindDigitsLater,
    ...codeRules.behindDigitsLast,
    [/-/, NONE, recordOfThree],
    [/[-–]/, NONE, result],
    [/[-y]/, /[-y]/, age],
  ]);

function ownOf(order: 'dmy' | 'mdy' | 'ymd'): NonNullable<Language['own']> {
  const atDigit = [...codeRules.atDigit, atNumber(order), ...codeRules.atDigitLater];
  return { atDigit, atLetter: AT_LETTER, atMark: AT_MARK };
}

/** C++17 */
function standardOfCpp({ text, at }: Reading): Found | undefined {
  const [written = '', year = ''] = /^C\+\+(\d\d)(?!\d)/.exec(text.slice(at, at + 6)) ?? [];
  if (written === '') return undefined;
  const spoken = year.startsWith('0') ? `oh ${cardinal(year.slice(1))}` : cardinal(year);
  return { end: at + written.length, spoken: `C plus plus ${spoken}`, rule: 'version' };
}

const atCapital = byFirstLetter([
  [/C/, standardOfCpp],
  [/[A-Z]/, state],
  [/[UIAWEODLPRS]/, shouted],
  [/[IVXLC]/, roman],
  ...addressRules.atCapital,
  [/[UG]/, offset],
  ...codeRules.atCapital,
  [/[A-Z]/, initials],
  [/[A-Z]/, unsayable],
]);
const atSmall = byFirstLetter([
  [/[ivx]/, smallRoman],
  ...codeRules.atSmall,
  [/x/, timesSum],
  [/π/, piOfFormula],
]);

const AT_LETTER: readonly Asked[] = [
  atSmall,
  only(({ isSmallBehind }) => !isSmallBehind, atCapital),
  { knows: ({ isFresh, first }) => isFresh && /[A-Z]/.test(first), recognise: dayRow },
];

const DAY = String.raw`(?:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)\p{Ll}*`;
const MONTH = String.raw`(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\p{Ll}*`;
/** The dash between two such texts is "to". */
const ENDS: readonly (readonly [before: RegExp, behind: RegExp])[] = [
  [
    /(?:\d(?:st|nd|rd|th|s)|Q[1-4]|[Nn]oon|[Mm]idnight) ?$/,
    /^ ?(?:['’]?\d{1,4}(?:s|st|nd|rd|th)(?![\p{L}\p{N}])|Q[1-4](?![\p{L}\p{N}])|\d{1,2}(?::\d\d)? ?[ap]\.?m)/iu,
  ],
  [/(?:\d|[ap]\.?m\.?|noon|[Oo]pen) ?$/, /^ ?(?:noon|midnight|close|closing|late|sunset|dusk)(?!\p{L})/iu],
  [/(?:\d ?[ap]\.?m\.?|noon|midnight) ?$/i, new RegExp(`^ ?(?:${DAY}|${MONTH})[., ]`, 'u')],
  [/(?:^|[^\d.])\d{1,2} ?$/, /^ ?\d{1,2}(?: [1-9]\/[2-9](?!\d)|[½¼¾⅓⅔])/],
  [/(?:[½¼¾⅓⅔]|\d [1-9]\/[2-9]) ?$/, /^ ?\d{1,2}(?![\d:/.])/],
  [/(?:^|\s)(?:Pre-?)?K$/, /^\d{1,2}(?![\p{L}\p{N}])/u],
  [/\d['’]\d{1,2}["”″]? ?$/, /^ ?\d['’]\d/],
];

/** The 1920s–1930s, Q1–Q3, 9am–noon, grades K–5, 5'6"–5'9" */
function through({ text, at }: Reading): Found | undefined {
  const [before, behind] = [text.slice(Math.max(0, at - 9), at), text.slice(at + 1, at + 14)];
  const isEven = (text[at - 1] === ' ') === (text[at + 1] === ' ');
  if (!isEven || !ENDS.some(([left, right]) => left.test(before) && right.test(behind))) return undefined;
  const isParted = text[at + 1] === ' ';
  return { end: isParted ? at + 2 : at + 1, spoken: isParted ? 'to ' : ' to ', rule: 'range' };
}

/** Math B- */
function lessThanGrade({ text, at }: Reading): Found | undefined {
  const isGrade = /(?:\p{L}:? |\()[A-DF]$/u.test(text.slice(Math.max(0, at - 4), at));
  if (!isGrade || !/^-(?:[,;)]|\.(?!\d)|$)/.test(text.slice(at, at + 3))) return undefined;
  return { end: at + 1, spoken: ' minus', rule: 'symbol' };
}

const AVERAGE = /\.(\d{3})(?![\d%]|\.\d)/y;
const BATTING = /\b(?:bat|bats|batting|hit|hits|hitting|slugging|average)\b[^.!?]{0,24}$/i;

/** Batting .300 */
function battingAverage(reading: Reading): Found | undefined {
  const match = reading.match(AVERAGE);
  const lead = reading.text.slice(Math.max(0, reading.at - 32), reading.at);
  if (match === undefined || !lead.endsWith(' ') || !BATTING.test(lead)) return undefined;
  const digits = match[1] ?? '';
  return digits.startsWith('0')
    ? undefined
    : { end: reading.at + match[0].length, spoken: pairs(digits), rule: 'decimal' };
}

/** 4.5★; stars that are a picture are not spoken. */
function star({ text, at }: Reading): Found | undefined {
  return {
    end: at + 1,
    spoken: /\d ?$/.test(text.slice(Math.max(0, at - 2), at)) ? 'stars' : '',
    rule: 'symbol',
  };
}

const PARTY = /\(([DRI])-([A-Z]{2})\)/y;
const PARTIES: Readonly<Record<string, string>> = { D: 'Democrat', R: 'Republican', I: 'Independent' };

/** Senator Casey (D-PA) */
function party(reading: Reading): Found | undefined {
  const match = reading.match(PARTY);
  const state = STATES[match?.[2] ?? ''];
  if (match === undefined || state === undefined) return undefined;
  return {
    end: reading.at + match[0].length,
    spoken: `(${PARTIES[match[1] ?? ''] ?? ''} of ${state})`,
    rule: 'abbreviation',
  };
}

const AT_MARK: readonly Asked[] = [
  byMark([
    [/\./, battingAverage],
    [/[-–]/, through],
    [/-/, lessThanGrade],
    [/[★⭐☆]/, star],
    [/\(/, party],
    [/\//, perWord(WRITING.per, 'every')],
    ...algebraRules.atMark,
    ...amountRules.atMark,
    ...codeRules.atMark,
    [/\//, timeBesideTime],
    [/\//, betweenAmounts],
    [/['’]/, shortYear],
  ]),
];

// prettier-ignore
export const ENGLISH: Language = {
  tag: 'en',
  writing: { ...WRITING, states: STATES },
  speech: SPEECH,
  own: ownOf('mdy'),
  ownOf,
  symbols: {
    ...tablesOf('en').signs,
    versionPoint: 'point',
    version: 'version',
    minus: 'minus',
    plus: 'plus',
    keys: { star: 'star', hash: 'pound', before: /\b(?:press|push|hit|dial|enter|type|key|button|pad|followed by|end with)/i, behind: /^["'”’`)\]]{0,2}[ -]?(?:key|button)\b/i },
    hashtag: 'hashtag',
    pause: ',',
    per: 'per',
  },
};
