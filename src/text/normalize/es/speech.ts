// How Spanish is said, in a way that is right in Spain and in America.
import type { Currency, Fraction, Noun, Quantity, Speech, WrittenDate } from '../language.js';
import { numeralOf, valueOf, withoutZeros, type Numeral } from '../numerals.js';
import { NOWHERE, type Around } from '../reading.js';
import { fraction, fractionOf, parts } from './fractions.js';
import { agreementOf, genderOf, LABELS, rangeWord, standsBeforeNoun } from './grammar.js';
import { cardinal, decimal, inForm, ordinal, shortened, spellDigits, type Agreement } from './numbers.js';
import { clock } from './times.js';

export const MONTH_NAMES =
  'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre'.split(' ');

function isOne({ number, to, magnitude, fraction }: Quantity): boolean {
  if (to !== undefined || magnitude !== undefined || fraction !== undefined) return false;
  return number.whole === '1' && number.decimals === '';
}

/** Veintiún millones, un millón, tres coma cinco millones; thousands count the noun, millions are nouns themselves. */
function multiplied({ number, to, magnitude }: Quantity, agreement: Agreement, around: Around): string {
  const inner =
    magnitude === undefined
      ? agreement
      : magnitude.power % 6 === 3 && agreement === 'f' && number.decimals === ''
        ? 'f'
        : 'm';
  const thousand =
    magnitude?.power === 3 && number.whole === '1' && number.decimals === '' && to === undefined;
  const said = decimal(number, inner);
  const thousands = magnitude?.power === 3 ? said.replace(/veintiuna$/, 'veintiún').replace(/\buna$/, 'un') : said;
  const first = thousand ? (number.negative ? 'menos' : '') : thousands;
  const range = to === undefined ? '' : ` ${rangeWord(around)} ${decimal(to, inner)}`;
  if (magnitude === undefined) return first + range;
  const single = to === undefined && number.whole === '1' && number.decimals === '';
  return `${first}${range} ${magnitude.forms[single ? 0 : 1] ?? ''}`.trimStart();
}

/** Un millón de euros, but un millón quinientos mil euros. */
function takesOf({ number, to, magnitude }: Quantity): boolean {
  if (magnitude !== undefined) return magnitude.power >= 6;
  const last = to ?? number;
  return last.decimals === '' && last.whole.length > 6 && last.whole.endsWith('000000');
}

function withNoun(quantity: Quantity, noun: Noun, around = NOWHERE): string {
  const agreement = noun.form === 'alone' ? 'alone' : noun.gender === 'f' ? 'f' : 'm';
  const name = noun.forms[isOne(quantity) ? 0 : 1] ?? noun.forms[0] ?? '';
  if (quantity.fraction !== undefined) return mixed(quantity.number, quantity.fraction, noun);
  return `${multiplied(quantity, agreement, around)} ${takesOf(quantity) ? 'de ' : ''}${name}`;
}

/** Dos horas y media; tres kilos y un cuarto. */
function mixed(number: Numeral, fraction: Fraction, noun: Noun): string {
  const whole = withNoun({ number }, noun);
  const half = fraction.numerator === '1' && fraction.denominator === '2';
  return `${whole} y ${half ? (noun.gender === 'f' ? 'media' : 'medio') : parts(fraction)}`;
}

function money(quantity: Quantity, currency: Currency, around: Around): string {
  const { number, to, magnitude, fraction } = quantity;
  const { minor } = currency;
  const cents = minor !== undefined && number.decimals.length === 2 && (to?.decimals.length ?? 2) === 2;
  if (!cents || magnitude !== undefined || fraction !== undefined)
    return withNoun(quantity, currency, around);
  const first = majorAndMinor(number, currency, minor);
  return to === undefined ? first : `${first} ${rangeWord(around)} ${majorAndMinor(to, currency, minor)}`;
}

function majorAndMinor(number: Numeral, currency: Currency, minor: Noun): string {
  const sign = number.negative ? 'menos ' : '';
  const [major, cents] = [
    numeralOf(withoutZeros(number.whole)),
    numeralOf(withoutZeros(number.decimals || '0')),
  ];
  const said = [
    valueOf(major) !== 0 || valueOf(cents) === 0 ? withNoun({ number: major }, currency) : '',
    valueOf(cents) === 0 ? '' : withNoun({ number: cents }, minor),
  ];
  return sign + said.filter((part) => part !== '').join(' con ');
}

