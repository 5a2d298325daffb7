// How Portuguese is said, as in Brazil.
import type { Currency, Fraction, Noun, Quantity, Speech, WrittenDate } from '../language.js';
import { numeralOf, valueOf, withoutZeros, type Numeral } from '../numerals.js';
import { NOWHERE, type Around } from '../reading.js';
import { fraction, fractionOf, parts } from './fractions.js';
import { agreementOf, genderOf, LABELS, rangeWord, standsBeforeNoun } from './grammar.js';
import { cardinal, decimal, inForm, ordinal, spellDigits, type Gender } from './numbers.js';
import { clock } from './times.js';

export const MONTH_NAMES =
  'janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro'.split(' ');

function isOne({ number, to, magnitude, fraction }: Quantity): boolean {
  if (to !== undefined || magnitude !== undefined || fraction !== undefined) return false;
  return number.whole === '1' && number.decimals === '';
}

/** Duas mil pessoas, dois milhões de pessoas: thousands count the noun, millions are nouns themselves. */
function multiplied({ number, to, magnitude }: Quantity, gender: Gender, around: Around): string {
  const inner = magnitude === undefined || (magnitude.power === 3 && number.decimals === '') ? gender : 'm';
  const single = to === undefined && number.whole === '1' && number.decimals === '';
  const first = single && magnitude?.power === 3 ? (number.negative ? 'menos' : '') : decimal(number, inner);
  const range = to === undefined ? '' : ` ${rangeWord(around)} ${decimal(to, inner)}`;
  if (magnitude === undefined) return first + range;
  // In Portuguese what is below two is singular: 1,5 milhão.
  const below = to === undefined && Number(number.whole) < 2;
  return `${first}${range} ${magnitude.forms[below ? 0 : 1] ?? ''}`.trimStart();
}

/** Um milhão de reais, but um milhão e quinhentos mil reais. */
function takesOf({ number, to, magnitude }: Quantity): boolean {
  if (magnitude !== undefined) return magnitude.power >= 6;
  const last = to ?? number;
  return last.decimals === '' && last.whole.length > 6 && last.whole.endsWith('000000');
}

function withNoun(quantity: Quantity, noun: Noun, around = NOWHERE): string {
  const name = noun.forms[isOne(quantity) || isBelowTwo(quantity) ? 0 : 1] ?? noun.forms[0] ?? '';
  if (quantity.fraction !== undefined) return mixed(quantity.number, quantity.fraction, noun);
  return `${multiplied(quantity, noun.gender === 'f' ? 'f' : 'm', around)} ${takesOf(quantity) ? 'de ' : ''}${name}`;
}

/** 1,5 litro, 0,5 grau. */
function isBelowTwo({ number, to, magnitude }: Quantity): boolean {
  return to === undefined && magnitude === undefined && number.decimals !== '' && Number(number.whole) < 2;
}

/** Duas horas e meia; três quilos e um quarto. */
function mixed(number: Numeral, fraction: Fraction, noun: Noun): string {
  const half = fraction.numerator === '1' && fraction.denominator === '2';
  return `${withNoun({ number }, noun)} e ${half ? (noun.gender === 'f' ? 'meia' : 'meio') : parts(fraction)}`;
}

function money(quantity: Quantity, currency: Currency, around: Around): string {
  const { number, to, magnitude, fraction: part } = quantity;
  const { minor } = currency;
  const cents = minor !== undefined && number.decimals.length === 2 && (to?.decimals.length ?? 2) === 2;
  if (!cents || magnitude !== undefined || part !== undefined) return withNoun(quantity, currency, around);
  const first = majorAndMinor(number, currency, minor);
  return to === undefined ? first : `${first} ${rangeWord(around)} ${majorAndMinor(to, currency, minor)}`;
}

function majorAndMinor(number: Numeral, currency: Currency, minor: Noun): string {
  const [major, cents] = [
    numeralOf(withoutZeros(number.whole)),
    numeralOf(withoutZeros(number.decimals || '0')),
  ];
  const said = [
    valueOf(major) !== 0 || valueOf(cents) === 0 ? withNoun({ number: major }, currency) : '',
    valueOf(cents) === 0 ? '' : withNoun({ number: cents }, minor),
  ];
  return (number.negative ? 'menos ' : '') + said.filter((part) => part !== '').join(' e ');
}

function count(quantity: Quantity, around: Around): string {
  const { number, to, fraction: part } = quantity;
  if (part !== undefined) {
    const half = part.numerator === '1' && part.denominator === '2';
    return `${decimal(number)} e ${half ? (around.nextWord !== '' && genderOf(around.nextWord) === 'f' ? 'meia' : 'meio') : parts(part)}`;
  }
  const last = to ?? number;
  const one = last.decimals === '' ? last.whole === '1' : Number(last.whole) < 2 && !around.nextWord.endsWith('s');
  return multiplied(quantity, agreementOf(one, around), around);
}

function date({ day, dayTo, month, year, style }: WrittenDate, around: Around): string | undefined {
  const name = month === undefined ? '' : (MONTH_NAMES[month - 1] ?? '');
  if (style === 'numeric' && year === undefined) return undefined;
  if (/^\d+\.\d+\.\d\d$/.test(around.text.slice(around.start, around.end))) return undefined; // rather a version
  const full = year === undefined ? '' : ` de ${cardinal(fullYear(year))}`;
  if (day === undefined) return `${name}${full}`;
  const days = dayTo === undefined ? sayDay(day) : `${cardinal(day)} ${rangeWord(around)} ${cardinal(dayTo)}`;
  return `${days} de ${name}${full}`;
}

