// Spoken forms of English.
import { tablesOf } from '../../tables/language-tables.js';
import type { Speech } from '../language.js';
import type { Currency, Fraction, Noun, Quantity, WrittenDate, WrittenTime } from '../quantity.js';
import { integerOf, type Numeral, numeralOf, valueOf, withoutZeros } from '../numerals.js';
import { type Around, NOWHERE } from '../reading.js';
import { cardinal, decade, decimal, modelPairs, ohBefore, ordinal, spellDigits, year } from './numbers.js';

const MONTH_NAMES = tablesOf('en').dates.months.map(([name = '']) => name);

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

const ARTICLES = tablesOf('en').set('articles');
/** Words that may follow an amount but do not name the thing measured. */
export const NO_NOUN = tablesOf('en').set('no noun');
/** A 27" 4K panel. */
const RESOLUTION = /^ \d{1,2}[KD] \p{Ll}{2}/u;

/** A $5 bill, the 10 km run: before a noun the unit is in the singular. */
export function isAttribute({ previousWord, nextWord, text, end }: Around): boolean {
  if (/^(?:fee|rebate|deposit|surcharge|deductible)$/.test(nextWord) && text[end] === ' ') return true;
  if (!ARTICLES.has(previousWord)) return false;
  if (RESOLUTION.test(text.slice(end, end + 7))) return true;
  if (!/^(?:\p{Ll}|\p{Lu}{2,5}$)/u.test(nextWord) || NO_NOUN.has(nextWord)) return false;
  return !/^[^\S\n]*\n/.test(text.slice(end, end + 4));
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
  if (to === undefined && isAttribute(around)) return price(number, currency, currency.minor);
  const first = majorAndMinor(number, currency, currency.minor);
  return to === undefined
    ? first
    : `${first} ${rangeWord(around)} ${majorAndMinor(to, currency, currency.minor)}`;
}

/** A $2.50 tip: two dollar fifty. */
function price(number: Numeral, { forms }: Currency, minor: Noun): string {
  const cents = withoutZeros(number.decimals);
  if (Number(number.whole) === 0 && cents !== '0') return `${cardinal(cents)} ${minor.forms[0] ?? ''}`;
  const major = `${decimal({ ...number, decimals: '' })} ${forms[0] ?? ''}`;
  return cents === '0' ? major : `${major} ${cardinal(cents)}`;
}

function majorAndMinor(number: Numeral, currency: Currency, minor: Noun): string {
  const sign = number.negative ? 'minus ' : '';
  const major = { ...number, whole: withoutZeros(number.whole), decimals: '', negative: false };
  const cents = numeralOf(withoutZeros(number.decimals || '0'));
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
  const parts = ordinal(denominator).replace(/^one (?=(?:hundred|thousand)th$)/, ''); // one hundredth
  const [single, plural] = SPECIAL[denominator] ?? [parts, `${parts}s`];
  if (one) return `${article && denominator === '2' ? 'a' : 'one'} ${single}`;
  return `${cardinal(numerator)} ${plural}`;
}

const LARGEST_PART = 10; // denominator of a fraction above one: 22/7, but an 80/20 rule

/** Twelve months, halves and quarters are fractions; 60/40, 50/50 and 6/8 time are read as two numbers. */
function fraction(written: Fraction, around: Around): string | undefined {
  const [numerator, denominator] = [withoutZeros(written.numerator), withoutZeros(written.denominator)];
  const [above, below] = [Number(numerator), Number(denominator)];
  if (below === 1 || (denominator.length > 3 && denominator !== '1000'))
    return `${cardinal(numerator)} over ${cardinal(denominator)}`;
  const music = around.nextWord === 'time' && below <= 16;
  if (music || above === below || (above > below && below > LARGEST_PART)) {
    return `${cardinal(numerator)} ${cardinal(denominator)}`;
  }
  return sayFraction({ numerator, denominator }, false);
}

function date(
  { day, dayTo, isPair, month, year: written, style, order }: WrittenDate,
  around: Around,
): string | undefined {
  const name = month === undefined ? '' : (MONTH_NAMES[month - 1] ?? '');
  if (style === 'numeric' && written === undefined) return undefined;
  const days =
    day === undefined
      ? ''
      : dayTo === undefined
        ? ordinal(day)
        : `${ordinal(day)} ${isPair ? 'and' : 'to'} ${ordinal(dayTo)}`;
  const full = written === undefined ? '' : year(written.length === 2 ? century(written) : written);
  if (days === '') return `${name} ${full}`;
  const isNamed = style === 'name' && /^\d/.test(around.text.slice(around.start, around.start + 1));
  const dayFirst = isNamed || order === 'dmy';
  const article = around.previousWord === 'the' ? '' : 'the ';
  const said = dayFirst ? `${article}${days} of ${name}` : `${name} ${days}`;
  return full === '' ? said : `${said}, ${full}`;
}

