// Assembles English, and orders its own recognisers by the character that decides.
// Words are American where the two differ and the text does not decide.
import { isDigitAt } from '../characters.js';
import { currencyPair, isBeforeDigit, letterPair, standard } from '../shared-codes.js';
import type { Language } from '../language.js';
import type { Found, Reading, Recogniser } from '../reading.js';
import { betweenAmounts, byFirstLetter, coordinates, formula, perWord } from '../shared-forms.js';
import { initials, shouted, unsayable } from './abbreviations.js';
import { direction, house, road, state, STATES } from './addresses.js';
import * as algebra from './algebra.js';
import * as amounts from './amounts.js';
import * as clock from './clock.js';
import * as codes from './codes.js';
import { extension, poundKey, shortNumber, textedTo } from './codes.js';
import {
  cardDate,
  era,
  hyphenated,
  ordinalRange,
  shortDate,
  shortDates,
  shortYear,
  yearMonth,
} from './dates.js';
import { cardinal, ofStandard, pairs, year } from './numbers.js';
import * as ratios from './ratios.js';
import { roman, smallRoman } from './roman.js';
import { SPEECH } from './speech.js';
import { PER } from './units.js';
import { WRITING } from './writing.js';

const PARTS = { degree: ['degree', 'degrees'], minute: ['minute', 'minutes'], second: ['second', 'seconds'] };
const position = coordinates(
  (digits, part) => `${cardinal(digits)} ${PARTS[part][digits === '1' ? 0 : 1] ?? ''}`,
  amounts.DIRECTIONS,
);

const edition = standard(ofStandard, year);

const molecule = formula((letters) => SPEECH.letters(letters), cardinal);

const traded = currencyPair({ EUR: 'euro', USD: 'dollar', GBP: 'pound', JPY: 'yen', CHF: 'Swiss franc', CAD: 'Canadian dollar', AUD: 'Aussie dollar', CNY: 'yuan', BTC: 'bitcoin' }); // prettier-ignore

const NONE = /(?!)/;
const DOT = /\./; // the decimal point

/**
 * Recognisers by the characters behind the digits, directly or after a space. The more certain come first.
 */
