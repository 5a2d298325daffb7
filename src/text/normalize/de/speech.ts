// Speaks German: numbers, years, dates, times and amounts in words.
// It reads four digits as a year where the words around them require it: seit 1989; but 1500 Menschen.
import { tablesOf } from '../../tables/language-tables.js';
import type { Speech } from '../language.js';
import type { Currency, Fraction, Noun, Quantity, WrittenTime } from '../quantity.js';
import { integerOf, type Numeral, numeralOf, valueOf, withoutZeros } from '../numerals.js';
import type { Around } from '../reading.js';
import { date } from './dates.js';
import { type Case, caseOf, genderOf, one, oneBeforeNoun, takesDativeOfMany, upper } from './grammar.js';
import { cardinal, decade, decimal, ordinalStem, spellDigits, year } from './numbers.js';
import { ordinal } from './ordinals.js';

const NUMBERED =
  /(?:§|Nr\.|Art\.|Artikel|Zimmer|Raum|Seite|S\.|Kapitel|Linie|Gate|Platz|Nummer|Rn\.|Rz\.) ?$/u;
/** Verbs about one person or thing. The number does not count a capitalised noun behind them. */
const HAPPENED = tablesOf('de').set('behind a year');
/** Behind a number they show that nothing is counted. */
const NOT_COUNTED = tablesOf('de').set('not counted');
/** Before a number they show that something is. */
const COUNTING = tablesOf('de').set('before an amount');

/** A year stands behind "im Jahr", "seit" and the like, or alone; "1999 Menschen" counts. */
function sayYear(digits: string, around: Around, sure: boolean): string | undefined {
  const value = Number(digits);
  const { text, start, nextWord: next } = around;
  if (value < 1100 || value > 2099 || NUMBERED.test(text.slice(Math.max(0, start - 9), start)))
    return undefined;
  if (sure && !/^\p{Lu}\p{Ll}+(?:en|er|e)$/u.test(next)) return year(digits);
  const before = around.previousWord;
  if (HAPPENED.has(before)) return year(digits);
  if (/^\p{Lu}/u.test(next)) return undefined;
  return value >= 1800 || isYearOfOld(before, next, around) ? year(digits) : undefined;
}

/**
 * Before 1800 more than its place must tell: brackets, † and *, or a word that cannot follow what is counted.
 */
function isYearOfOld(before: string, next: string, { text, start, end }: Around): boolean {
  const mark = text
    .slice(Math.max(0, start - 2), start)
    .trimEnd()
    .slice(-1);
  if (mark === '†' || mark === '*') return true;
  if (mark === '(' && /^(?:\)|,| ?[-–])/.test(text.slice(end, end + 2))) return true;
  return NOT_COUNTED.has(next) && !COUNTING.has(before);
}

function isOne({ number, to, magnitude, fraction }: Quantity): boolean {
  return (
    number.whole === '1' &&
    number.decimals === '' &&
    to === undefined &&
    magnitude === undefined &&
    fraction === undefined
  );
}

/** The numbers of a quantity; a 1 in the gender and case of the noun that follows. */
function amount(quantity: Quantity, noun: Noun | undefined, grammatical: Case): string {
  const { number, to, magnitude, fraction } = quantity;
  const counted = magnitude ?? noun;
  const range = to === undefined ? '' : ` bis ${decimal(to)}`;
  const first =
    fraction === undefined
      ? to === undefined
        ? counting(number, counted, grammatical)
        : beforeRange(number, counted)
      : mixed(number, fraction);
  return `${first}${range}${magnitude === undefined ? '' : ` ${formOf(magnitude, { number, to })}`}`;
}

function counting(number: Numeral, noun: Noun | undefined, grammatical: Case): string {
  if (noun?.gender === undefined || number.whole !== '1' || number.decimals !== '') return decimal(number);
  const article = noun.forms[0] === 'Tausend' ? 'ein' : one(noun.gender, grammatical);
  return `${number.negative ? 'minus ' : ''}${article}`;
}

/** Ein bis zwei Tage, but eins bis zwei where nothing is counted. */
function beforeRange(number: Numeral, counted: unknown): string {
  const one = number.whole === '1' && number.decimals === '' && !number.negative;
  return one && counted !== undefined ? 'ein' : decimal(number);
}

/** Singular of exactly one; a half makes a plural. */
function formOf({ forms }: Noun, quantity: Quantity, dative = false): string {
  if (isOne(quantity)) return forms[0] ?? '';
  return (dative ? forms[2] : undefined) ?? forms[1] ?? forms[0] ?? '';
}

