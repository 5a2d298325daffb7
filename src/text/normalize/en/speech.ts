// How English is said.
import type { Currency, Fraction, Noun, Quantity, Speech, WrittenDate, WrittenTime } from '../language.js';
import { numeralOf, valueOf, withoutZeros, type Numeral } from '../numerals.js';
import { NOWHERE, type Around } from '../reading.js';
import { cardinal, decade, decimal, ordinal, spellDigits, year } from './numbers.js';

const MONTH_NAMES =
  'January February March April May June July August September October November December'.split(' ');

function amount({ number, to, magnitude, fraction }: Quantity, around: Around): string {
  const first = decimal(number);
  const mixed = fraction === undefined ? '' : ` and ${sayFraction(fraction, true)}`;
  const range = to === undefined ? '' : ` ${rangeWord(around)} ${decimal(to)}`;
  return `${first}${mixed}${range}${magnitude === undefined ? '' : ` ${magnitude.forms[0] ?? ''}`}`;
}

/** Between five and ten, else five to ten. */
function rangeWord(around: Around): string {
  return around.previousWord === 'between' ? 'and' : 'to';
}

/** "One" alone takes the singular: 0.5 liters, 1.0 liters, minus one degree. */
function isOne({ number, to, magnitude, fraction }: Quantity): boolean {
  if (to !== undefined || magnitude !== undefined || fraction !== undefined) return false;
  return number.whole === '1' && number.decimals === '';
}

const NO_NOUN =
  /^(?:of|per|in|on|at|to|for|and|or|is|was|as|by|from|than|with|a|an|the|each|more|less|if|when)$/;

/** A $5 bill, a 10 km run: before a noun the unit is in the singular. */
function isAttribute(around: Around): boolean {
  return (
    /^an?$/.test(around.previousWord) && /^\p{Ll}/u.test(around.nextWord) && !NO_NOUN.test(around.nextWord)
  );
}

function withNoun(quantity: Quantity, { forms }: Noun, around: Around): string {
  return `${amount(quantity, around)} ${forms[isOne(quantity) || isAttribute(around) ? 0 : 1] ?? forms[0] ?? ''}`;
}

function money(quantity: Quantity, currency: Currency, around: Around): string {
  const { number, to, magnitude, fraction } = quantity;
  const cents = currency.minor !== undefined && number.decimals.length === 2 && to?.decimals.length !== 1;
  if (!cents || magnitude !== undefined || fraction !== undefined || currency.minor === undefined) {
    return withNoun(quantity, currency, around);
  }
  const first = majorAndMinor(number, currency, currency.minor);
  return to === undefined
    ? first
    : `${first} ${rangeWord(around)} ${majorAndMinor(to, currency, currency.minor)}`;
}

function majorAndMinor(number: Numeral, currency: Currency, minor: Noun): string {
  const sign = number.negative ? 'minus ' : '';
  const [major, cents] = [
    numeralOf(withoutZeros(number.whole)),
    numeralOf(withoutZeros(number.decimals || '0')),
  ];
  const parts = [
    valueOf(major) !== 0 || valueOf(cents) === 0 ? withNoun({ number: major }, currency, NOWHERE) : '',
    valueOf(cents) === 0 ? '' : withNoun({ number: cents }, minor, NOWHERE),
  ];
  return sign + parts.filter((part) => part !== '').join(' and ');
}

const SPECIAL: Readonly<Record<string, readonly [one: string, many: string]>> = {
  '2': ['half', 'halves'],
  '4': ['quarter', 'quarters'],
};

function sayFraction({ numerator, denominator }: Fraction, article: boolean): string {
  const one = Number(numerator) === 1;
  const [single, plural] = SPECIAL[denominator] ?? [ordinal(denominator), `${ordinal(denominator)}s`];
  if (one) return `${article && denominator === '2' ? 'a' : 'one'} ${single}`;
  return `${cardinal(numerator)} ${plural}`;
}

/** Twelve months, halves and quarters are fractions; 24/7, 50/50 and 9/11 are read as two numbers. */
function fraction(written: Fraction): string | undefined {
  const [numerator, denominator] = [withoutZeros(written.numerator), withoutZeros(written.denominator)];
  if (numerator === denominator || Number(numerator) > Number(denominator)) {
    return Number(denominator) >= 2 &&
      Number(denominator) <= 10 &&
      Number(numerator) % 2 === 1 &&
      denominator !== '7'
      ? sayFraction({ numerator, denominator }, false)
      : `${cardinal(numerator)} ${cardinal(denominator)}`;
  }
  if (Number(denominator) === 1 || denominator.length > 3)
    return `${cardinal(numerator)} over ${cardinal(denominator)}`;
  return sayFraction({ numerator, denominator }, false);
}

