// Spoken forms of Italian.
import { tablesOf } from '../../tables/language-tables.js';
import type { Speech } from '../language.js';
import type { Noun } from '../quantity.js';
import { integerOf, type Numeral, withoutZeros } from '../numerals.js';
import type { Around } from '../reading.js';
import { withoutCommonNoun } from '../shared-forms.js';
import { count, fractionOf, measure, money, plainFraction } from './amounts.js';
import { duration, time, timeRange } from './clock.js';
import { date, dateToDate, weekdayRange, yearRange } from './dates.js';
import { betweenNumbers, isFeminine, isPlural, one } from './grammar.js';
import { cardinal, decimal, type Gender, ordinal, spellDigits } from './numbers.js';

function number(numeral: Numeral, noun?: Noun): string {
  if (noun === undefined || isPlural(numeral) || numeral.negative) return decimal(numeral);
  return one(noun.forms[0] ?? '', noun.gender === 'f' ? 'f' : 'm').trimEnd();
}

const SINGULAR = tablesOf('it').set('singular articles');
const PLURAL = tablesOf('it').set('plural determiners');
/** 2° in classifica */
const LISTS = tablesOf('it').set('lists of ranks');
const RANKING = tablesOf('it').set('before a rank');
/** Behind degrees, no noun that an ordinal could belong to. */
const NO_NOUN = tablesOf('it').set('no noun behind an ordinal');
const DEGREES = tablesOf('it').set('before degrees');

/** 2° piano, 3ª volta, la 2a edizione; 20° alone are degrees. */
function sayOrdinal(written: string, around: Around, mark: string): string | undefined {
  const digits = withoutZeros(written);
  if (digits === '0') return undefined;
  const before = around.previousWord;
  const many = PLURAL.has(before);
  if (/esim|^m/.test(mark)) return ordinal(digits, /a$|e$/.test(mark) ? 'f' : 'm', /[ie]$/.test(mark));
  if (mark === 'a' || mark === 'o') {
    const known = SINGULAR.has(before) && /^\p{L}{3}/u.test(around.nextWord);
    return known ? ordinal(digits, mark === 'a' ? 'f' : 'm') : undefined;
  }
  if (mark === '^') return ordinal(digits, isMasculine(around.nextWord) ? 'm' : 'f');
  const gender: Gender = mark === 'ª' || isFeminine(around.nextWord.toLowerCase()) ? 'f' : 'm';
  return mark === '°' && !isRank(around) ? undefined : ordinal(digits, gender, many);
}

/** 10^ giornata, 2^ B, but 2^ classificato. */
function isMasculine(next: string): boolean {
  return /^\p{Ll}{2,}o$/u.test(next) && !isFeminine(next);
}

function isRank(around: Around): boolean {
  const next = around.nextWord.toLowerCase();
  const before = around.previousShort;
  if (next === 'c' || next === 'f') return false;
  if (/^ su \d/.test(around.text.slice(around.end, around.end + 5))) return true; // 4° su 31
  if (next === 'in' && LISTS.has(around.secondNextWord.toLowerCase())) return true;
  const noun = (next.length > 2 && !NO_NOUN.has(next)) || around.text.startsWith(' p.', around.end);
  if (noun) return true;
  if (DEGREES.has(before)) return false;
  return RANKING.has(before) || SINGULAR.has(before);
}

/** 06 1234567, 347 123 4567: figure by figure, in the groups of the country. */
function telephone(groups: readonly string[], plus: boolean): string {
  const [first = '', ...rest] = groups;
  if (groups.length === 1 && !plus && first.length <= 3)
    return first.startsWith('0') ? spellDigits(first) : cardinal(first);
  if (!plus) return (groups.length === 1 ? national(first) : groups.flatMap(cut)).map(spellDigits).join(', ');
  const country = /^(?:39|41|378|44|33|49|34|43|1)(?=\d|$)/.exec(first)?.[0] ?? first;
  const local = first.slice(country.length);
  const parts =
    rest.length === 0
      ? national(local)
      : [
          ...(local === '' ? [] : [local]),
          ...(rest.length === 1 ? national(rest[0] ?? '') : rest.flatMap(cut)),
        ];
  return [`più ${cardinal(country)}`, ...parts.map(spellDigits)].join(', ');
}

const PREFIX = /^(?:0[26]|0[1-9][0159]|0[1-9]\d{2}|3\d\d|8\d\d)/;

/** A number written without spaces: its prefix, then the rest. */
function national(digits: string): string[] {
  const prefix = digits.length > 5 ? PREFIX.exec(digits)?.[0] : undefined;
  return prefix === undefined ? cut(digits) : [prefix, ...cut(digits.slice(prefix.length))];
}

const LONGEST_GROUP = 4;

/** Groups of three, the last of up to four: 1234567 is 123 4567. */
function cut(digits: string): string[] {
  if (digits.length <= LONGEST_GROUP) return digits === '' ? [] : [digits];
  const first = digits.length === 2 * LONGEST_GROUP ? LONGEST_GROUP : 3;
  return [digits.slice(0, first), ...cut(digits.slice(first))];
}

function range(from: string, to: string, around: Around): string {
  const days = weekdayRange(from, to, around);
  if (days !== undefined) return days;
  const dates = dateToDate(from, to, around);
  if (dates !== undefined) return dates;
  const written = around.text.slice(around.start, around.end);
  if (/^\d{4}[-–]\d/.test(written)) return yearRange(from, to, around);
  return /\d:\d\d|[ap]\.?m/i.test(written)
    ? timeRange(from, to, around)
    : betweenNumbers(withoutCommonNoun(from, to), to, around, false);
}

const POWERS: Readonly<Record<string, string>> = {
  '0': 'alla zero',
  '1': 'alla prima',
  '2': 'al quadrato',
  '3': 'al cubo',
};

function sayPower(rank: string): string {
  return /^[aeiou]/.test(rank) ? `all'${rank}` : `alla ${rank}`;
}

export const SPEECH: Speech = {
  verse: (book, chapter, verses) => `${book} ${chapter}, ${verses.join('-')}`,
  exchange: (from, to) => `${from} due ${to}`,
  processor: (brand, series, model) => `${brand} ${cardinal(series)} ${cardinal(model)}`,
  number: (numeral, _around, noun) => number(numeral, noun),
  ordinal: sayOrdinal,
  digits: spellDigits,
  letters: (letters) => Array.from(letters.toUpperCase()).join(' '),
  year: (digits, _around, sure) => (sure ? cardinal(digits) : undefined),
  decade: (digits) => cardinal(digits),
  fraction: plainFraction,
  fractionOf: (fraction, unit) => fractionOf(fraction, unit),
  count,
  measure,
  money,
  date,
  time,
  duration: (parts) => duration(parts),
  power: (exponent) =>
    POWERS[exponent] ??
    (exponent.startsWith('-') ? `alla ${decimal(integerOf(exponent))}` : sayPower(ordinal(exponent, 'f'))),
  range,
  score: (home, guest) => `${home} a ${guest}`,
  outOf: (got, most) => `${cardinal(got)} su ${cardinal(most)}`,
  atLeast: (number, noun) => `più di ${number}${noun}`,
  telephone,
};
