// Reads LaTeX in running text: commands ($…$, \(…\) or plain) are spoken by the names of their signs. The
// dollar signs around a formula and the braces of its groups are silent.
import { isWordAt, WORD_UNIT } from '../characters.js';
import { beginning, behind, type Row } from '../dispatch.js';
import type { Language } from '../language.js';
import { LiteralTable } from '../literals.js';
import { numeralOf, readNumeral, withoutZeros } from '../numerals.js';
import { Around, type Candidate, type Found, NOWHERE, type Reading } from '../reading.js';

const COMMAND = /\\([A-Za-z]{2,16})(?![A-Za-z])\s?/y;
const FRACTION = /\\[dt]?frac\{(\d{1,4})\}\{([1-9]\d{0,3})\}/y;
const ROOT = /\\sqrt ?\{(\d{1,9})\}/y;
const DRESSED = /\\(?:text|mathrm|mathbf|mathit|operatorname|boxed)\{([^{}\n]{1,100})\}/y;
const UNSPOKEN = new Set(
  'left right big Big quad qquad displaystyle limits ldots frac dfrac tfrac'.split(' '),
);
// prettier-ignore
const SIGNS: Readonly<Record<string, string>> = {
  times: '×', cdot: '×', div: '÷', pm: '±', leq: '≤', le: '≤', geq: '≥', ge: '≥', neq: '≠', ne: '≠', approx: '≈', sim: '~', lt: '<', gt: '>',
  sqrt: '√', infty: '∞', to: '→', rightarrow: '→', Rightarrow: '→', implies: '→', sum: '∑', prod: '∏', int: '∫', pi: 'π',
};
const GREEK = 'alpha beta gamma delta epsilon theta lambda mu sigma phi omega Delta Sigma Omega'.split(' ');

