// Speaks Russian: numbers, dates, times, amounts, and telephone numbers in groups.
import { tablesOf } from '../../tables/language-tables.js';
import type { Speech, TelephoneFormat } from '../language.js';
import type { Noun } from '../quantity.js';
import { numeralOf, withoutZeros } from '../numerals.js';
import { NOWHERE } from '../reading.js';
import { count, join, measure, money, sayFraction, withNoun } from './amounts.js';
import { sayDate } from './calendar.js';
import { HOUR, MINUTE, sayTime, SECOND } from './clock.js';
import { genitiveOf, inPlural } from './declension.js';
import { caseBefore } from './grammar.js';
import { numberSign, sayElement, spellLetters } from './names.js';
import { cardinal, decimal, ordinal, sayGroup, spellDigits } from './numbers.js';
import { marked } from './ordinals.js';
import { bareYear } from './years.js';

const DURATION: Readonly<Record<'h' | 'min' | 's', Noun>> = { h: HOUR, min: MINUTE, s: SECOND };

/** Names of English letters, as Russian says them in B2B. */
const ENGLISH_LETTERS: Readonly<Record<string, string>> = Object.fromEntries(
  'эй би си ди и эф джи эйч ай джей кей эл эм эн оу пи кью ар эс ти ю ви дабл-ю экс уай зед'
    .split(' ')
    .map((name, index) => [String.fromCharCode(65 + index), name]),
);

export const SPEECH: Speech = {
  exchange: (from, to) => `${ENGLISH_LETTERS[from] ?? from} ту ${ENGLISH_LETTERS[to] ?? to}`,
  processor: (brand, series, model) => `${spellLetters(brand)} ${cardinal(series)} ${cardinal(model)}`,
  number: (numeral, _around, noun) => decimal(numeral, 'nominative', noun?.gender ?? 'm'),
  ordinal: (digits, around, mark) =>
    /^0\d/.test(digits) ? undefined : marked(withoutZeros(digits), around, mark),
  times: (number) => `${cardinal(number.whole)} по`,
  ratio: (one, many) => `${cardinal(one)} к ${cardinal(many, 'dative')}`,
  element: sayElement,
  digits: spellDigits,
  letters: spellLetters,
  numberSign,
  year: (digits, around) => (around === NOWHERE ? cardinal(digits) : bareYear(digits, around)),
  decade: () => undefined, // 90-е is an ordinal like others
  fraction: (fraction, around) => sayFraction(fraction, around, false),
  fractionOf: (fraction, unit, around) => {
    const said = sayFraction(fraction, around, true) ?? '';
    // 120/80 мм рт. ст. are many.
    return `${said} ${/ (?:на|дробь) /.test(said) ? inPlural(unit, 'genitive') : genitiveOf(unit)}`;
  },
  count,
  measure,
  money,
  date: (date, around) => (date.style === 'name' ? undefined : sayDate(date, around)),
  time: sayTime,
  duration: (parts, around) =>
    parts
      .map(([digits, unit]) => withNoun({ number: numeralOf(digits) }, DURATION[unit], caseBefore(around)))
      .join(' '),
  rate: (amount, per, _around, isMoney) => `${amount} ${isMoney ? per : per.replace(/^за /, 'на ')}`,
  power: (exponent) => {
    if (exponent === '2') return 'в квадрате';
    const [, minus, digits = ''] = /^(-?)(.*)/.exec(exponent) ?? [];
    return exponent === '3'
      ? 'в кубе'
      : `в ${minus === '' ? '' : 'минус '}${ordinal(digits, 'prepositional', 'f')} степени`;
  },
  range: (from, to) => join(from, to),
  score: (home, guest) => `${home} ${guest}`,
  outOf: (got, most) => `${cardinal(got)} из ${cardinal(most, 'genitive')}`,
  atLeast: (number, noun) => `${number} плюс${noun}`,
  telephone: sayTelephone,
};

export const TELEPHONE: TelephoneFormat = {
  patterns: [
    /8[ -]?\(\d{3,5}\)[ -]?\d{1,7}(?:[ -]\d{2,3}){0,3}(?!\d)/y,
    /8[ -]\d{3}[ -]\d{3}[ -]\d{2}[ -]?\d{2}(?![\d,]|-\d)/y,
    /8-\d{3}-\d{3}-\d{4}(?![\d,]|-\d)/y,
    /8\d{10}(?!\d)/y,
    /\(\d{3,5}\) ?\d{1,3}(?:[ -]\d{2}){2}(?![\d,]|-\d)/y,
    /\d{3}-\d{2}-\d{2}(?!\d|-\d)/y,
    /\d{2}-\d{2}-\d{2}(?!\d|-\d)/y,
  ],
  keywords: tablesOf('ru').telephone,
};

/** Digits per group if the text has no groups. */
const CUTS: Readonly<Record<number, readonly number[]>> = {
  4: [2, 2],
  5: [1, 2, 2],
  6: [2, 2, 2],
  7: [3, 2, 2],
  8: [2, 2, 2, 2],
  9: [3, 2, 2, 2],
  10: [3, 3, 2, 2],
  11: [1, 3, 3, 2, 2],
  12: [3, 2, 3, 2, 2],
};

function cut(group: string): string[] {
  if (group.length <= 3) return [group];
  const sizes = CUTS[group.length] ?? Array.from({ length: Math.ceil(group.length / 2) }, () => 2);
  let at = 0;
  return sizes.map((size) => group.slice(at, (at += size)));
}

function sayTelephone(groups: readonly string[], plus: boolean): string {
  return (plus ? 'плюс ' : '') + groups.flatMap(cut).map(sayGroup).join(', ');
}
