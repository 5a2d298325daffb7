// Spoken forms of French.
import { tablesOf } from '../../tables/language-tables.js';
import type { Speech } from '../language.js';
import type { Noun, WrittenDate, WrittenTime } from '../quantity.js';
import { integerOf, numeralOf, withoutZeros } from '../numerals.js';
import type { Around } from '../reading.js';
import { withoutCommonNoun } from '../shared-forms.js';
import { count, fractionOf, isRatio, measure, money, sayFraction, withNoun } from './amounts.js';
import { and, isFeminineAhead } from './grammar.js';
import { cardinal, decimal, ordinal, rank, spellDigits } from './numbers.js';

const MONTHS = tablesOf('fr').dates.months.map(([name = '']) => name);

function day(digits: string): string {
  return digits === '1' ? 'premier' : cardinal(digits);
}

function date({ day: first, dayTo, isPair, month, year, style }: WrittenDate): string | undefined {
  if (style === 'numeric' && year === undefined) return undefined;
  const days =
    first === undefined
      ? ''
      : `${day(first)}${dayTo === undefined ? '' : ` ${isPair ? 'et' : 'au'} ${day(dayTo)}`}`;
  const full = year === undefined ? '' : sayYear(year);
  return [days, MONTHS[(month ?? 0) - 1] ?? '', full].filter((part) => part !== '').join(' ');
}

/** Le 8 mai 45: which century it is only its reader knows. */
function sayYear(year: string): string {
  if (year.length === 4 || (Number(year) >= 40 && Number(year) < 70)) return rank(year);
  return rank(Number(year) < 70 ? `20${year}` : `19${year}`);
}

const HOUR: Noun = { forms: ['heure', 'heures'], gender: 'f' };
const MINUTE: Noun = { forms: ['minute', 'minutes'], gender: 'f' };
const SECOND: Noun = { forms: ['seconde', 'secondes'], gender: 'f' };

/** Quatorze heures trente, une heure cinq, vingt et une heures. */
function time({ hours, minutes, seconds, zone }: WrittenTime): string {
  const past = withoutZeros(minutes || '0');
  const parts = [counted(hours, HOUR)];
  if (seconds !== undefined) {
    if (past !== '0') parts.push(counted(past, MINUTE));
    if (Number(seconds) > 0) parts.push(`et ${counted(withoutZeros(seconds), SECOND)}`);
  } else if (past !== '0') parts.push(cardinal(past, true));
  if (zone !== undefined) parts.push(zone);
  return parts.join(' ');
}

function counted(digits: string, noun: Noun): string {
  return withNoun({ number: numeralOf(digits) }, noun);
}

const DURATION: Readonly<Record<'h' | 'min' | 's', Noun>> = { h: HOUR, min: MINUTE, s: SECOND };

const FIRST: Readonly<Record<string, string>> = {
  er: 'premier',
  ers: 'premiers',
  re: 'première',
  ère: 'première',
  res: 'premières',
  ères: 'premières',
};
const SECONDS: Readonly<Record<string, string>> = {
  nd: 'second',
  d: 'second',
  nds: 'seconds',
  nde: 'seconde',
  de: 'seconde',
  ndes: 'secondes',
};

/** La IIe Guerre mondiale has a name of its own. */
function isWorldWar(digits: string, around: Around): boolean {
  return digits === '2' && /^guerre$/i.test(around.nextWord) && /^mondiale$/i.test(around.secondNextWord);
}

/** 1er, 1re, 2e, 2nde, 21e, les 3es: the mark has to fit the number. */
function sayOrdinal(digits: string, mark: string): string | undefined {
  const number = withoutZeros(digits);
  const first = FIRST[mark];
  if (first !== undefined) return number === '1' ? first : undefined;
  const second = SECONDS[mark];
  if (second !== undefined) return number === '2' ? second : undefined;
  if (number === '0') return undefined;
  if (number === '1') return 'premier';
  return `${ordinal(number)}${mark.endsWith('s') ? 's' : ''}`;
}

/** Years are plain numbers; only what is counted has a gender. */
function year(digits: string, around: Around, sure: boolean): string | undefined {
  const value = Number(digits);
  if (sure && value >= 1000 && value < 2100) return rank(digits);
  if (value < 1100 || value > 2099 || around.nextWord.endsWith('s') || isFeminineAhead(around))
    return undefined;
  return rank(digits);
}