const OPENING = /\$\$?(?=[A-Za-z\\(-][^$\n]{0,200}[\^_=\\+<>{}*/][^$\n]{0,200}\$|[A-Za-z]\$)/y;
/** $2^{10}$, but not "$5 and $6": behind a digit only a power or a command shows a formula. */
const OPENING_DIGIT = /\$\$?(?=\d[^$\n]{0,60}[\^\\][^$\n]{0,60}\$(?!\d))/y;
const CLOSING = new RegExp(String.raw`\$\$?(?!${WORD_UNIT})`, 'uy');
const OPENED = new RegExp(
  String.raw`(?:^|(?!${WORD_UNIT})[^$])\$(?:\$?[A-Za-z\\(-]|\$|\d[^$\n]*[\^\\])[^$\n]*$`,
  'u',
);
const LONGEST = 200; // units between the two
const OWNER = /(?:\\[A-Za-z]{2,16}|[\^_])$/; // of a group
const FRACTION_NAME = /\\[dt]?frac$/;
const LONGEST_OWNER = 18; // units

/**
 * Drops the dollar signs around a formula. Text between them is one if it has its signs; $5 is an amount.
 */
function dollars(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const isOpen = isOpenAt(text, at);
  const match = isOpen ? reading.match(CLOSING) : (reading.match(OPENING) ?? reading.match(OPENING_DIGIT));
  if (match === undefined || (!isOpen && isWordAt(text, at - 1))) return undefined;
  return { end: at + match[0].length, spoken: '', rule: 'markdown', isCertain: true };
}

/** True if a formula is open at a place of a line. */
function isOpenAt(text: string, at: number): boolean {
  const near = text.slice(Math.max(0, at - LONGEST), at);
  return OPENED.test(near.slice(near.lastIndexOf('\n') + 1));
}

export class Latex {
  readonly #language: Language;
  readonly #units: LiteralTable<unknown>;

  constructor(language: Language) {
    this.#language = language;
    this.#units = LiteralTable.of(language.writing.units);
  }

  /** The 12 of $x = 12$ is no amount of dollars. */
  readonly atDigit: Row = behind(/^[$.,]/, (reading): Candidate | undefined => {
    const { text, at } = reading;
    const read = readNumeral(text, at, this.#language.writing.numbers);
    if (read === undefined || text[read.end] !== '$' || !isOpenAt(text, at)) return undefined;
    if (reading.match(CLOSING, read.end) === undefined) return undefined;
    const { end, numeral: number } = read;
    const token = { type: 'count', quantity: { number }, around: reading.around(end) } as const;
    return { end, token, rule: 'cardinal', isCertain: true };
  });

  /** \frac{1}{2}, \sqrt{x}, \times, \alpha */
  readonly atMark: Row = beginning(/[\\{}$]/, (reading) => {
    switch (reading.text[reading.at]) {
      case '\\':
        return this.#fraction(reading) ?? this.#root(reading) ?? dressed(reading) ?? this.#command(reading);
      case '{':
        return groupOwner(reading.text, reading.at) === undefined ? undefined : silent(reading);
      case '}':
        return this.#groupEnd(reading);
      case '$':
        return dollars(reading);
      default:
        return undefined;
    }
  });

  #fraction(reading: Reading): Found | undefined {
    const match = reading.match(FRACTION);
    const [written = '', numerator = '', denominator = ''] = match ?? [];
    const said =
      match === undefined ? undefined : this.#language.speech.fraction({ numerator, denominator }, NOWHERE);
    return said === undefined ? undefined : { end: reading.at + written.length, spoken: said, rule: 'math' };
  }

  /** A number in the case that the name of the root asks for: корень из двадцати пяти. */
  #root(reading: Reading): Found | undefined {
    const match = reading.match(ROOT);
    const { speech, symbols, unspaced } = this.#language;
    const name = symbols.inMath['√']?.trim();
    if (match === undefined || name === undefined) return undefined;
    const [written, digits = ''] = match;
    const lead = unspaced === true ? name : `${name} `;
    const number = numeralOf(withoutZeros(digits));
    const end = reading.at + written.length;
    const behind = new Around(lead + digits, lead.length, lead.length + digits.length);
    return { end, spoken: lead + speech.count({ number }, behind) + this.#gap(reading, end), rule: 'math' };
  }

  /** Korean writes a space between the formula and its unit. */
  #gap({ text }: Reading, end: number): string {
    const at = text[end] === '$' ? end + 1 : end;
    return this.#language.tag === 'ko' && this.#units.at(text, at) !== undefined ? ' ' : '';
  }

  #command(reading: Reading): Found | undefined {
    const match = reading.match(COMMAND);
    const [written = '', name = ''] = match ?? [];
    if (match === undefined) return undefined;
    const { symbols } = this.#language;
    const end = reading.at + written.length;
    if (UNSPOKEN.has(name)) return { end, spoken: '', rule: 'math' };
    const sign = SIGNS[name];
    const said = sign === undefined ? undefined : (symbols.inMath[sign] ?? symbols.inText[sign]);
    const words = said ?? (GREEK.includes(name) ? name.toLowerCase() : undefined);
    return words === undefined ? undefined : { end, spoken: ` ${words} `, rule: 'math' };
  }

  /** The end of a group is silent; between the two of a fraction stands its word. */
  #groupEnd(reading: Reading): Found | undefined {
    const { text, at } = reading;
    const start = groupStart(text, at);
    const owner = start === undefined ? undefined : groupOwner(text, start);
    if (owner === undefined) return undefined;
    const { inMath } = this.#language.symbols;
    const over = inMath['÷'] ?? inMath['/'];
    if (!FRACTION_NAME.test(owner) || text[at + 1] !== '{' || over === undefined) return silent(reading);
    return { end: at + 2, spoken: ` ${over.trim()} `, rule: 'math', isCertain: true };
  }
}

function silent({ at }: Reading): Found {
  return { end: at + 1, spoken: '', rule: 'math', isCertain: true };
}

function dressed(reading: Reading): Found | undefined {
  const match = reading.match(DRESSED);
  return match && { end: reading.at + match[0].length, spoken: match[1] ?? '', rule: 'math' };
}

/**
 * The command, or the sign of a power, whose group begins here; the second one of a fraction has its owner.
 */
function groupOwner(text: string, at: number): string | undefined {
  const first = text[at - 1] === '}' ? groupStart(text, at - 1) : undefined;
  const owner = OWNER.exec(text.slice(Math.max(0, (first ?? at) - LONGEST_OWNER), first ?? at))?.[0];
  return first === undefined || FRACTION_NAME.test(owner ?? '') ? owner : undefined;
}

/** Offset of the brace that the one at `at` closes. */
function groupStart(text: string, at: number): number | undefined {
  let depth = 0;
  for (let from = at; from >= 0 && at - from < LONGEST; from--) {
    if (text[from] === '}') depth++;
    if (text[from] === '{' && --depth === 0) return from;
  }
  return undefined;
}