const PARTS: Readonly<Record<string, string>> = {
  '2': 'halb',
  '3': 'Drittel',
  '4': 'Viertel',
  '7': 'Siebtel',
  '100': 'Hundertstel',
  '1000': 'Tausendstel',
};
const LARGEST_PARTS = new Set(['100', '1000']);

function partName(denominator: string): string {
  return PARTS[denominator] ?? `${upper(ordinalStem(denominator))}el`;
}

/** Eineinhalb, zweieinhalb; else drei und drei Viertel. */
function mixed(number: Numeral, { numerator, denominator }: Fraction): string {
  if (numerator === '1' && denominator === '2') {
    const sign = number.negative ? 'minus ' : '';
    return `${number.whole === '1' ? `${sign}ein` : decimal(number)}einhalb`;
  }
  if (numerator === '1' && denominator === '4' && number.whole !== '1') return `${decimal(number)}einviertel`;
  return `${decimal(number)} ${simple({ numerator, denominator })}`;
}

function simple({ numerator, denominator }: Fraction): string {
  const name = partName(denominator);
  if (denominator === '2') return numerator === '1' ? 'ein halb' : `${cardinal(numerator)} Halbe`;
  return numerator === '1' ? `ein ${name}` : `${cardinal(numerator)} ${name}`;
}

/** Ein halber Liter, eine halbe Stunde; two years or editions are read as two numbers. */
function fraction(written: Fraction, around: Around): string | undefined {
  const [numerator, denominator] = [withoutZeros(written.numerator), withoutZeros(written.denominator)];
  const isLarge = Number(denominator) > 100 && !LARGEST_PARTS.has(denominator);
  if (denominator === '1' || isLarge || Number(numerator) > Number(denominator) * 3) {
    return `${cardinal(numerator)} Schrägstrich ${cardinal(denominator)}`;
  }
  const gender = /^\p{Lu}/u.test(around.nextWord) ? genderOf(around.nextWord) : undefined;
  const said = half(written, gender, around) ?? simple({ numerator, denominator });
  return /^-\p{Lu}/u.test(around.text.slice(around.end, around.end + 2)) ? said.replaceAll(' ', '-') : said;
}

const QUARTERS: Readonly<Record<string, string>> = { '1/4': 'Viertelstunde', '3/4': 'Dreiviertelstunde' };

/** Ein halber, eine halbe, einen halben. */
function half(
  { numerator, denominator }: Fraction,
  gender: Noun['gender'],
  around: Around,
): string | undefined {
  if (numerator !== '1' || denominator !== '2' || gender === undefined) return undefined;
  const grammatical = caseOf(around);
  const article = one(gender, grammatical);
  const weak = grammatical === 'dative' || grammatical === 'genitive' || article === 'einen';
  return `${article} halb${weak ? 'en' : gender === 'm' ? 'er' : gender === 'n' ? 'es' : 'e'}`;
}

function fractionOf(written: Fraction, unit: Noun, around: Around): string {
  const quarters = QUARTERS[`${written.numerator}/${written.denominator}`];
  if (quarters !== undefined && unit.forms[0] === 'Stunde') {
    const einer = caseOf(around) === 'dative' ? 'einer' : 'eine';
    return `${einer} ${quarters}`;
  }
  return `${half(written, unit.gender, around) ?? simple(written)} ${unit.forms[0] ?? ''}`;
}

/** Only a one has a case that is heard. */
function caseOfOne({ number }: Quantity, around: Around): Case {
  if (number.whole !== '1') return 'nominative';
  return around.previousWord === 'auf' ? 'accusative' : caseOf(around); // steigt auf einen Euro
}

function withNoun(quantity: Quantity, noun: Noun, around: Around): string {
  const dative = noun.forms[2] !== undefined && takesDativeOfMany(around);
  return `${amount(quantity, noun, caseOfOne(quantity, around))} ${formOf(noun, quantity, dative)}`;
}

/** Drei Euro fünfzig. */
function money(quantity: Quantity, currency: Currency, around: Around): string {
  const { number, to, magnitude } = quantity;
  const { minor } = currency;
  if (minor === undefined || magnitude !== undefined || number.decimals.length !== 2)
    return withNoun(quantity, currency, around);
  const first = majorAndMinor(number, currency, minor, around);
  return to === undefined ? first : `${first} bis ${majorAndMinor(to, currency, minor, around)}`;
}

function majorAndMinor(number: Numeral, currency: Currency, minor: Noun, around: Around): string {
  const major = { ...number, decimals: '' };
  const small = numeralOf(withoutZeros(number.decimals || '0'));
  if (valueOf(small) === 0) return withNoun({ number: major }, currency, around);
  if (valueOf(major) === 0)
    return (number.negative ? 'minus ' : '') + withNoun({ number: small }, minor, around);
  return `${withNoun({ number: major }, currency, around)} ${cardinal(small.whole)}`;
}