/** Pairs of digits as the French dictate them: zéro un, vingt-trois, quarante-cinq. */
function telephone(groups: readonly string[], plus: boolean): string {
  if (!plus && isAmerican(groups))
    return groups.map((group) => (group === '800' ? 'huit cent' : spellDigits(group))).join(', ');
  const parts = groups.length === 1 ? cutNumber(groups[0] ?? '', plus) : groups.flatMap(cutGroup);
  return (plus ? 'plus ' : '') + joinZero(parts).map(sayGroup).join(', ');
}

/** 514-555-1234: in America figure by figure. */
function isAmerican(groups: readonly string[]): boolean {
  return (
    groups.length === 3 &&
    groups.map((group) => group.length).join('') === '334' &&
    !/^[01]/.test(groups[0] ?? '')
  );
}

/** 0 800 is one group. */
function joinZero([first, second, ...rest]: readonly string[]): readonly string[] {
  if (first === undefined || second === undefined) return first === undefined ? [] : [first];
  return first === '0' ? [`0${second}`, ...rest] : [first, second, ...rest];
}

function sayGroup(group: string): string {
  const zeros = /^0*(?=\d)/.exec(group)?.[0] ?? '';
  const rest = group.slice(zeros.length);
  return [...Array.from(zeros, () => 'zéro'), rank(rest)].join(' ');
}

function pairs(digits: string): string[] {
  return digits.match(/\d{1,2}/g) ?? [];
}

function cutGroup(group: string): string[] {
  return group.length <= 3 ? [group] : /^0[1-9]\d\d$/.test(group) ? [group] : pairs(group);
}

/** A number written without spaces: 0612345678, +33612345678. */
function cutNumber(digits: string, plus: boolean): string[] {
  const country = plus ? /^(?:33|32|41|352|212|213|216|221|225|237|1)/.exec(digits)?.[0] : undefined;
  if (country === undefined) return digits.length === 3 ? [digits] : pairs(digits);
  const rest = digits.slice(country.length);
  const odd = rest.length % 2;
  return [country, ...(odd === 1 ? [rest.slice(0, 1)] : []), ...pairs(rest.slice(odd))];
}

/** En 2023-2024, la saison 2023-24: one year that reaches into the next. */
function isSeason({ text, start, end, previousWord }: Around): boolean {
  const [, from = '', to = ''] = /^(\d{4})[-–](\d{2,4})$/.exec(text.slice(start, end)) ?? [];
  return from !== '' && previousWord !== 'entre' && Number(from.slice(-2)) + 1 === Number(to.slice(-2));
}

function range(from: string, to: string, around: Around): string {
  if (isSeason(around)) return `${from} ${to}`;
  if (MONTHS.some((month) => from.includes(` ${month}`)))
    return `${around.previousWord === 'du' ? '' : 'du '}${from} au ${to}`;
  return `${withoutCommonNoun(from, to)} ${and(around)} ${to}`;
}

export const SPEECH: Speech = {
  exchange: (from, to) => `${from} deux ${to}`,
  processor: (brand, series, model) => `${brand} ${cardinal(series)} ${cardinal(model)}`,
  number: (numeral, _around, noun) => decimal(numeral, noun?.gender === 'f'),
  times: (number) => `${decimal(number, true)} fois`,
  ordinal: (digits, around, mark) => (isWorldWar(digits, around) ? 'Seconde' : sayOrdinal(digits, mark)),
  digits: spellDigits,
  letters: (letters) => Array.from(letters.toUpperCase()).join(' '),
  year,
  decade: (digits) => rank(digits),
  fraction: (fraction, around) =>
    isRatio(around)
      ? `${cardinal(withoutZeros(fraction.numerator))} sur ${cardinal(withoutZeros(fraction.denominator))}`
      : sayFraction(fraction, 'alone', isFeminineAhead(around)),
  fractionOf,
  count,
  measure,
  money,
  date,
  time,
  duration: (parts) => parts.map(([digits, unit]) => counted(digits, DURATION[unit])).join(' '),
  power: (exponent) =>
    exponent === '2'
      ? 'au carré'
      : exponent === '3'
        ? 'au cube'
        : `puissance ${decimal(integerOf(exponent))}`,
  range,
  score: (home, guest) => `${home} à ${guest}`,
  outOf: (got, most) => `${cardinal(got)} sur ${cardinal(most)}`,
  atLeast: (number, noun) => `plus de ${number}${noun}`,
  telephone,
};
