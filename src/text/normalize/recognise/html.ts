// Reads tags of HTML in plain text. A tag is silent; a tag of a block leaves a space, so that words stay
// apart, and a cell of a table leaves a comma. A tag that the text speaks about is read by its name.
import { isMentioned, tagAtStart } from '../../html-tags.js';
import { isWordAt } from '../characters.js';
import type { Language } from '../language.js';
import { numeralOf } from '../numerals.js';
import { type Found, NOWHERE, type Reading } from '../reading.js';

const LONGEST = 220; // units of a tag
const LOOK_BACK = 60; // units before a tag that decide whether the text speaks about it
const RAISED = /<sup>(\d{1,3})<\/sup>/iy;
const LOWERED = /<sub>(\d{1,3})<\/sub>/iy;
/** The end of a cell and the beginning of the next one; old documents leave the first out. */
const CELLS = /(?:<\/t[dh]>\s{0,20})?<t[dh](?:\s[^<>\n]{0,200})?>/iy;
/** <noise/>, <br/>: an element without content, of any name. */
const EMPTY_ELEMENT = /<([a-z][\w:.-]{0,30})(?:\s[^<>\n]{0,200})?\/>/iy;

export function htmlTag(reading: Reading, language: Language): Found | undefined {
  const { text, at } = reading;
  const tag = tagAtStart(text.slice(at, at + LONGEST));
  const empty = tag === undefined ? reading.match(EMPTY_ELEMENT) : undefined;
  const length = tag?.length ?? empty?.[0].length;
  if (length === undefined) return undefined;
  const end = at + length;
  if (isMentioned(text.slice(Math.max(0, at - LOOK_BACK), at), text.slice(end, end + LOOK_BACK))) {
    return { end, spoken: nameOf(tag?.name ?? empty?.[1] ?? '', language), rule: 'markdown' };
  }
  const exponent = raised(reading, language) ?? lowered(reading, language) ?? cells(reading);
  if (exponent !== undefined) return exponent;
  const isTight = tag?.kind === 'inline' || language.unspaced === true;
  return { end, spoken: isTight ? '' : ' ', rule: 'markdown' };
}

/** "h1" is a letter and a number. */
function nameOf(name: string, { speech }: Language): string {
  const digits = /\d{1,3}$/.exec(name)?.[0] ?? '';
  if (digits === '') return name;
  return `${name.slice(0, -digits.length)} ${speech.number(numeralOf(digits), NOWHERE)}`;
}

/** x<sup>2</sup> */
function raised(reading: Reading, { speech }: Language): Found | undefined {
  const match = isWordAt(reading.text, reading.at - 1) ? reading.match(RAISED) : undefined;
  const spoken = match && speech.power(match[1] ?? '');
  if (match === undefined || spoken === undefined) return undefined;
  return { end: reading.at + match[0].length, spoken, rule: 'math' };
}

/** H<sub>2</sub>O */
function lowered(reading: Reading, { speech }: Language): Found | undefined {
  const match = isWordAt(reading.text, reading.at - 1) ? reading.match(LOWERED) : undefined;
  if (match === undefined) return undefined;
  const spoken = speech.number(numeralOf(match[1] ?? ''), NOWHERE);
  return { end: reading.at + match[0].length, spoken, rule: 'math' };
}

function cells(reading: Reading): Found | undefined {
  const match = reading.match(CELLS);
  if (match === undefined) return undefined;
  const before = reading.text.slice(Math.max(0, reading.at - LOOK_BACK), reading.at).trimEnd();
  const isFirst = before === '' || before.endsWith('>') || /[,;:.]$/.test(before);
  return { end: reading.at + match[0].length, spoken: isFirst ? ' ' : ', ', rule: 'markdown' };
}
