// How German is said.
import type { Currency, Fraction, Noun, Quantity, Speech, WrittenDate, WrittenTime } from '../language.js';
import { numeralOf, valueOf, withoutZeros, type Numeral } from '../numerals.js';
import type { Around } from '../reading.js';
import { asksForOrdinal, caseOf, genderOf, one, oneBeforeNoun, ordinalEnding, type Case } from './grammar.js';
import { cardinal, decade, decimal, ordinalStem, spellDigits, year } from './numbers.js';

const MONTH_NAMES =
  'Januar Februar März April Mai Juni Juli August September Oktober November Dezember'.split(' ');

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
      ? counting(number, to === undefined ? counted : undefined, grammatical)
      : mixed(number, fraction);
  return `${first}${range}${magnitude === undefined ? '' : ` ${formOf(magnitude, { number, ...(to && { to }) })}`}`;
}

function counting(number: Numeral, noun: Noun | undefined, grammatical: Case): string {
  if (noun?.gender === undefined || number.whole !== '1' || number.decimals !== '') return decimal(number);
  const article = noun.forms[0] === 'Tausend' ? 'ein' : one(noun.gender, grammatical);
  return `${number.negative ? 'minus ' : ''}${article}`;
}

/** Singular of exactly one; a half makes a plural. */
function formOf({ forms }: Noun, quantity: Quantity): string {
  return forms[isOne(quantity) ? 0 : 1] ?? forms[0] ?? '';
}

const PARTS: Readonly<Record<string, string>> = { '2': 'halb', '3': 'Drittel', '4': 'Viertel' };

function partName(denominator: string): string {
  return PARTS[denominator] ?? `${upper(ordinalStem(denominator))}el`;
}

function upper(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

/** Eineinhalb, zweieinhalb; else drei und drei Viertel. */
function mixed(number: Numeral, { numerator, denominator }: Fraction): string {
  if (numerator === '1' && denominator === '2') {
    return `${number.whole === '1' ? 'ein' : decimal(number)}einhalb`;
  }
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
  if (denominator === '1' || Number(denominator) > 100 || Number(numerator) > Number(denominator) * 3) {
    return `${cardinal(numerator)} Schrägstrich ${cardinal(denominator)}`;
  }
  const gender = /^\p{Lu}/u.test(around.nextWord) ? genderOf(around.nextWord) : undefined;
  return half(written, gender, around) ?? simple({ numerator, denominator });
}

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
  return `${half(written, unit.gender, around) ?? simple(written)} ${unit.forms[0] ?? ''}`;
}

function withNoun(quantity: Quantity, noun: Noun, around: Around): string {
  return `${amount(quantity, noun, caseOf(around))} ${formOf(noun, quantity)}`;
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
  const { magnitude, number } = quantity;
  if (magnitude !== undefined) return amount(quantity, undefined, caseOf(around));
  const article = isOne(quantity) && !number.negative ? oneBeforeNoun(around) : undefined;
  return article ?? amount(quantity, undefined, 'nominative');
}

function ordinalWord(digits: string, ending: string): string {
  return `${ordinalStem(digits)}${ending}`;
}

const PLACED =
  /^(?:FC|Bundesliga|Liga|Weltkrieg|Klasse|Stock|Etage|Platz|Rang|Quartal|Kapitel|Auflage|Runde|Mannschaft|Tag|Advent|Semester|Geburtstag|Jahrhundert|Halbzeit|Spieltag|Akt|Satz|Preis|Hälfte|Schritt|Versuch)/;
const PREPOSITION = /^(?:ab|bis|seit|in|von|nach|vor|für|mit)$/;
const AND = /^(?:und|bis|oder|u)$/;

/** Before a noun, or behind an article or "am": dritte, dritten, dritter, drittes. */
function ordinal(digits: string, around: Around, mark: string): string | undefined {
  const before = around.previousWord;
  if (digits.startsWith('0')) return undefined;
  if (mark === '' || isKing(around)) return king(digits, around);
  const next = around.nextWord;
  const follows = /^\p{L}/u.test(next) && /^\s/.test(around.text.slice(around.end, around.end + 1));
  if (!follows)
    return asksForOrdinal(before) && isEndOrMark(around)
      ? ordinalWord(digits, ordinalEnding(before, undefined))
      : undefined;
  if (AND.test(next) || AND.test(before)) return inRow(digits, around);
  // "Wir sind 3. Danach ..." ends with a number; what asks for an ordinal is an article, or the noun.
  if (!asksForOrdinal(before) && !PLACED.test(next) && !(digits.length < 3 && PREPOSITION.test(before)))
    return undefined;
  const noun = /^\p{Lu}/u.test(next) ? next : around.secondNextWord;
  return ordinalWord(digits, ordinalEnding(before, genderOf(noun)));
}

