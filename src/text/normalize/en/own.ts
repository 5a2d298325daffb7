// Tokens that only English reads in its own way, by the character that decides which of them are asked.
import type { Found, Reading, Recogniser } from '../reading.js';
import { behindDigits, byFirstLetter, coordinates, formula } from '../shared-forms.js';
import { direction, house, road, state } from './addresses.js';
import { initials, shouted, unsayable } from './acronyms.js';
import * as algebra from './algebra.js';
import * as amounts from './amounts.js';
import { extension, poundKey, shortNumber, textedTo } from './announcements.js';
import * as clock from './clock.js';
import * as codes from './codes.js';
import { cardDate, era, ordinalRange, shortDate, shortYear, yearMonth } from './dates.js';
import { cardinal, pairs } from './numbers.js';
import * as ratios from './ratios.js';
import { roman, smallRoman } from './roman.js';
import { SPEECH } from './speech.js';

const PARTS = { degree: ['degree', 'degrees'], minute: ['minute', 'minutes'], second: ['second', 'seconds'] };
const position = coordinates(
  (digits, part) => `${cardinal(digits)} ${PARTS[part][digits === '1' ? 0 : 1] ?? ''}`,
  amounts.DIRECTIONS,
);

/** By what stands behind the digits, or behind them and a space; first come those that are surer. */
const bySign = behindDigits([
  [/[:a-f]/, codes.network],
  [/[/.]/, ratios.always], [/\//, cardDate], [/\//, ratios.tire], [/\//, ratios.quotient], [/[/.]/, ratios.pairOf], [/[-/\d]/, amounts.partOfInch],
  [/\//, ratios.pressure], [/[/.]/, ratios.step], [/[/.]/, ratios.rating], [/\//, shortDate],
  [/,/, amounts.groupedOrdinal], [/[,.]/, amounts.commaBehind], [/[s,]/, clock.hundreds],
  [/[mcikfyp"″'′.]/, amounts.sides], [/["'’′f]/, amounts.feetAndInches], [/["″.–-]/, amounts.inches], [/s/, amounts.stones],
  [/[x×.]/, amounts.sizes], [/[a-zπ.]/, algebra.coefficient], [/[x.]/, amounts.timesAsMuch], [/[eE.]/, algebra.scientific],
  [/[°º]/, position], [/[°º.]/, amounts.directed], [/[kK]/, amounts.race], [/p/, amounts.pence], [/[pi]/, codes.screen],
  [/[-MDNjapf]/, codes.aircraft], [/[-–]/, codes.places], [/[(kb]/, codes.subsection], [/\./, codes.staged],
  [/[\p{Lu}\d]/u, house], [/[-–]/, yearMonth], [/[snrt]/, ordinalRange], [/[BAC]/, era],
  [/[hZ]/, clock.military], [/:/, clock.clockHours], [/\./, clock.dottedTime], [/[ap:]/, clock.shortHalves], [/:/, clock.lap], [/:/, clock.lasting],
  [/s/, codes.several], [/s/, clock.seconds], [/d/, clock.daysAndHours], [/i/, clock.about], [/[-–]/, clock.openingHours], [/-/, codes.docket], [/[-–]/, ratios.result], [/\./, codes.wireless], [/[-y ]/, amounts.age], [/[LF]/, amounts.lettered],
]); // prettier-ignore

export const AT_DIGIT: readonly Recogniser[] = [
  codes.httpStatus, codes.place, textedTo, codes.hexadecimal, bySign, codes.numbered, shortNumber,
]; // prettier-ignore

export const AT_LETTER: readonly Recogniser[] = [
  byFirstLetter([
    [/[A-Z]/, state], [/[UIAWEODLPRS]/, shouted], [/[IVXLC]/, roman], [/[ivx]/, smallRoman], [/[NSEW]/, direction], [/[IUSC]/, road], [/[UG]/, clock.offset],
    [/x/, extension], [/x/, amounts.timesSum], [/[A-Z]/, codes.models], [/[A-Z]/, codes.letteredModel], [/[A-Z]/, initials], [/[A-Z]/, unsayable], [/π/, algebra.piOfFormula], [/[Ia-f]/, codes.network], [/[A-Z]/, formula(SPEECH.letters, cardinal)],
  ]),
]; // prettier-ignore

const JOINED = /(?:\d(?:st|nd|rd|th|s)|Q[1-4]) ?$/;
const JOINS = /^[-–] ?(?:['’]?\d{1,4}(?:s|st|nd|rd|th)(?![\p{L}\p{N}])|Q[1-4](?![\p{L}\p{N}]))/u;

/** The 1920s–1930s, Q1–Q3 */
function through({ text, at }: Reading): Found | undefined {
  const joins =
    JOINS.test(text.slice(at, at + 10)) && JOINED.test(text.slice(Math.max(0, at - 4), at));
  return joins ? { end: text[at + 1] === ' ' ? at + 2 : at + 1, spoken: text[at - 1] === ' ' ? 'to ' : ' to ', rule: 'range' } : undefined;
} // prettier-ignore

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
  const key = /\b(?:Ctrl|Control|Alt|Shift|Cmd|Command|Option|Win|Fn|Esc|Meta|Super)$/.test(text.slice(Math.max(0, at - 8), at));
  return key && /^\+[\p{L}\d]/u.test(text.slice(at, at + 2)) ? { end: at + 1, spoken: 'plus', rule: 'symbol' } : undefined;
} // prettier-ignore

/** 4.5★; stars that are a picture are not spoken. */
function star({ text, at }: Reading): Found | undefined {
  return { end: at + 1, spoken: /\d ?$/.test(text.slice(Math.max(0, at - 2), at)) ? 'stars' : '', rule: 'symbol' };
} // prettier-ignore

const BY_MARK: Readonly<Record<string, readonly Recogniser[]>> = {
  '#': [poundKey, codes.numberSign],
  "'": [shortYear], '’': [shortYear], '.': [battingAverage],
  '<': [algebra.relation], '>': [algebra.relation], '≤': [algebra.relation], '≥': [algebra.relation],
  '-': [through, algebra.minusOfFormula], '–': [through, amounts.dashedMinus], '!': [algebra.factorial],
  '^': [algebra.power], '⁻': [algebra.power], '+': [keyCombination], '★': [star], '⭐': [star], '☆': [star], '/': [amounts.onlyRupees, clock.timeBesideTime],
  $: [amounts.commaBefore, amounts.hyphenatedMoney], '€': [amounts.commaBefore, amounts.hyphenatedMoney], '£': [amounts.commaBefore, amounts.hyphenatedMoney],
}; // prettier-ignore

export const AT_MARK: readonly Recogniser[] = [
  (reading) => {
    for (const recognise of BY_MARK[reading.text[reading.at] ?? ''] ?? []) {
      const found = recognise(reading);
      if (found !== undefined) return found;
    }
    return undefined;
  },
];