export function sayDay(day: string): string {
  return day === '1' ? 'primeiro' : cardinal(day);
}

/** 24 is 2024, 85 is 1985. */
export function fullYear(written: string): string {
  if (written.length !== 2) return withoutZeros(written);
  return Number(written) < 70 ? `20${written}` : `19${written}`;
}

const QUEENS = new Set(
  'isabel elizabeth catarina maria margarida cristina ana beatriz vitória leopoldina'.split(' '),
);
const GRADED = 10; // up to here a century or king has an ordinal: século quinto, século vinte e um
const DEGREE_NOUN =
  /^(?:andar|grau|lugar|colocado|prêmio|prémio|dia|aniversário|ano|semestre|trimestre|bimestre|período|turno|edição|fase|rodada|divisão|tempo|via|distrito|batalhão)$/i;

const BEFORE_RANK = new Set(
  'o a os as do da no na ao à um uma meu minha seu sua este esta esse essa pela pelo é foi'.split(' '),
);

/** A 3a vez, 2o andar, o 2o B; but sala 3a and porta 2a. */
function isRank(around: Around): boolean {
  if (BEFORE_RANK.has(around.previousWord)) return true;
  return LABELS.has(around.previousWord) ? false : standsBeforeNoun(around);
}

/** Primeiro andar, terceira fila, Pedro segundo, século vinte e um. */
function sayOrdinal(digits: string, around: Around, written: string): string | undefined {
  const mark = written.replace(/\.$/, ''); // 1º. andar
  if (digits.startsWith('0')) return undefined;
  if (mark === '') return ranked(digits, around);
  const rest = around.text.slice(around.end, around.end + 3);
  if (/[°º]$/.test(mark) && (/^[CFK\d]/.test(rest) || /^ [CFNSEO](?!\p{L})/u.test(rest))) return undefined;
  if (/^[°º]$/.test(mark) && /^(?:os|uns|quase)$/.test(around.previousWord) && !standsBeforeNoun(around))
    return undefined; // entre os 12º e os 24º
  if (mark === '°' && !DEGREE_NOUN.test(around.nextWord)) return undefined;
  if (/^[oa]s?$/.test(mark) && !isRank(around)) return undefined;
  const base = ordinal(digits);
  return base && inForm(base, /(?:ªs?|as?)$/.test(mark) ? 'f' : 'm', mark.endsWith('s'));
}

/** Roman: a century, a king or queen, or what stands before its noun (II Guerra Mundial). */
function ranked(digits: string, around: Around): string | undefined {
  const { text, start, nextWord, previousWord } = around;
  const name = /\p{L}+(?= $)/u.exec(text.slice(Math.max(0, start - 24), start))?.[0] ?? '';
  const event =
    /^(?:Guerra|Congresso|Edição|Encontro|Cúpula)$/.test(nextWord) ||
    /^(?:A|O|Na|No|Da|Do|As|Os|Em)$/.test(name);
  const named = !event && (/^séculos?$/.test(previousWord) || /^\p{Lu}/u.test(name));
  const base = ordinal(digits);
  if (named && Number(digits) > GRADED) return cardinal(digits);
  if (base === undefined) return undefined;
  if (named) return inForm(base, QUEENS.has(previousWord) ? 'f' : 'm', false);
  return inForm(base, genderOf(nextWord), nextWord.endsWith('s'));
}

function sayYear(digits: string, around: Around, sure: boolean): string | undefined {
  const value = Number(digits);
  if (value < 1100 || value > 2099 || (!sure && value < 1900)) return undefined;
  const counts = /^\p{Ll}{3,}s$/u.test(around.nextWord) && standsBeforeNoun(around);
  return counts && !/^(?:em|ano|anos)$/.test(around.previousWord) ? undefined : cardinal(digits);
}

/** Os anos 80s; else 30s are seconds. */
function sayDecade(digits: string, around: Around): string | undefined {
  const named = digits.length === 4 || /^(?:os|anos|década|décadas)$/.test(around.previousWord);
  return named ? cardinal(digits === '00' ? '2000' : digits) : undefined;
}

const DURATION: Readonly<Record<'h' | 'min' | 's', Noun>> = {
  h: { forms: ['hora', 'horas'], gender: 'f' },
  min: { forms: ['minuto', 'minutos'], gender: 'm' },
  s: { forms: ['segundo', 'segundos'], gender: 'm' },
};

/** Uma hora, dois minutos e três segundos. */
function inRow(said: readonly string[]): string {
  const last = said.at(-1) ?? '';
  return said.length < 2 ? last : `${said.slice(0, -1).join(', ')} e ${last}`;
}

export const SPEECH: Speech = {
  number: (numeral, _around, noun) => decimal(numeral, noun?.gender === 'f' ? 'f' : 'm'),
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
  duration: (spans) =>
    inRow(spans.map(([digits, unit]) => withNoun({ number: numeralOf(digits) }, DURATION[unit]))),
  power: (exponent) =>
    exponent === '2' ? 'ao quadrado' : exponent === '3' ? 'ao cubo' : `elevado a ${cardinal(exponent)}`,
  range: (from, to, around) => `${from} ${rangeWord(around)} ${to}`,
  score: (home, guest) => `${home} a ${guest}`,
  telephone: (groups, plus) => (plus ? 'mais ' : '') + groups.map(spellDigits).join(', '),
};
