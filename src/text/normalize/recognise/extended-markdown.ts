// Reads the extended syntax of Markdown: ==mark==, H~2~O, x^2^, :smile:, a backslash at the end of a line;
// and the operators of programs that look like emphasis: 2**3, 2*(3+4).
import { CharacterSet } from '../../character-set.js';
import { classAt, isDigitAt, isWordAt, LETTER, SPACE } from '../characters.js';
import type { Language } from '../language.js';
import type { Found, Reading } from '../reading.js';
import { cardinal } from '../say.js';

const LONGEST_MARKED = 200; // units between two marks

const MARK_OPENING = /==(?=[^\s=][^=\n]{0,200}==(?!=))/y;
const MARK_CLOSING = /(?:^|[^=\p{Script=Latin}\p{Script=Cyrillic}\p{N}])==[^\s=][^=\n]{0,200}$/u;

/** ==marked text==: both marks are silent; a == b is a comparison. */
export function highlight(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (text[at + 1] !== '=' || text[at + 2] === '=' || text[at - 1] === '=') return undefined;
  const found: Found = { end: at + 2, spoken: '', rule: 'markdown' };
  const touchesBefore = isWordAt(text, at - 1);
  if (!touchesBefore && reading.match(MARK_OPENING) !== undefined) return found;
  if (classAt(text, at - 1) === SPACE) return undefined;
  return MARK_CLOSING.test(text.slice(Math.max(0, at - LONGEST_MARKED), at)) ? found : undefined;
}

const LOWERED = /~(\d{1,3}|\p{L}{1,10}|\d?[+-])~(?!~)/uy;
const RAISED = /\^(-?\d{1,3}|\p{L}{1,4}|\d?[+-])\^(?![A-Za-z\d^])/uy;

/** H~2~O, CO~2~ */
export function subscript(reading: Reading, { speech }: Language): Found | undefined {
  const isBehind = classAt(reading.text, reading.at - 1) === LETTER || reading.text[reading.at - 1] === ')';
  const match = isBehind ? reading.match(LOWERED) : undefined;
  if (match === undefined) return undefined;
  const [written, lowered = ''] = match;
  const isNumber = /^\d{1,6}$/.test(lowered);
  const said = isNumber ? cardinal(lowered, speech) : lowered;
  return { end: reading.at + written.length, spoken: ` ${said} `, rule: 'math' };
}

/** x^2^, m^3^ */
export function superscript(reading: Reading, { speech }: Language): Found | undefined {
  const match = isWordAt(reading.text, reading.at - 1) ? reading.match(RAISED) : undefined;
  if (match === undefined) return undefined;
  const [written, raised = ''] = match;
  const said = /^\d{1,3}$/.test(raised) ? speech.power(raised) : raised;
  return said === undefined ? undefined : { end: reading.at + written.length, spoken: said, rule: 'math' };
}

/** A name of GitHub's list, or of a chat program's. */
const SHORTCODE = /:(?:[a-z][a-z0-9_-]{1,30}[a-z0-9]|[+-]1|100|1234):(?![\p{L}\p{N}])/uy;
const BEFORE_SHORTCODE = new CharacterSet(/[\s.,!?…。！？、，)\]»”"*_]/u);

/** :smile: is an emoji. */
export function shortcode(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (at > 0 && at !== reading.tokenEnd && !BEFORE_SHORTCODE.at(text, at - 1)) return undefined;
  const match = reading.match(SHORTCODE);
  return match && { end: at + match[0].length, spoken: '', rule: 'emoji' };
}

/** 2*(3+4), (a+b)*2: one star between a factor and a bracket. */
export function programTimes({ text, at }: Reading, { symbols }: Language): Found | undefined {
  const [left = '', right = ''] = [text[at - 1], text[at + 1]];
  if (left !== ')' && right !== '(') return undefined;
  const isName = /[a-z]/i.test(left) && !isWordAt(text, at - 2);
  const isFactor = isDigitAt(text, at - 1) || left === ')' || isName;
  if (!isFactor || !(isDigitAt(text, at + 1) || right === '(' || /[a-z]/i.test(right))) return undefined;
  if (/^[a-z]{2}/i.test(text.slice(at + 1, at + 3))) return undefined; // (note)*emphasis*
  const name = symbols.inMath['*'] ?? symbols.inMath['×'];
  if (name === undefined) return undefined;
  const spoken = `${left === ')' ? ' ' : ''}${name}${right === '(' ? ' ' : ''}`;
  return { end: at + 1, spoken: spoken.replaceAll(/ {2,}/g, ' '), rule: 'math' };
}

const PATH = /[:\\][^\s]*$/;

/** The backslash that ends a line of Markdown. In a folder's path it stays. */
export function lineEnd(reading: Reading): Found | undefined {
  const { text, at } = reading;
  if (at + 1 < text.length && classAt(text, at + 1) !== SPACE) return undefined;
  if (PATH.test(text.slice(Math.max(0, at - LONGEST_MARKED), at)) || at === 0) return undefined;
  return { end: at + 1, spoken: '', rule: 'markdown' };
}

const POWER = /\*\*(?:(-?\d{1,3})|([a-z]))(?![A-Za-z\d]|\.\d)/uy;

/** 2**3, x**2: the base is a number, a bracket or a single letter. */
export function programPower(reading: Reading, { speech, symbols }: Language): Found | undefined {
  const { text, at } = reading;
  const base = text[at - 1] ?? ' ';
  const isLetter = /[a-z]/i.test(base) && !isWordAt(text, at - 2) && text[at - 2] !== '*';
  if (!isDigitAt(text, at - 1) && base !== ')' && !isLetter) return undefined;
  const match = reading.match(POWER);
  if (match === undefined) return undefined;
  const [written, digits, letter] = match;
  const end = at + written.length;
  // 1**b**2 is bold text
  if (letter !== undefined && (isLetter ? text.startsWith('**', end) : true)) return undefined;
  const said = digits === undefined || digits.startsWith('-') ? undefined : speech.power(digits);
  const sign = symbols.inMath['**'] ?? symbols.inMath['^'];
  const spoken = said ?? (sign === undefined ? undefined : `${sign} ${digits ?? letter}`);
  return spoken === undefined ? undefined : { end, spoken, rule: 'math' };
}