function century(two: string): string {
  return Number(two) < 70 ? `20${two}` : `19${two}`;
}

function time(
  { hours, minutes, seconds, half, word, zone }: WrittenTime,
  around: Around,
): string | undefined {
  const named = /^(?:noon|midnight)$/.test(around.nextWord); // 12:00 noon
  const past = Number(minutes || '0');
  const hour = hours === '0' && half !== undefined ? 'twelve' : cardinal(hours);
  const parts = [hour];
  if (past > 0) parts.push(ohBefore(minutes));
  else if (minutes !== '' && half === undefined && word === undefined && !named) {
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

const NO_PLURAL = /^(?:is|was|has|as|this|us|its|his|always|perhaps|unless|across|plus|minus|versus)$/;

/** From 1558 to 1603 */
const SECOND_YEAR = /(?<![\d.,])1\d{3} (?:to|until|till|through|and) $/;

/**
 * Behind "in" and the like a number of four digits is a year; else it is one unless it counts the word behind
 * it.
 */
function sayYear(digits: string, around: Around, sure: boolean): string | undefined {
  const value = Number(digits);
  const { nextWord } = around;
  const counts = nextWord === 'people' || (/^\p{Ll}{2,}s$/u.test(nextWord) && !NO_PLURAL.test(nextWord));
  if (sure) {
    // A team of 1250 engineers.
    if (counts && (value < 1800 || around.previousWord === 'of')) return undefined;
    const early =
      value >= 1000 && /^(?:in|since|by|until|before|after|circa|year)$/.test(around.previousWord);
    return (value >= 1100 || early) && value < 2100 ? year(digits) : undefined;
  }
  if (
    value >= 1000 &&
    value < 1800 &&
    (/^(?:c|ca|circa|est|founded|born|died|b|d)$/.test(around.previousShort) ||
      (!counts && SECOND_YEAR.test(around.text.slice(Math.max(0, around.start - 14), around.start))))
  )
    return year(digits);
  return value < 1800 || value > 2099 || counts ? undefined : year(digits);
}

const SHORT_WORDS = tablesOf('en').set('short words in capitals');

/** Digits one by one; the letters of 1-800-FLOWERS as a word, those of an acronym as letters. */
function sayGroup(group: string): string {
  if (!/^[A-Z]{2,}$/.test(group)) return spellDigits(group);
  const word = group.length > 3 ? /[AEIOUY]/.test(group) : SHORT_WORDS.has(group);
  return word ? group.toLowerCase() : Array.from(group).join(' ');
}

export const SPEECH: Speech = {
  exchange: (from, to) => `${from} two ${to}`,
  processor: (brand, series, model) => `${brand} ${cardinal(series)} ${modelPairs(model)}`,
  number: (numeral) => decimal(numeral),
  times: (number) => `${decimal(number)} ${number.whole === '1' ? 'time' : 'times'}`,
  verse: (book, chapter, verses) => `${book} ${chapter} ${verses.join(' to ')}`,
  ordinal: (digits, { previousWord }, mark) =>
    mark === '' && previousWord !== 'the' ? `the ${ordinal(digits)}` : ordinal(digits), // Henry the eighth
  digits: spellDigits,
  letters: (letters) => Array.from(letters.toUpperCase()).join(' '),
  year: sayYear,
  decade,
  fraction,
  count: amount,
  measure: withNoun,
  money,
  date,
  time,
  duration: (parts) =>
    parts.map(([digits, unit]) => withNoun({ number: numeralOf(digits) }, DURATION[unit], NOWHERE)).join(' '),
  power: (exponent) =>
    exponent === '2'
      ? 'squared'
      : exponent === '3'
        ? 'cubed'
        : `to the power of ${decimal(integerOf(exponent))}`,
  range: (from, to, around) =>
    `${/[ap]\.m\.$/.test(to) ? from.replace(/ o'clock$/, '') : from} ${rangeWord(around)} ${to}`,
  score: (home, guest) => `${home} to ${guest}`,
  outOf: (got, most) => `${cardinal(got)} out of ${cardinal(most)}`,
  atLeast: (number, noun) => `${number} plus${noun}`,
  telephone: (groups, plus) => (plus ? 'plus ' : '') + groups.map(sayGroup).join(', '),
};