function count(quantity: Quantity, around: Around): string {
  const { number, to, magnitude, fraction: part } = quantity;
  if (part !== undefined) {
    const half = part.numerator === '1' && part.denominator === '2';
    return `${decimal(number)} y ${half ? (genderOf(around.nextWord) === 'f' && around.nextWord !== '' ? 'media' : 'medio') : parts(part)}`;
  }
  const last = to ?? number;
  const single = last.whole === '1' && last.decimals === '';
  const agreement = agreementOf(single, around);
  return multiplied(quantity, magnitude === undefined ? agreement : agreement === 'f' ? 'f' : 'm', around);
}

function date({ day, dayTo, month, year, style }: WrittenDate, around: Around): string | undefined {
  const name = month === undefined ? '' : (MONTH_NAMES[month - 1] ?? '');
  if (style === 'numeric' && year === undefined) return undefined;
  const written = around.text.slice(around.start, around.end);
  if (/^\d+\.\d+\.\d\d$/.test(written)) return undefined; // 3.10.12 is rather a version
  const full =
    year === undefined ? '' : ` de ${cardinal(withoutZeros(year.length === 2 ? century(year) : year))}`;
  if (day === undefined) return `${name}${full}`;
  const days = dayTo === undefined ? sayDay(day) : `${cardinal(day)} ${rangeWord(around)} ${cardinal(dayTo)}`;
  return `${days} de ${name}${full}`;
}

export function sayDay(day: string): string {
  return day === '1' ? 'primero' : cardinal(day);
}

export function century(two: string): string {
  return Number(two) < 70 ? `20${two}` : `19${two}`;
}

const QUEENS = new Set(
  'isabel catalina juana maría margarita cristina ana sofía beatriz victoria'.split(' '),
);
const GRADED = 10; // a century or king up to here has an ordinal: siglo quinto, siglo veintiuno
const DEGREE_NOUN =
  /^(?:piso|grado|lugar|puesto|premio|día|aniversario|curso|año|semestre|trimestre|bachillerato|primaria|secundaria|básico|ESO|planta|edición|fase|ronda|división|tiempo|izq|dcha)$/i;

/** 20º C and 40º N, but not the door of "Mayor 12, 3º C" and 3.º C. */
function isDegree(around: Around, mark: string): boolean {
  const { text, start, end, previousWord } = around;
  if (!/^[°º]$/.test(mark)) return false;
  if (/^(?:los|unos|casi)$/.test(previousWord) && !standsBeforeNoun(around)) return true; // entre los 12º y los 24º
  const next = text.slice(end, end + 3);
  if (/^[CFK\d]/.test(next)) return true;
  return /^ [CFNSEO](?!\p{L})/u.test(next) && !/\d, ?$/.test(text.slice(Math.max(0, start - 3), start));
}

const BEFORE_RANK = new Set(
  'el la los las mi mis su sus tu tus un una del al esta este esa ese primera es fue'.split(' '),
);

/** La 3a vez, 2o piso, el 2o B; but aula 3a and puerta 2a. */
function isRank(around: Around): boolean {
  if (BEFORE_RANK.has(around.previousWord)) return true;
  return around.previousWord === '' || !LABELS.has(around.previousWord) ? standsBeforeNoun(around) : false;
}

/** Primer piso, tercera planta, Felipe sexto, siglo veintiuno. */
function sayOrdinal(digits: string, around: Around, written: string): string | undefined {
  const mark = written.replace(/\.$/, ''); // 1er. piso
  if (digits.startsWith('0')) return undefined;
  if (isDegree(around, mark)) return undefined;
  if (mark === '°' && !DEGREE_NOUN.test(around.nextWord)) return undefined;
  if (mark === '') return ranked(digits, around);
  if (/^[.]?[oa]s?$/.test(mark) && !isRank(around)) return undefined;
  const base = ordinal(digits);
  if (base === undefined) return undefined;
  if (/(?:ª|as?)$/.test(mark)) return inForm(base, 'f', mark.endsWith('s'));
  const plural = /(?:os)$/.test(mark);
  if (plural) return inForm(base, 'm', true);
  const short = mark.endsWith('r') && !mark.endsWith('dr');
  return short || (standsBeforeNoun(around) && /^\p{Ll}/u.test(around.nextWord)) ? shortened(base) : base;
}