function isEndOrMark({ text, end }: Around): boolean {
  return (
    /^(?:["'”“»)]|\s|,|;|$)/.test(text.slice(end, end + 1)) && !/^\s+\p{N}/u.test(text.slice(end, end + 4))
  );
}

/** Der 1. und 2. Platz, vom 1. bis 3. Mai: both end alike. */
function inRow(digits: string, around: Around): string | undefined {
  const row = /(?:(\p{L}+)\s+)?\d{1,4}\.\s+(?:und|bis|oder|u\.)\s+$/u.exec(
    around.text.slice(Math.max(0, around.start - 48), around.start),
  );
  const before = row === null ? around.previousWord : (row[1] ?? '').toLowerCase();
  const ending = ordinalEnding(before, row === null ? undefined : genderOf(around.nextWord));
  if (row === null && !asksForOrdinal(before) && !/^(?:bis|ab|seit)$/.test(before)) return undefined;
  return ordinalWord(digits, ending);
}

const ROYAL =
  /(?:Ludwig|Heinrich|Friedrich|Wilhelm|Karl|Otto|Johannes|Paul|Benedikt|Pius|Leo|Gregor|Franz|Joseph|Elisabeth|Katharina|Georg|Philipp|Napoleon|Nikolaus)(s?)\s+$/;

function isKing(around: Around): boolean {
  return (
    /^[IVXLC]/.test(around.text.slice(around.start, around.end)) &&
    ROYAL.test(around.text.slice(Math.max(0, around.start - 20), around.start))
  );
}

/** Ludwig der Vierzehnte, Ludwigs des Vierzehnten, mit Ludwig dem Vierzehnten, Elisabeth die Zweite. */
function king(digits: string, around: Around): string {
  const name = around.previousWord;
  const [woman, owned] = [
    /^(?:elisabeth|katharina|margarethe)/.test(name),
    name.endsWith('s') && !/^(?:johannes|pius|nikolaus)$/.test(name),
  ];
  const before = around.secondPreviousWord;
  if (owned) return `${woman ? 'der' : 'des'} ${upper(ordinalWord(digits, 'en'))}`;
  if (/^(?:mit|von|unter|bei|nach|vor|zu)$/.test(before))
    return `${woman ? 'der' : 'dem'} ${upper(ordinalWord(digits, 'en'))}`;
  return `${woman ? 'die' : 'der'} ${upper(ordinalWord(digits, 'e'))}`;
}

function date({ day, dayTo, month, year: written, style }: WrittenDate, around: Around): string | undefined {
  const name = month === undefined ? '' : (MONTH_NAMES[month - 1] ?? '');
  const full = written === undefined ? '' : ` ${year(written.length === 2 ? century(written) : written)}`;
  if (day === undefined) return `${name}${full}`;
  const text = around.text.slice(around.start, around.end);
  if (style === 'name' && !/^\d{1,2}\./.test(text)) return undefined;
  const before = around.previousWord;
  const ofDay = /(?:^|\s)[AaVv][mo]m?\s+\p{L}{2,10}\.?,\s*$/u; // am Dienstag, (dem) fünften März
  const weekday = ofDay.test(around.text.slice(Math.max(0, around.start - 20), around.start));
  const ending = weekday ? 'en' : ordinalEnding(AND.test(before) && before !== 'bis' ? '' : before, 'm');
  const days =
    dayTo === undefined
      ? ordinalWord(day, ending)
      : `${ordinalWord(day, ending)} bis ${ordinalWord(dayTo, ending)}`;
  return `${days} ${name}${full}`;
}

function century(two: string): string {
  return Number(two) < 70 ? `20${two}` : `19${two}`;
}

/** Fünfzehn Uhr dreißig; an hour before "bis" goes without its Uhr. */
function time({ hours, minutes, seconds, word, zone }: WrittenTime): string | undefined {
  const hour = hours === '1' ? 'ein' : cardinal(hours);
  if (word === '' && Number(minutes || '0') === 0) return cardinal(hours);
  const parts = [hour, 'Uhr'];
  if (Number(minutes || '0') > 0) parts.push(cardinal(withoutZeros(minutes)));
  if (seconds !== undefined && Number(seconds) > 0)
    parts.push(`und ${cardinal(withoutZeros(seconds))} Sekunden`);
  if (zone) parts.push(zone);
  return parts.join(' ');
}

const DURATION: Readonly<Record<'h' | 'min' | 's', Noun>> = {
  h: { forms: ['Stunde', 'Stunden'], gender: 'f' },
  min: { forms: ['Minute', 'Minuten'], gender: 'f' },
  s: { forms: ['Sekunde', 'Sekunden'], gender: 'f' },
};

/** A year stands behind "im Jahr", "seit" and the like, or alone; "1999 Menschen" counts. */
function sayYear(digits: string, around: Around, sure: boolean): string | undefined {
  const value = Number(digits);
  if (value < 1100 || value > 2099) return undefined;
  if (sure && !/^\p{Lu}\p{Ll}+(?:en|er|e)$/u.test(around.nextWord)) return year(digits);
  return value >= 1800 && !/^\p{Lu}/u.test(around.nextWord) ? year(digits) : undefined;
}

export const SPEECH: Speech = {
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
  power: (exponent) => `hoch ${cardinal(exponent)}`,
  range: (from, to) => `${from} bis ${to}`,
  score: (home, guest) => `${home} zu ${guest}`,
  telephone: (groups, plus) => (plus ? 'plus ' : '') + groups.map(spellDigits).join(', '),
};
