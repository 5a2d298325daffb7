// Formulas as English speakers read them: 2x + 3y, 1e-5, 10^-3, x² - 3, 5!, "is > 5".
import { tablesOf } from '../../tables/language-tables.js';
import type { Found, Reading } from '../reading.js';
import { type Rules } from '../shared-forms.js';

/** 5! = 120 */
function factorial({ text, at }: Reading): Found | undefined {
  const before = text.slice(Math.max(0, at - 24), at);
  if (!/(?:\d|(?:^|\s)[a-z])$/.test(before)) return undefined;
  const closes = text[at + 1] === ')' && /\p{L}[^()]{0,24}$/u.test(before); // (only 12!)
  return !closes && /^ ?[=+×*/÷)]/u.test(text.slice(at + 1, at + 3))
    ? { end: at + 1, spoken: 'factorial', rule: 'math' }
    : undefined;
}

const RELATION = /([<>]=?|[≤≥≈])( ?)(?=[-−$£€]?\.?\d)/uy;
const BEHIND_VERB: Readonly<Record<string, string>> = {
  '<': 'less than',
  '>': 'greater than',
  '<=': 'less than or equal to',
  '>=': 'greater than or equal to',
  '≤': 'less than or equal to',
  '≥': 'greater than or equal to',
};
const BEFORE_AMOUNT: Readonly<Record<string, string>> = {
  '<': 'less than',
  '>': 'more than',
  '<=': 'at most',
  '>=': 'at least',
  '≤': 'at most',
  '≥': 'at least',
  '≈': 'approximately',
};
/** Orders < $75: no singular verb stands behind several things. */
const PLURAL = /^\p{Ll}{3,}[^\P{Ll}aious]s$/u;
/** Keep sodium < 2,300 mg: the verb stands before the noun. */
const KEEP = /\b(?:keep|try|use|want|need|aim for|choose|pick|buy)(?: \p{L}+){1,2} $/iu;
const VERBS = tablesOf('en').set('verbs before an unknown');
const PREPOSITIONS = tablesOf('en').set('before an unknown');

/** "He is > 5", "we need >= 3": the verb is there already. */
function relation(reading: Reading): Found | undefined {
  const match = reading.match(RELATION);
  if (match === undefined) return undefined;
  const [, sign = '', space = ''] = match;
  const { previousWord } = reading.around(reading.at);
  const names =
    VERBS.has(previousWord) || /^(?:it|that|he|she|what|there)['’]s$/.test(previousWord)
      ? BEHIND_VERB
      : space !== '' &&
          (PREPOSITIONS.has(previousWord) ||
            PLURAL.test(previousWord) ||
            (sign === '≈' && previousWord.length > 2) ||
            KEEP.test(reading.text.slice(Math.max(0, reading.at - 32), reading.at)))
        ? BEFORE_AMOUNT
        : undefined;
  const spoken = names?.[sign];
  return spoken === undefined ? undefined : { end: reading.at + sign.length, spoken, rule: 'math' };
}

/** The π of πr² */
export function piOfFormula({ text, at }: Reading): Found | undefined {
  return /^π[a-z](?!\p{L})/u.test(text.slice(at, at + 3))
    ? { end: at + 1, spoken: 'pi', rule: 'math' }
    : undefined;
}

/** In the order in which the language asks them. */
export const algebraRules = {
  atMark: [
    [/[<>≤≥≈]/, relation],
    [/!/, factorial],
  ],
} satisfies Rules;
