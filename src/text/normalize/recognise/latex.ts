// LaTeX as models write it between $…$, \(…\) or in plain text: its commands by the names of their signs.
import { isWordAt, WORD_UNIT } from '../characters.js';
import type { Language } from '../language.js';
import { NOWHERE, type Found, type Reading, type Recogniser } from '../reading.js';

const COMMAND = /\\([A-Za-z]{2,16})(?![A-Za-z])\s?/y;
const FRACTION = /\\[dt]?frac\{([^{}\n]{1,40})\}\{([^{}\n]{1,40})\}/y;
const DRESSED = /\\(?:text|mathrm|mathbf|mathit|operatorname|boxed)\{([^{}\n]{1,100})\}/y;
const UNSPOKEN = new Set('left right big Big quad qquad displaystyle limits ldots'.split(' '));
const SIGNS: Readonly<Record<string, string>> = {
  times: '×', cdot: '×', div: '÷', pm: '±', leq: '≤', le: '≤', geq: '≥', ge: '≥', neq: '≠', ne: '≠', approx: '≈', sim: '~', lt: '<', gt: '>',
  sqrt: '√', infty: '∞', to: '→', rightarrow: '→', Rightarrow: '→', implies: '→', sum: '∑', prod: '∏', int: '∫', pi: 'π',
}; // prettier-ignore
const GREEK = 'alpha beta gamma delta epsilon theta lambda mu sigma phi omega Delta Sigma Omega'.split(' ');

const OPENING = /\$\$?(?=[A-Za-z\\(\d-][^$\n]{0,200}[\^_=\\+<>{}*/][^$\n]{0,200}\$|[A-Za-z]\$)/y;
const CLOSING = new RegExp(String.raw`\$\$?(?!${WORD_UNIT})`, 'uy');
const LONGEST = 200; // units between the two

/** What is between dollar signs is a formula where it has signs of one; $5 is an amount. */
export function dollars(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const near = text.slice(Math.max(0, at - LONGEST), at);
  const line = near.slice(near.lastIndexOf('\n') + 1);
  const isOpen = OPENED.test(line);
  const match = isOpen ? reading.match(CLOSING) : reading.match(OPENING);
  if (match === undefined || (!isOpen && isWordAt(text, at - 1))) return undefined;
  if (!isOpen && /\d/.test(text[at + match[0].length] ?? '') && match[0].length === 1) return undefined;
  return { end: at + match[0].length, spoken: '', rule: 'markdown' };
}

const OPENED = new RegExp(String.raw`(?:^|(?!${WORD_UNIT})[^$])\$(?:\$?[A-Za-z\\(-]|\$)[^$\n]*$`, 'u');

/** \frac{1}{2}, \times, \alpha */
export function latex(language: Language): Recogniser {
  return (reading) => {
    if (reading.text[reading.at] !== '\\') return undefined;
    return fraction(reading, language) ?? dressed(reading) ?? command(reading, language);
  };
}

function fraction(reading: Reading, { speech, symbols }: Language): Found | undefined {
  const match = reading.match(FRACTION);
  if (match === undefined) return undefined;
  const [written, numerator = '', denominator = ''] = match;
  const end = reading.at + written.length;
  const isPlain = /^\d{1,4}$/.test(numerator) && /^[1-9]\d{0,3}$/.test(denominator);
  const said = isPlain ? speech.fraction({ numerator, denominator }, NOWHERE) : undefined;
  const over = symbols.inMath['÷'] ?? symbols.inMath['/'];
  if (said === undefined && over === undefined) return undefined;
  return { end, spoken: said ?? `${numerator} ${over} ${denominator}`, rule: 'math' };
}

function dressed(reading: Reading): Found | undefined {
  const match = reading.match(DRESSED);
  return match && { end: reading.at + match[0].length, spoken: match[1] ?? '', rule: 'math' };
}

function command(reading: Reading, { symbols }: Language): Found | undefined {
  const match = reading.match(COMMAND);
  const [written = '', name = ''] = match ?? [];
  if (match === undefined) return undefined;
  const end = reading.at + written.length;
  if (UNSPOKEN.has(name)) return { end, spoken: '', rule: 'math' };
  const sign = SIGNS[name];
  const said = sign === undefined ? undefined : (symbols.inMath[sign] ?? symbols.inText[sign]);
  const words = said ?? (GREEK.includes(name) ? name.toLowerCase() : undefined);
  return words === undefined ? undefined : { end, spoken: ` ${words} `, rule: 'math' };
}