const BY_SIGN: readonly (readonly [touching: RegExp, parted: RegExp, recognise: Recogniser])[] = [
  [/[:a-f]/, NONE, codes.network], [/[-:]/, NONE, edition], [/\//, NONE, ratios.always], [/\//, NONE, cardDate], [/\//, NONE, ratios.tire], [/\//, NONE, ratios.quotient], [/\//, NONE, ratios.twoRates], [/\//, NONE, ratios.manyForSum], [/\//, NONE, amounts.perPeriod], [/V/, NONE, amounts.voltsAndAmps],
  [/[/.]/, NONE, ratios.pairOf], [/[-/]/, /\d/, amounts.partOfInch], [/\//, NONE, ratios.pressure], [/\//, NONE, ratios.step], [/[/.]/, NONE, ratios.rating],
  [/\//, NONE, shortDates], [/\//, NONE, shortDate], [/-/, NONE, hyphenated], [/,/, NONE, amounts.groupedOrdinal], [/[,.]/, NONE, amounts.commaBehind], [/[s,]/, NONE, clock.hundreds],
  [/[mcikfyp"″'′.]/, /[mcify]/, amounts.sides], [/["'’′f]/, /f/, amounts.feetAndInches], [/["″.–-]/, /[–-]/, amounts.inches], [/s/, /s/, amounts.stones],
  [/[x×.]/, /[x×]/, amounts.sizes], [/[a-zπ.]/, NONE, algebra.coefficient], [/[x.,]/, NONE, amounts.timesAsMuch], [/[-–.]/, NONE, amounts.timesRange], [/[eE.]/, NONE, algebra.scientific],
  [/[°º]/, NONE, position], [/[°º.]/, NONE, amounts.directed], [/[kK]/, NONE, amounts.race], [/p/, NONE, amounts.pence], [/[pi]/, NONE, codes.screen],
  [/[-MDNjapf]/, /[MDNjapf]/, codes.aircraft], [/[-–]/, /[-–]/, codes.places], [/[(kb]/, NONE, codes.subsection], [DOT, NONE, codes.staged],
  [/[A-Z]/, /[\p{Lu}\d]/u, house], [/-/, NONE, yearMonth], [/[snrt]/, NONE, ordinalRange], [/[BAC]/, /[BAC]/, era],
  [/[hZ]/, /h/, clock.military], [/:/, NONE, clock.clockHours], [DOT, NONE, clock.dottedTime], [/[ap:]/, NONE, clock.shortHalves], [/:/, NONE, clock.shortHalf], [/:/, NONE, clock.lap],
  [/:/, NONE, clock.lasting], [/s/, NONE, codes.several], [/s/, NONE, clock.seconds], [/d/, NONE, clock.daysAndHours], [/i/, NONE, clock.about],
  [/[-–]/, NONE, clock.openingHours], [/-/, NONE, codes.docket], [/-/, NONE, codes.zip], [/[-–]/, NONE, ratios.result], [DOT, NONE, codes.wireless],
  [/[-y]/, /[-y]/, amounts.age], [/[LF]/, /F/, amounts.lettered],
]; // prettier-ignore

const bySign = new Map<string, readonly Recogniser[]>();

function askedBehind(sign: string): readonly Recogniser[] {
  let list = bySign.get(sign);
  if (list === undefined) {
    const parted = sign.startsWith(' ');
    const character = sign.slice(-1);
    list = BY_SIGN.filter((row) => row[parted ? 1 : 0].test(character)).map(([, , recognise]) => recognise);
    bySign.set(sign, list);
  }
  return list;
}

/** A stop that ends the sentence is behind no decimals. */
function behindDigits(reading: Reading): Found | undefined {
  if (!reading.isFresh) return undefined;
  const { text, runEnd } = reading;
  const sign = text[runEnd] ?? '';
  if (sign === '' || (sign === '.' && !isDigitAt(text, runEnd + 1))) return undefined;
  for (const recognise of askedBehind(sign === ' ' ? text.slice(runEnd, runEnd + 2) : sign)) {
    const found = recognise(reading);
    if (found !== undefined) return found;
  }
  return undefined;
}

const AT_DIGIT: readonly Recogniser[] = [
  codes.httpStatus, codes.place, textedTo, codes.hexadecimal, behindDigits, codes.numbered, shortNumber,
]; // prettier-ignore

/** C++17 */
function standardOfCpp({ text, at }: Reading): Found | undefined {
  const [written = '', year = ''] = /^C\+\+(\d\d)(?!\d)/.exec(text.slice(at, at + 6)) ?? [];
  if (written === '') return undefined;
  const spoken = year.startsWith('0') ? `oh ${cardinal(year.slice(1))}` : cardinal(year);
  return { end: at + written.length, spoken: `C plus plus ${spoken}`, rule: 'version' };
}

const atCapital = byFirstLetter([
  [/C/, standardOfCpp], [/[A-Z]/, state], [/[UIAWEODLPRS]/, shouted], [/[IVXLC]/, roman], [/[NSEW]/, direction], [/[IUSC]/, road], [/[UG]/, clock.offset],
  [/I/, codes.network], [/[A-Z]/, codes.models], [/[A-Z]/, codes.letteredModel], [/[A-Z]/, initials], [/[A-Z]/, traded], [/[A-Z]/, letterPair(SPEECH)], [/[A-Z]/, unsayable], [/[A-Z]/, molecule],
]); // prettier-ignore
const atSmall = byFirstLetter([
  [/[ivx]/, smallRoman], [/x/, extension], [/x/, amounts.timesSum], [/π/, algebra.piOfFormula], [/[a-f]/, codes.network],
]); // prettier-ignore

const atBook = byFirstLetter([[/[GELNDJSKCPIRMTH]/, codes.verse]]);

/** A word that has its second letter small is none of them, unless it is a molecule. */
const AT_LETTER: readonly Recogniser[] = [
  (reading) => {
    const { text, at } = reading;
    const [first, second] = [text.charCodeAt(at), text.charCodeAt(at + 1)];
    if (first < 0x41 || first > 0x5a) return atSmall(reading);
    if (!(second >= 0x61 && second <= 0x7a)) return atCapital(reading); // also at the end of the text
    if (/[₀-₉]/.test(text[reading.runEnd] ?? '')) return molecule(reading);
    return reading.runEnd - at < 6 && isBeforeDigit(reading) ? atBook(reading) : undefined;
  },
];

const JOINED = /(?:\d(?:st|nd|rd|th|s)|Q[1-4]|[Nn]oon|[Mm]idnight) ?$/;
const JOINS =
  /^[-–] ?(?:['’]?\d{1,4}(?:s|st|nd|rd|th)(?![\p{L}\p{N}])|Q[1-4](?![\p{L}\p{N}])|\d{1,2}(?::\d\d)? ?[ap]\.?m)/iu;

/** The 1920s–1930s, Q1–Q3 */
function through({ text, at }: Reading): Found | undefined {
  const joins = JOINS.test(text.slice(at, at + 10)) && JOINED.test(text.slice(Math.max(0, at - 9), at));
  return joins
    ? {
        end: text[at + 1] === ' ' ? at + 2 : at + 1,
        spoken: text[at - 1] === ' ' ? 'to ' : ' to ',
        rule: 'range',
      }
    : undefined;
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

/** Ctrl+C */
function keyCombination({ text, at }: Reading): Found | undefined {
  const key = /\b(?:Ctrl|Control|Alt|Shift|Cmd|Command|Option|Win|Fn|Esc|Meta|Super)$/.test(
    text.slice(Math.max(0, at - 8), at),
  );
  return key && /^\+[\p{L}\d]/u.test(text.slice(at, at + 2))
    ? { end: at + 1, spoken: 'plus', rule: 'symbol' }
    : undefined;
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

const BY_MARK: Readonly<Record<string, readonly Recogniser[]>> = {
  '#': [poundKey, codes.numberSign],
  "'": [shortYear], '’': [shortYear], '.': [battingAverage],
  '<': [algebra.relation], '>': [algebra.relation], '≤': [algebra.relation], '≥': [algebra.relation],
  '-': [through, algebra.minusOfFormula], '–': [through, amounts.dashedMinus], '!': [algebra.factorial],
  '^': [algebra.power], '⁻': [algebra.power], '+': [keyCombination], '★': [star], '⭐': [star], '☆': [star], '(': [party], '/': [perWord(PER), amounts.onlyRupees, clock.timeBesideTime, betweenAmounts],
  $: [amounts.commaBefore, amounts.hyphenatedMoney], '€': [amounts.commaBefore, amounts.hyphenatedMoney], '£': [amounts.commaBefore, amounts.hyphenatedMoney],
}; // prettier-ignore

const AT_MARK: readonly Recogniser[] = [
  (reading) => {
    for (const recognise of BY_MARK[reading.text[reading.at] ?? ''] ?? []) {
      const found = recognise(reading);
      if (found !== undefined) return found;
    }
    return undefined;
  },
];

export const ENGLISH: Language = {
  tag: 'en',
  writing: WRITING,
  speech: SPEECH,
  own: { atDigit: AT_DIGIT, atLetter: AT_LETTER, atMark: AT_MARK },
  symbols: {
    inAddress: {
      '@': 'at', '.': 'dot', '/': 'slash', '\\': 'backslash', '-': 'dash', _: 'underscore', ':': 'colon', '#': 'hash',
      '?': 'question mark', '=': 'equals', '&': 'and', '+': 'plus', '~': 'tilde', '%': 'percent', '*': 'star', '!': 'exclamation mark',
    },
    inMath: {
      '+': 'plus', '-': 'minus', '−': 'minus', '×': 'times', '*': 'times', '÷': 'divided by', '/': 'divided by', '=': 'equals', '==': 'equals',
      '<': 'is less than', '>': 'is greater than', '<=': 'is less than or equal to', '>=': 'is greater than or equal to',
      '≤': 'is less than or equal to', '≥': 'is greater than or equal to', '≠': 'is not equal to', '!=': 'is not equal to',
      '≈': 'is approximately', '~': 'about', '±': 'plus or minus', '√': 'the square root of', '→': 'to', '∞': 'infinity', π: 'pi',
    },
    inFront: { '<': 'less than', '>': 'more than', '<=': 'at most', '>=': 'at least', '≤': 'at most', '≥': 'at least', '≈': 'approximately' },
    inText: {
      '&': 'and', '§': 'section', '©': 'copyright', '®': '', '™': '', '°': 'degrees', '%': 'percent', '→': 'to', '←': '', '↑': 'up', '↓': 'down', '■': '', '●': '', '◆': '', '►': '', '✗': '', '‡': '', '•': '', '†': '', '✓': '', '=': 'equals', '@': 'at', '<': '', '>': '',
    },
    versionPoint: 'point',
    version: 'version',
    minus: 'minus',
    plus: 'plus',
    keys: { star: 'star', hash: 'pound', before: /\b(?:press|push|hit|dial|enter|type|key|button|pad|followed by|end with)/i, behind: /^["'”’`)\]]{0,2}[ -]?(?:key|button)\b/i },
    hashtag: 'hashtag',
    addressWords: {
      com: 'com', org: 'org', net: 'net', edu: 'E D U', gov: 'gov', io: 'I O', ai: 'A I', co: 'co', uk: 'U K', us: 'U S', eu: 'E U', de: 'D E', fr: 'F R',
      ca: 'C A', au: 'A U', tv: 'T V', me: 'me', www: 'W W W', pdf: 'P D F', js: 'J S', ts: 'T S', html: 'H T M L', csv: 'C S V', json: 'jason',
      jpg: 'J P G', jpeg: 'J peg', png: 'P N G', mp: 'M P', xml: 'X M L', yaml: 'yaml', md: 'M D', txt: 'T X T', exe: 'E X E', zip: 'zip', docx: 'doc X',
      xlsx: 'X L S X', pptx: 'P P T X', py: 'P Y', api: 'A P I', faq: 'F A Q',
    },
  },
}; // prettier-ignore
