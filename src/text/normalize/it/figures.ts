// Figures in forms that only the words around them decide: 12,50 euro, 4,5/5, 3.5 as in English.
import { isWordAt } from '../characters.js';
import { numeralOf } from '../numerals.js';
import { type Candidate, type Found, type Reading, wordBefore } from '../reading.js';
import { Quantities } from '../recognise/quantities.js';
import type { Rules } from '../shared-forms.js';
import { SYMBOLS, WRITING } from './writing.js';
import { cardinal, decimal } from './numbers.js';
import { SPEECH } from './speech.js';

const POINTED =
  /(?:\d{1,3}(?:,\d{3})+\.\d+|\d{1,3}(?:,\d{3}){2,}|(?:0|[1-9]\d*)\.(?:\d{1,2}|\d{4,}))(?!\d|[.,:/]\d)/y;
const RATING = /(\d{1,2},\d{1,2})\/(\d{1,3})(?![\p{L}\d/])/uy;

/** Numbers in English notation, which many programs write, too. */
const english = new Quantities({
  tag: 'it',
  writing: { ...WRITING, numbers: { decimal: '.', grouping: [','] } },
  speech: SPEECH,
  symbols: SYMBOLS,
});

/** 3.5 GHz is a decimal; Python 3.11 a version. */
export function pointed(reading: Reading): Candidate | undefined {
  const { text, at } = reading;
  if (/[.,:/]/.test(text[at - 1] ?? '') || reading.match(POINTED) === undefined) return undefined;
  if (/^(?:tel|cell|fax|telefono|cellulare|mobile|whatsapp)$/.test(reading.around(at).previousShort))
    return undefined;
  const found = english.atDigit.recognise(reading);
  if (found?.rule !== 'decimal' || !isNameBefore(reading)) return found;
  const [whole = '', rest = ''] = text.slice(at, found.end).split('.');
  if (whole.includes(',')) return found; // 2,650.35 is no version
  return { end: found.end, spoken: `${cardinal(whole)} punto ${cardinal(rest)}`, rule: 'version' };
}

function isNameBefore({ text, at }: Reading): boolean {
  const before = wordBefore(text, text[at - 1] === '-' ? at - 1 : at);
  return before === 'versione' || /\p{Lu}/u.test(before);
}

/** $3.50, -$3.50, € 3.50 */
export function pointedMoney(reading: Reading): Candidate | undefined {
  const { text, at } = reading;
  if (!/^[-−]?[$€£¥] ?\d/.test(text.slice(at, at + 4)) || isWordAt(text, at - 1)) return undefined;
  const digits = at + text.slice(at, at + 4).search(/\d/);
  return reading.match(POINTED, digits) === undefined ? undefined : english.atMark.recognise(reading);
}

/** 4,5/5 */
function rating(reading: Reading): Found | undefined {
  const match = reading.match(RATING);
  if (match === undefined) return undefined;
  const [written, grade = '', best = ''] = match;
  const [whole = '', decimals = ''] = grade.split(',');
  const spoken = `${decimal({ ...numeralOf(whole), decimals })} su ${cardinal(best)}`;
  return { end: reading.at + written.length, spoken, rule: 'fraction' };
}

/** In the order in which the language asks them. */
export const figureRules = {
  behindDigits: [[/,/, rating]],
} satisfies Rules;
