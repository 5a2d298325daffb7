// How Russian is said.
import type { Noun, Speech } from '../language.js';
import { numeralOf, withoutZeros } from '../numerals.js';
import { NOWHERE } from '../reading.js';
import { count, join, measure, money, sayFraction, withNoun } from './amounts.js';
import { sayDate } from './calendar.js';
import { HOUR, MINUTE, SECOND, sayTime } from './clock.js';
import { genitiveOf, inPlural } from './declension.js';
import { caseBefore } from './grammar.js';
import { spellLetters } from './letters.js';
import { cardinal, decimal, ordinal, spellDigits } from './numbers.js';
import { marked } from './ordinals.js';
import { sayTelephone } from './telephone.js';
import { bareYear } from './years.js';

const DURATION: Readonly<Record<'h' | 'min' | 's', Noun>> = { h: HOUR, min: MINUTE, s: SECOND };

export const SPEECH: Speech = {
  number: (numeral, _around, noun) => decimal(numeral, 'nominative', noun?.gender ?? 'm'),
  ordinal: (digits, around, mark) =>
    /^0\d/.test(digits) ? undefined : marked(withoutZeros(digits), around, mark),
  digits: spellDigits,
  letters: spellLetters,
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
  date: ({ day, month, year, style }, around) =>
    day === undefined || month === undefined || style === 'name'
      ? undefined
      : sayDate(day, month, year, around),
  time: sayTime,
  duration: (parts, around) =>
    parts
      .map(([digits, unit]) => withNoun({ number: numeralOf(digits) }, DURATION[unit], caseBefore(around)))
      .join(' '),
  power: (exponent) => {
    if (exponent === '2') return 'в квадрате';
    return exponent === '3' ? 'в кубе' : `в ${ordinal(exponent, 'prepositional', 'f')} степени`;
  },
  range: (from, to) => join(from, to),
  score: (home, guest) => `${home} ${guest}`,
  telephone: sayTelephone,
};
