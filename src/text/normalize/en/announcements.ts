// Tokens of telephones: numbers of emergency, numbers to text to, extensions.
import type { Found, Reading, Recogniser } from '../reading.js';
import { cardinal, spellDigits } from './numbers.js';

const LONGEST_LEAD = 48; // units before a number that may say what it is

const TEXTED = /\d{5,6}(?![\p{L}\p{N}]|[.,:/-]\d)/uy;
const TEXT_TO = /\b(?:text|send|reply|texting|sms)\b[^.!?]{0,32} (?:to |(?:or )?text )$/i;
const TEXT_ITSELF = /\b(?:text|texting) $/i;

/** Text HELP to 40404. */
export function textedTo(reading: Reading): Found | undefined {
  const length = reading.runEnd - reading.at;
  const digits = (length === 5 || length === 6) && reading.isFresh ? reading.match(TEXTED)?.[0] : undefined;
  if (digits === undefined) return undefined;
  const before = reading.text.slice(Math.max(0, reading.at - LONGEST_LEAD), reading.at);
  if (!TEXT_TO.test(before) && !TEXT_ITSELF.test(before)) return undefined;
  return { end: reading.at + digits.length, spoken: spellDigits(digits), rule: 'digits' };
}

const SHORT_NUMBER = /(?:[2-9]11|988|999|11[0-2]|119|101|10[0-28]|000)(?![\p{L}\p{N}]|[-.,:/]\d)/uy;
const CALLING =
  /\b(?:call(?:s|ed|ing)?|dial(?:s|ed|ing)?|phone[ds]?|ring|rang|text(?:ed|ing)?)\b[^.!?]{0,40}$/i;
const LINE_BEFORE =
  /\b(?:helpline|hotline|lifeline|emergency(?: services| number)?)(?: (?:on|at|is|number is|number)|:) $/i;
const CALL_BEHIND =
  /^ (?:calls?|callers?|operators?|dispatch(?:er|ers)?|cent(?:er|re)|emergency|services?|lifeline|hotline)\b/;
const COUNTED = /^ (?:(?:\p{Ll}+ )?(?:people|\p{Ll}{3,}s)\b|(?:or|and|to) more)/u;
const FEW = /[1-9]\d{1,3}(?![\p{L}\p{N}]|[-.,:/]\d)/uy;
const CALL_WORD = /^(?:call|text|ring|mobile|cell|dial|phone|fax)$/;

/** Call 911, 411, or 311; we call 250 customers, who are counted. */
export function shortNumber(reading: Reading): Found | undefined {
  const length = reading.runEnd - reading.at;
  if (length < 2 || length > 4 || !reading.isFresh) return undefined;
  const { text, at, runEnd } = reading;
  const digits = length === 3 ? reading.match(SHORT_NUMBER)?.[0] : undefined;
  const asked = CALL_WORD.test(reading.around(at).previousWord);
  if (digits === undefined && !asked) return undefined;
  const behind = text.slice(runEnd, runEnd + LONGEST_LEAD);
  const lead = text.slice(Math.max(0, at - LONGEST_LEAD), at);
  const counted = COUNTED.test(behind) && !CALL_BEHIND.test(behind);
  const called = CALLING.test(lead) || LINE_BEFORE.test(lead);
  if (digits !== undefined && !counted && (called || (digits.startsWith('9') && CALL_BEHIND.test(behind)))) {
    return { end: at + digits.length, spoken: spellDigits(digits), rule: 'telephone' };
  }
  const few = counted && asked ? reading.match(FEW)?.[0] : undefined;
  return few === undefined ? undefined : { end: at + few.length, spoken: cardinal(few), rule: 'cardinal' };
} // prettier-ignore

const POUND = /#\d{1,3}(?![\p{L}\p{N}#*])/uy;
const PRESSING = /\b(?:press|hit|push|dial|pressing)\b[^.!?]{0,24}$/i;

/** Press *1 or #2 */
export function poundKey(reading: Reading): Found | undefined {
  const written = reading.match(POUND)?.[0];
  const lead = reading.text.slice(Math.max(0, reading.at - LONGEST_LEAD), reading.at);
  if (written === undefined || !PRESSING.test(lead)) return undefined;
  return { end: reading.at + written.length, spoken: `pound ${spellDigits(written.slice(1))}`, rule: 'code' };
}

const EXTENSION = /x\.? ?(\d{2,6})(?![\p{L}\p{N}])/uy;

/** 800.555.0123 x45 */
export const extension: Recogniser = (reading) => {
  const match = reading.match(EXTENSION);
  if (match === undefined) return undefined;
  const lead = reading.text.slice(Math.max(0, reading.at - LONGEST_LEAD), reading.at);
  if (!/\d{4},? $/.test(lead) && !/\bext(?:ension|\.)?\b/i.test(lead)) return undefined;
  const spoken = `extension ${spellDigits(match[1] ?? '')}`;
  return { end: reading.at + match[0].length, spoken, rule: 'telephone' };
};
