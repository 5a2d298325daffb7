// Markdown in running text: its marks are not spoken, the words between them are.
import { classAt, isWordAt, SPACE } from '../characters.js';
import type { Language } from '../language.js';
import { numeralOf } from '../numerals.js';
import { NOWHERE, type Found, type Reading, type Recogniser } from '../reading.js';

const EMPHASIS = /\*{1,3}|_{1,3}|~~/y;
const TICKS = /`{1,3}/y;
const FENCE = /(?:`{3,}|~{3,})[^\S\n]*[\w+-]{0,30}(?=\s|$)/y;
const HEADING = /#{1,6}[ \t]+/y;
const BULLET = /[-*+•‣◦·▪–—][ \t]+(?:\[[ xX]\][ \t]+)?/y;
const QUOTE = /(?:>[ \t]?){1,8}/y;
const LINK = /!?\[(?=[^\]\n[]{1,200}\]\([^)\s]{1,500}(?: "[^"\n]{0,100}")?\))/y;
const LINK_END = /\]\([^)\s]{1,500}(?: "[^"\n]{0,100}")?\)/y;
const REFERENCE = /\[\^?\d{1,3}\](?!\()/y;
const TAG =
  /<\/?(?:b|i|u|s|em|strong|br|p|ul|ol|li|code|pre|a|span|div|h[1-6]|sub|sup)(?: [^<>\n]{0,200})?\/?>/iy;
const CELL = / ?\|[ |]*/y;

const NUMBERED = /(\d{1,3})[.)](?=\s)/y;
const TABLE_RULE = /\|?[ :|-]*-{2}[ :|-]*(?=\n|$)/y;

/** The number of a list item: a word and a stop. */
export function atDigit(language: Language): Recogniser {
  return (reading) => {
    if (!startsLine(reading.text, reading.at)) return undefined;
    const match = reading.match(NUMBERED);
    if (match === undefined) return undefined;
    const end = reading.at + match[0].length;
    return {
      end,
      spoken: `${language.speech.number(numeralOf(match[1] ?? ''), NOWHERE)}.`,
      rule: 'markdown',
    };
  };
}

/** Dropped marks; in a table a comma parts the cells. */
export const atMark: Recogniser = (reading) => {
  const mark = reading.text[reading.at] ?? '';
  switch (mark) {
    case '*':
    case '_':
    case '~':
      return lineMark(reading, BULLET) ?? fence(reading) ?? emphasis(reading);
    case '`':
      return fence(reading) ?? dropped(reading, TICKS);
    case '[':
    case '!':
      return dropped(reading, LINK) ?? (mark === '[' ? reference(reading) : undefined);
    case ']':
      return dropped(reading, LINK_END);
    case '#':
      return lineMark(reading, HEADING);
    case '>':
      return lineMark(reading, QUOTE);
    case '<':
      return dropped(reading, TAG);
    case '|':
      return cell(reading);
    default:
      return /[-+•‣◦·▪–—]/u.test(mark) ? lineMark(reading, BULLET) : undefined;
  }
};

function dropped(reading: Reading, pattern: RegExp): Found | undefined {
  const match = reading.match(pattern);
  return match && { end: reading.at + match[0].length, spoken: '', rule: 'markdown' };
}

function lineMark(reading: Reading, pattern: RegExp): Found | undefined {
  return startsLine(reading.text, reading.at) ? dropped(reading, pattern) : undefined;
}

function fence(reading: Reading): Found | undefined {
  return startsLine(reading.text, reading.at) ? dropped(reading, FENCE) : undefined;
}

/** A footnote number behind a word. */
function reference(reading: Reading): Found | undefined {
  const before = reading.text[reading.at - 1] ?? ' ';
  return /[\p{L}.,!?"'”’»)]/u.test(before) ? dropped(reading, REFERENCE) : undefined;
}

/** The mark touches a word on one side only; 2*3 and snake_case are no emphasis. */
function emphasis(reading: Reading): Found | undefined {
  const match = reading.match(EMPHASIS);
  if (match === undefined) return undefined;
  const { text, at } = reading;
  const end = at + match[0].length;
  const [left, right] = [classAt(text, at - 1) === SPACE, classAt(text, end) === SPACE];
  if (left && right) return undefined;
  const inside = isWordAt(text, at - 1) && isWordAt(text, end);
  if (inside && match[0].length < 2) return undefined;
  return { end, spoken: '', rule: 'markdown' };
}

function cell(reading: Reading): Found | undefined {
  if (startsLine(reading.text, reading.at)) {
    const rule = dropped(reading, TABLE_RULE);
    if (rule !== undefined) return rule;
  }
  const match = reading.match(CELL);
  if (match === undefined) return undefined;
  const { text, at } = reading;
  const end = at + match[0].length;
  const edge = startsLine(text, at) || /^\s*(?:\n|$)/.test(text.slice(end, end + 8));
  const words = /[\p{L}\p{N}.%)]/u.test(
    text
      .slice(Math.max(0, at - 2), at)
      .trimEnd()
      .slice(-1),
  );
  return { end, spoken: edge || !words ? '' : ', ', rule: 'markdown' };
}

/** Nothing but space and other marks of a line's beginning stands before. */
export function startsLine(text: string, at: number): boolean {
  let from = at;
  while (from > 0 && at - from < 16 && /[ \t>]/.test(text[from - 1] ?? '')) from--;
  return from === 0 || text[from - 1] === '\n';
}
