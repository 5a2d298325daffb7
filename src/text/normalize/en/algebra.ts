// Formulas as English speakers read them: 2x + 3y, 1e-5, 10^-3, x² - 3, 5!, "is > 5".
import { tablesOf } from '../../tables/language-tables.js';
import { withoutZeros } from '../numerals.js';
import type { Found, Reading, Recogniser } from '../reading.js';
import { negativePower, type Rules } from '../shared-forms.js';
import { sayDecimal } from './amounts.js';
import { cardinal } from './numbers.js';

const COEFFICIENT = /(\d{1,4}(?:\.\d{1,3})?)(?=[a-zπ](?![\p{L}\p{N}'’]))/uy;
const SUM_BEFORE = /(?:[=+×÷<>≤≥(√]| [-−]) ?$/u;
const SUM_BEHIND = /^(?:[²³)]|\^\d| ?[=+×÷<>≤≥] ?[\p{L}\p{N}(]| [-−] ?[\p{L}\p{N}(])/u;

/** The 2 of 2x + 3; 5 m and 2x faster have no sign of a sum beside them. */
export const coefficient: Recogniser = (reading) => {
  const match = reading.match(COEFFICIENT);
  if (match === undefined) return undefined;
  const { text, at } = reading;
  const end = at + match[0].length;
  const pi = text[end] === 'π';
  const variable = pi || /[a-bnpqt-z]/.test(text[end] ?? '');
  const summed =
    SUM_BEFORE.test(text.slice(Math.max(0, at - 3), at)) || SUM_BEHIND.test(text.slice(end + 1, end + 5));
  if (!variable || (!pi && !summed)) return undefined;
  return { end: end + 1, spoken: `${sayDecimal(match[0])} ${pi ? 'pi' : (text[end] ?? '')}`, rule: 'math' };
};

const SCIENTIFIC = /(\d{1,3}(?:\.\d{1,12})?)[eE]([-+−]?)(\d{1,3})(?![\p{L}\p{N}]|[.,]\d)/uy;

/** 1e-5, 6.02e23; 1e6 without a sign or point may be a name. */
export const scientific: Recogniser = (reading) => {
  const match = reading.match(SCIENTIFIC);
  if (match === undefined) return undefined;
  const [written, number = '', sign = '', exponent = ''] = match;
  if (sign === '' && !number.includes('.')) return undefined;
  const minus = sign === '' || sign === '+' ? '' : 'minus ';
  const spoken = `${sayDecimal(number)} times ten to the power of ${minus}${cardinal(withoutZeros(exponent))}`;
  return { end: reading.at + written.length, spoken, rule: 'math' };
};

const power: Recogniser = negativePower(
  (digits) => `to the power of minus ${cardinal(withoutZeros(digits))}`,
);

const FORMULA = /[=+×÷√^²³]/u;
const LEFT = /(?:(?:^|[^\p{L}'’])[a-zA-Z]|[²³)]) $/u;
const RIGHT = /^ (?:\d|\(|[a-zA-Z](?![\p{L}'’]))/u;

/** The minus of x² - 3: between a variable and what is taken from it. */
function minusOfFormula({ text, at }: Reading): Found | undefined {
  if (text[at] !== '-') return undefined;
  const [before, behind] = [text.slice(Math.max(0, at - 24), at), text.slice(at + 1, at + 25)];
  if (!LEFT.test(before) || !RIGHT.test(behind) || !FORMULA.test(before + behind)) return undefined;
  return { end: at + 1, spoken: 'minus', rule: 'math' };
}

/** 5! = 120 */
function factorial({ text, at }: Reading): Found | undefined {
  if (text[at] !== '!' || !/(?:\d|(?:^|\s)[a-z])$/.test(text.slice(Math.max(0, at - 2), at)))
    return undefined;
  return /^ ?[=+×*/÷)]/u.test(text.slice(at + 1, at + 3))
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
    [/-/, minusOfFormula],
    [/!/, factorial],
    [/[\^⁻]/, power],
  ],
} satisfies Rules;