/** Roman: a century, a king or queen, or what stands before its noun (II Guerra Mundial). */
function ranked(digits: string, around: Around): string | undefined {
  const before = around.previousWord;
  const named = before === 'siglo' || before === 'siglos' || /^\p{Lu}/u.test(lastName(around));
  const base = ordinal(digits);
  if (named && Number(digits) > GRADED) return cardinal(digits);
  if (base === undefined) return undefined;
  if (named) return inForm(base, QUEENS.has(before) ? 'f' : 'm', false);
  const noun = around.nextWord;
  const plural = noun.endsWith('s') && !/^(?:crisis|tesis|campus)$/i.test(noun);
  const form = inForm(base, genderOf(noun), plural);
  return plural ? form : shortened(form);
}

/** The word before a Roman numeral, as written, where no noun of an event follows. */
function lastName({ text, start, nextWord }: Around): string {
  const name = /\p{L}+(?= $)/u.exec(text.slice(Math.max(0, start - 24), start))?.[0] ?? '';
  return /^(?:La|El|En|De|Las|Los|Del|Al|Esta|Y)$/.test(name) ||
    /^(?:Guerra|Congreso|Edición|Cumbre)$/.test(nextWord)
    ? ''
    : name;
}

const FIRST_YEAR = 1100;

function sayYear(digits: string, around: Around, sure: boolean): string | undefined {
  const value = Number(digits);
  if (value < FIRST_YEAR || value > 2099) return undefined;
  if (sure || value >= 1900)
    return counts(around) && !/^(?:en|año|años)$/.test(around.previousWord) ? undefined : cardinal(digits);
  return undefined;
}

function counts(around: Around): boolean {
  return /^\p{Ll}{3,}s$/u.test(around.nextWord) && standsBeforeNoun(around);
}

const DURATION: Readonly<Record<'h' | 'min' | 's', Noun>> = {
  h: { forms: ['hora', 'horas'], gender: 'f' },
  min: { forms: ['minuto', 'minutos'], gender: 'm' },
  s: { forms: ['segundo', 'segundos'], gender: 'm' },
};

/** Una hora, dos minutos y tres segundos. */
export function inRow(said: readonly string[]): string {
  const last = said.at(-1) ?? '';
  return said.length < 2 ? last : `${said.slice(0, -1).join(', ')} y ${last}`;
}

export function saySpan(digits: string, unit: 'h' | 'min' | 's'): string {
  return withNoun({ number: numeralOf(digits) }, DURATION[unit]);
}

/** Los 80s, 1980s; else 30s are seconds. */
function sayDecade(digits: string, around: Around): string | undefined {
  if (digits.length === 4) return cardinal(digits);
  if (!/^(?:los|años|década|décadas)$/.test(around.previousWord)) return undefined;
  return TENS[digits] ?? cardinal(digits);
}

const TENS: Readonly<Record<string, string>> = { '00': 'dos mil', '10': 'diez' };

export const SPEECH: Speech = {
  number: (numeral, _around, noun) =>
    decimal(numeral, noun === undefined ? 'alone' : noun.gender === 'f' ? 'f' : 'm'),
  ordinal: sayOrdinal,
  digits: spellDigits,
  letters: (letters) => Array.from(letters.toUpperCase()).join(' '),
  year: sayYear,
  decade: sayDecade,
  fraction,
  fractionOf: (written, unit) => fractionOf(written, unit),
  count,
  measure: (quantity, unit, around) => withNoun(quantity, unit, around),
  money,
  date,
  time: clock,
  duration: (spans) => inRow(spans.map(([digits, unit]) => saySpan(digits, unit))),
  power: (exponent) =>
    exponent === '2' ? 'al cuadrado' : exponent === '3' ? 'al cubo' : `elevado a ${cardinal(exponent)}`,
  range: (from, to, around) => `${from} ${rangeWord(around)} ${to}`,
  score: (home, guest) => `${home} a ${guest}`,
  telephone: (groups, plus) => (plus ? 'más ' : '') + groups.map(spellDigits).join(', '),
};
