// Reads Markdown in running text. Its marks are silent, and its words are read.
import { CharacterSet } from '../../character-set.js';
import { classAt, isDigitAt, isWordAt, SPACE } from '../characters.js';
import { beginning, behind, type Row } from '../dispatch.js';
import type { Language } from '../language.js';
import { numeralOf } from '../numerals.js';
import { type Found, NOWHERE, type Reading } from '../reading.js';
import {
  highlight,
  lineEnd,
  programPower,
  programTimes,
  shortcode,
  subscript,
  superscript,
} from './extended-markdown.js';
import { htmlTag } from './html.js';

const EMPHASIS = /\*{1,3}|_{1,3}|~~/y;
const TICKS = /`{1,3}/y;
const FENCE = /(?:`{3,}|~{3,})[^\S\n]*[\w+-]{0,30}(?=\s|$)/y;
const HEADING = /#{1,6}[ \t]+/y;
const BULLET = /[-*+•‣◦·▪⁃–—][ \t]+(?:\[[ xX]\][ \t]+)?/y;
const QUOTE = /(?:>[ \t]?){1,8}/y;
const LINK = /!?\[(?=[^\]\n[]{1,200}\]\([^)\s]{1,500}(?: "[^"\n]{0,100}")?\))/y;
const LINK_END = /\]\([^)\s]{1,500}(?: "[^"\n]{0,100}")?\)/y;
const REFERENCE = /(?:\[\^?[1-9]\d{0,2}(?:[-–,] ?\d{1,3})*\])+(?!\()/y;
const FOOTNOTE = /\[\^[\w-]{1,20}\](?!\()/y;
/** Borders of a table: of Markdown, or drawn with box characters. */
const CELL = / ?[|│┃║][ |│┃║]*/y;
const BOX = /[\u2500-\u259F]{1,300}/y;

const ESCAPE = /\\(?:[()[\]]|(?=[!-/:-@[-`{-~]))/y;
const AUTOLINK = /<(?=(?:https?:\/\/|mailto:|www\.|[\w.+-]{1,64}@)[^\s<>]{1,300}>)/y;
const SOURCE = /【\d{1,4}(?::\d{1,4})?†[^】\n]{0,40}】/y; // 【4:0†source】, but 【重要】 is read

const RULE = /(?:-{3,}|\*{3,}|_{3,}|={3,}|(?:[-*_] ){2,}[-*_])[ \t]*(?=\n|$)/y;
const NUMBERED = /(\d{1,3})(?:[.)]|\.\))(?=\s)/y;
/** You can: 1) pay now, 2) pay later. */
const LISTED = /(\d{1,2})\)\s(?=[\p{L}\p{N}"“„«「『*_])/uy;
const BEFORE_LISTED = new CharacterSet(/[\s，、；：]/);
const LOOK_BACK = 100; // units in which an open bracket is looked for
const LINE_MARK = new CharacterSet('-+•‣◦·▪⁃–—=');
const INDENT = new CharacterSet(' \t>');
const TABLE_RULE = /\|?[ :|-]*-{2}[ :|-]*(?=\n|$)/y;

/** The number of a list item: a word and a stop. */
export function atDigit(language: Language): Row {
  return behind(/^(?:[.)]\s|\.\))/, (reading) => {
    const isFirst = startsLine(reading.text, reading.at);
    const match = isFirst ? reading.match(NUMBERED) : listed(reading);
    if (match === undefined) return undefined;
    const end = reading.at + match[0].length;
    return {
      end,
      spoken: `${language.speech.number(numeralOf(match[1] ?? ''), NOWHERE)}${isFirst ? '.' : ', '}`,
      rule: 'markdown',
    };
  });
}

/** The number of an item within a sentence; its bracket closes none that is open. */
function listed(reading: Reading): RegExpExecArray | undefined {
  const { text, at } = reading;
  if (!BEFORE_LISTED.at(text, at - 1)) return undefined;
  const near = text.slice(Math.max(0, at - LOOK_BACK), at);
  const match = near.lastIndexOf('(') > near.lastIndexOf(')') ? undefined : reading.match(LISTED);
  if (match === undefined || !isDigitAt(text, at + match[0].length)) return match;
  return near.includes(`${Number(match[1]) - 1}) `) ? match : undefined; // 2) a passport, 3) 2 photos
}

/** Dropped marks; in a table a comma parts the cells. */
export function atMark(language: Language): Row {
  return beginning(/[*_~:^=`[!\]#><\\$【|│┃║\u2500-\u259F]|[-+•‣◦·▪⁃–—]/, (reading) =>
    mark(reading, language),
  );
}

function mark(reading: Reading, language: Language): Found | undefined {
  const sign = reading.text[reading.at] ?? '';
  switch (sign) {
    case '*':
    case '_':
    case '~':
      return (
        lineMark(reading, RULE) ??
        lineMark(reading, BULLET) ??
        fence(reading) ??
        extended(reading, language) ??
        emphasis(reading)
      );
    case ':':
      return shortcode(reading);
    case '^':
      return superscript(reading, language);
    case '=':
      return lineMark(reading, RULE) ?? highlight(reading);
    case '`':
      return fence(reading) ?? dropped(reading, TICKS);
    case '[':
    case '!':
      return (
        dropped(reading, LINK) ??
        (sign === '[' ? (dropped(reading, FOOTNOTE) ?? reference(reading)) : undefined)
      );
    case ']':
      return dropped(reading, LINK_END);
    case '#':
      return lineMark(reading, HEADING);
    case '>':
      return lineMark(reading, QUOTE);
    case '<':
      return htmlTag(reading, language) ?? dropped(reading, AUTOLINK);
    case '\\':
      return dropped(reading, ESCAPE) ?? lineEnd(reading);
    case '【':
      return dropped(reading, SOURCE);
    case '|':
    case '│':
    case '┃':
    case '║':
      return cell(reading);
    default:
      if (sign >= '\u2500' && sign <= '\u259F') return dropped(reading, BOX);
      return LINE_MARK.at(reading.text, reading.at)
        ? (lineMark(reading, RULE) ?? lineMark(reading, BULLET))
        : undefined;
  }
}

function extended(reading: Reading, language: Language): Found | undefined {
  switch (reading.text[reading.at]) {
    case '*':
      return programPower(reading, language) ?? programTimes(reading, language);
    case '~':
      return subscript(reading, language);
    default:
      return undefined;
  }
}

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

/** "… has been so since then [1].", but "press [1]": words enough, and the last one counts nothing. */
const CITED =
  /(?:[^\s.!?]+\s+){5}(?!(?:press|dial|hit|push|page|item|step|option|line|row|table|figure|number|seite|taste|page|página|pagina|opci)\p{L}*\s)\p{Ll}{2,}[”"’)]? $/u;
const LONGEST_CLAIM = 80; // units

/** A footnote number behind a word. */
function reference(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const found = dropped(reading, REFERENCE);
  if (found === undefined) return undefined;
  if (/[\p{L}.,!?"'”’»)]/u.test(text[at - 1] ?? ' ')) return found;
  const isCited =
    CITED.test(text.slice(Math.max(0, at - LONGEST_CLAIM), at)) &&
    /^(?:[.,;:]|$)/.test(text.slice(found.end, found.end + 1));
  const mark = text[found.end] ?? '';
  return isCited ? { ...found, end: found.end + mark.length, spoken: mark } : undefined;
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
  if (inside && match[0].length < 2 && !isWithinWord(text, at)) return undefined;
  return { end, spoken: '', rule: 'markdown' };
}

/** un*frigging*believable, *Italic*s; but 2*3*4 and a*b*c. */
function isWithinWord(text: string, at: number): boolean {
  if (text[at] !== '*') return false;
  if (/^\*\p{L}{2,}[^*\n]{0,60}\*(?!\*)/u.test(text.slice(at, at + 64))) return true;
  const before = /(?:^|[^*])\*\p{L}[^*\n]{1,60}$/u.exec(text.slice(Math.max(0, at - 64), at));
  return before !== null && /\p{L}{2}$/u.test(before[0]);
}

const CELL_END = 8; // units

function cell(reading: Reading): Found | undefined {
  if (startsLine(reading.text, reading.at)) {
    const rule = dropped(reading, TABLE_RULE);
    if (rule !== undefined) return rule;
  }
  const match = reading.match(CELL);
  if (match === undefined) return undefined;
  const { text, at } = reading;
  const end = at + match[0].length;
  const edge = startsLine(text, at) || /^[\s\u2500-\u259F]*(?:\n|$)/.test(text.slice(end, end + 8));
  // Unlimited* |: the mark of a note, or of emphasis, ends the cell.
  const before = text.slice(Math.max(0, at - CELL_END), at).replace(/[\s*_~`†‡]+$/u, '');
  const words = /[\p{L}\p{N}.%)€$£¥"”’!?]$/u.test(before);
  return { end, spoken: edge || !words ? '' : ', ', rule: 'markdown' };
}

/** Nothing but space and other marks of a line's beginning stands before. */
export function startsLine(text: string, at: number): boolean {
  let from = at;
  while (from > 0 && at - from < 16 && INDENT.at(text, from - 1)) from--;
  return from === 0 || text[from - 1] === '\n';
}