function date({ day, dayTo, month, year: written, style }: WrittenDate, around: Around): string | undefined {
  const name = month === undefined ? '' : (MONTH_NAMES[month - 1] ?? '');
  if (style === 'numeric' && written === undefined) return undefined;
  const days =
    day === undefined ? '' : dayTo === undefined ? ordinal(day) : `${ordinal(day)} to ${ordinal(dayTo)}`;
  const full = written === undefined ? '' : year(written.length === 2 ? century(written) : written);
  if (days === '') return `${name} ${full}`;
  const dayFirst = style === 'name' && /^\d/.test(around.text.slice(around.start, around.start + 1));
  const article = around.previousWord === 'the' ? '' : 'the ';
  const said = dayFirst ? `${article}${days} of ${name}` : `${name} ${days}`;
  return full === '' ? said : `${said}, ${full}`;
}

function century(two: string): string {
  return Number(two) < 70 ? `20${two}` : `19${two}`;
}

function time({ hours, minutes, seconds, half, word, zone }: WrittenTime): string | undefined {
  const past = Number(minutes || '0');
  const hour = cardinal(hours);
  const parts = [hour];
  if (past > 0) parts.push(past < 10 ? `oh ${cardinal(String(past))}` : cardinal(String(past)));
  else if (minutes !== '' && half === undefined && word === undefined) {
    parts.push(Number(hours) === 0 || Number(hours) > 12 ? 'hundred' : "o'clock");
  }
  if (seconds !== undefined && Number(seconds) > 0) {
    parts.push(
      `and ${withNoun({ number: numeralOf(withoutZeros(seconds)) }, { forms: ['second', 'seconds'] }, NOWHERE)}`,
    );
  }
  for (const tail of [word, half, zone]) if (tail) parts.push(tail);
  return parts.join(' ');
}

const DURATION: Readonly<Record<'h' | 'min' | 's', Noun>> = {
  h: { forms: ['hour', 'hours'] },
  min: { forms: ['minute', 'minutes'] },
  s: { forms: ['second', 'seconds'] },
};

/** Behind "in" and the like a number of four digits is a year; else it is one unless it counts the word behind it. */
function sayYear(digits: string, around: Around, sure: boolean): string | undefined {
  const value = Number(digits);
  if (sure) return value >= 1100 && value < 2100 ? year(digits) : undefined;
  if (value < 1800 || value > 2099) return undefined;
  return /^\p{Ll}[\p{L}]*s$/u.test(around.nextWord) && !/^(?:is|was|has|as|this)$/.test(around.nextWord)
    ? undefined
    : year(digits);
}

/** Digits one by one; the letters of 1-800-FLOWERS as a word. */
function sayGroup(group: string): string {
  return /^[A-Z]{4,}$/.test(group) && /[AEIOUY]/.test(group) ? group.toLowerCase() : spellDigits(group);
}

export const SPEECH: Speech = {
  number: (numeral) => decimal(numeral),
  ordinal: (digits, _around, mark) => (mark === '' ? `the ${ordinal(digits)}` : ordinal(digits)), // Henry the eighth
  digits: spellDigits,
  letters: (letters) => Array.from(letters.toUpperCase()).join(' '),
  year: sayYear,
  decade,
  fraction: (written) => fraction(written),
  count: amount,
  measure: withNoun,
  money,
  date,
  time,
  duration: (parts) =>
    parts.map(([digits, unit]) => withNoun({ number: numeralOf(digits) }, DURATION[unit], NOWHERE)).join(' '),
  power: (exponent) =>
    exponent === '2' ? 'squared' : exponent === '3' ? 'cubed' : `to the power of ${cardinal(exponent)}`,
  range: (from, to, around) => `${from} ${rangeWord(around)} ${to}`,
  score: (home, guest) => `${home} to ${guest}`,
  telephone: (groups, plus) => (plus ? 'plus ' : '') + groups.map(sayGroup).join(', '),
};