function count(quantity: Quantity, around: Around): string {
  const { magnitude, number, to } = quantity;
  if (magnitude !== undefined) return amount(quantity, undefined, caseOfOne(quantity, around));
  if (number.mark === '.' && !/^\p{Lu}\p{Ll}/u.test(around.nextWord)) return pointed(number, to);
  if (to !== undefined) {
    const counted = /^ (?:\p{Ll}+ )?\p{Lu}\p{Ll}|^ \p{Ll}+e[nr]? \p{Lu}/u.test(
      around.text.slice(around.end, around.end + 32),
    );
    return `${beforeRange(number, counted || undefined)} bis ${decimal(to)}`;
  }
  const article =
    isOne(quantity) && !number.negative ? (oneBeforeRange(around) ?? oneBeforeNoun(around)) : undefined;
  return article ?? amount(quantity, undefined, 'nominative');
}

/** 3.5 where a comma parts decimals is not certain to be one: it is said as it is written. */
function pointed(number: Numeral, to: Numeral | undefined): string {
  const said = decimal(number).replace(' Komma ', ' Punkt ');
  return to === undefined ? said : `${said} bis ${decimal(to).replace(' Komma ', ' Punkt ')}`;
}

const RANGE_OF_NOUN = /^ (?:bis|oder) (?:zu )?\d{1,3} (?:\p{Ll}+ )?\p{Lu}\p{Ll}/u;

/** 1 bis 2 Tage */
function oneBeforeRange(around: Around): string | undefined {
  if (
    /^\p{L}/u.test(around.previousWord) &&
    /^(?:von|stufe|klasse|platz|seite|punkt|gleis)$/.test(around.previousWord)
  )
    return undefined;
  return RANGE_OF_NOUN.test(around.text.slice(around.end, around.end + 32)) ? 'ein' : undefined;
}

/** Fünfzehn Uhr dreißig; an hour before "bis" goes without its Uhr. */
function time({ hours, minutes, seconds, word, zone }: WrittenTime): string | undefined {
  const hour = hours === '1' ? 'ein' : cardinal(hours);
  if (word === '' && Number(minutes || '0') === 0) return cardinal(hours);
  const parts = [hour, 'Uhr'];
  if (Number(minutes || '0') > 0) parts.push(cardinal(withoutZeros(minutes)));
  if (seconds !== undefined && Number(seconds) > 0)
    parts.push(
      Number(seconds) === 1 ? 'und eine Sekunde' : `und ${cardinal(withoutZeros(seconds))} Sekunden`,
    );
  if (zone) parts.push(zone);
  return parts.join(' ');
}

const DURATION: Readonly<Record<'h' | 'min' | 's', Noun>> = {
  h: { forms: ['Stunde', 'Stunden'], gender: 'f' },
  min: { forms: ['Minute', 'Minuten'], gender: 'f' },
  s: { forms: ['Sekunde', 'Sekunden'], gender: 'f' },
};

export const SPEECH: Speech = {
  exchange: (from, to) => `${from} zwei ${to}`,
  processor: (brand, series, model) => `${brand} ${cardinal(series)} ${cardinal(model)}`,
  number: (numeral) => decimal(numeral),
  ordinal,
  digits: spellDigits,
  letters: (letters) => Array.from(letters.toUpperCase()).join(' '),
  year: sayYear,
  decade,
  fraction,
  fractionOf,
  count,
  measure: (quantity, unit, around) => withNoun(quantity, unit, around),
  money,
  date,
  time,
  duration: (parts, around) =>
    parts.map(([digits, unit]) => withNoun({ number: numeralOf(digits) }, DURATION[unit], around)).join(' '),
  power: (exponent) => `hoch ${decimal(integerOf(exponent))}`,
  // Bis Dienstag, elften November, behind a day in the same case.
  range: (from, to) =>
    `${from} bis ${/ten \p{Lu}\p{Ll}+/u.test(from) ? to.replace(/(?<=^(?:\p{Lu}\p{Ll}+, )?\p{Ll}+t)er (?=\p{Lu})/u, 'en ') : to}`,
  score: (home, guest) => `${home} zu ${guest}`,
  outOf: (got, most) => `${cardinal(got)} von ${cardinal(most)}`,
  atLeast: (number, noun) => `${number} plus${noun}`,
  telephone: (groups, plus) => (plus ? 'plus ' : '') + groups.map(spellDigits).join(', '),
};
