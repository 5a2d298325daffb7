// Russian number words in all cases. n2words knows the nominative only, so the words are data here.
import { numeralOf, withoutZeros, type Numeral } from '../numerals.js';
import {
  behindNumber,
  CASES,
  inCase,
  noun,
  pluralOf,
  type Case,
  type Forms,
  type Gender,
} from './declension.js';

/** Agreement of a numeral: gender, plural, or masculine animate (вижу двадцать одного студента). */
export type Agreement = Gender | 'p' | 'living';

function forms(list: string): Forms {
  return list.split(' ');
}

/** Пять, пяти, пятью: like a feminine noun. */
function soft(stem: string, oblique = stem): Forms {
  return forms(`${stem}ь ${oblique}и ${oblique}и ${stem}ь ${stem}ью ${oblique}и`);
}

const ZERO = forms('ноль нуля нулю ноль нулём нуле');
const ONE: Readonly<Record<Agreement, Forms>> = {
  m: forms('один одного одному один одним одном'),
  living: forms('один одного одному одного одним одном'),
  f: forms('одна одной одной одну одной одной'),
  n: forms('одно одного одному одно одним одном'),
  p: forms('одни одних одним одни одними одних'),
};
const TWO = forms('два двух двум два двумя двух');
const SMALL: readonly Forms[] = [
  ZERO,
  ONE.m,
  TWO,
  forms('три трёх трём три тремя трёх'),
  forms('четыре четырёх четырём четыре четырьмя четырёх'),
  soft('пят'),
  soft('шест'),
  soft('сем'),
  soft('восем', 'восьм'),
  soft('девят'),
  soft('десят'),
  ...'один две три четыр пят шест сем восем девят'.split(' ').map((stem) => soft(`${stem}надцат`)),
];
const TENS: readonly Forms[] = [
  [],
  [],
  soft('двадцат'),
  soft('тридцат'),
  forms('сорок сорока сорока сорок сорока сорока'),
  ...[5, 6, 7, 8].map((unit) => compound(unit, 'десят', 'десяти', 'десяти', 'десятью', 'десяти')),
  forms('девяносто девяноста девяноста девяносто девяноста девяноста'),
];
const HUNDREDS: readonly Forms[] = [
  [],
  forms('сто ста ста сто ста ста'),
  forms('двести двухсот двумстам двести двумястами двухстах'),
  forms('триста трёхсот трёмстам триста тремястами трёхстах'),
  forms('четыреста четырёхсот четырёмстам четыреста четырьмястами четырёхстах'),
  ...[5, 6, 7, 8, 9].map((unit) => compound(unit, 'сот', 'сот', 'стам', 'стами', 'стах')),
];

/** Both parts decline: пятьдесят, пятидесяти, пятьюдесятью. */
function compound(
  unit: number,
  named: string,
  genitive: string,
  dative: string,
  instrumental: string,
  prepositional: string,
): Forms {
  const ends = [named, genitive, dative, named, instrumental, prepositional];
  return ends.map((end, index) => `${SMALL[unit]?.[index] ?? ''}${end}`);
}

const SCALES = [
  noun('f тысяча тысячи тысяч'),
  ...`миллион миллиард триллион квадриллион квинтиллион секстиллион септиллион октиллион нониллион дециллион ундециллион дуодециллион
     тредециллион кваттуордециллион квиндециллион сексдециллион септендециллион октодециллион новемдециллион вигинтиллион`
    .split(/\s+/)
    .map((name) => noun(`m ${name} ${name}а ${name}ов`)),
];

/** 1 to 999. */
function group(value: number, grammatical: Case, gender: Agreement): string[] {
  const words: string[] = [];
  if (value >= 100) words.push(inCase(HUNDREDS[Math.floor(value / 100)] ?? [], grammatical));
  const rest = value % 100;
  if (rest >= 20) words.push(inCase(TENS[Math.floor(rest / 10)] ?? [], grammatical));
  const small = rest < 20 ? rest : rest % 10;
  if (small > 0) words.push(smallWord(small, grammatical, gender));
  return words;
}

function smallWord(value: number, grammatical: Case, gender: Agreement): string {
  if (value === 1) return inCase(ONE[gender], grammatical);
  const direct = grammatical === 'nominative' || grammatical === 'accusative';
  if (value === 2 && gender === 'f' && direct) return 'две';
  return inCase(SMALL[value] ?? [], grammatical);
}

/** Values of three digits each, the last first. */
function groupsOf(number: string): number[] {
  const values: number[] = [];
  for (let end = number.length; end > 0; end -= 3)
    values.push(Number(number.slice(Math.max(0, end - 3), end)));
  return values;
}

export function cardinal(digits: string, grammatical: Case = 'nominative', gender: Agreement = 'm'): string {
  const number = withoutZeros(digits);
  if (number === '0') return inCase(ZERO, grammatical);
  const words: string[] = [];
  const values = groupsOf(number);
  for (const [index, value] of [...values.entries()].toReversed()) {
    if (value === 0) continue;
    const scale = SCALES[index - 1];
    const bare = index === 1 && value === 1 && words.length === 0; // тысяча пятьсот, but миллион одна тысяча
    if (!bare) words.push(...group(value, grammatical, scale?.gender ?? gender));
    if (scale !== undefined) words.push(behindNumber(scale, String(value), grammatical));
  }
  return words.join(' ');
}

const ORDINAL_SMALL =
  `нулев перв втор трет четвёрт пят шест седьм восьм девят десят одиннадцат двенадцат тринадцат четырнадцат пятнадцат
  шестнадцат семнадцат восемнадцат девятнадцат`.split(/\s+/);
const ORDINAL_TENS = [
  '',
  '',
  'двадцат',
  'тридцат',
  'сороков',
  'пятидесят',
  'шестидесят',
  'семидесят',
  'восьмидесят',
  'девяност',
];
const ORDINAL_HUNDREDS = [
  '',
  'сот',
  'двухсот',
  'трёхсот',
  'четырёхсот',
  'пятисот',
  'шестисот',
  'семисот',
  'восьмисот',
  'девятисот',
];
const ENDINGS: Readonly<Record<Agreement, Forms>> = {
  m: forms('ый ого ому ый ым ом'),
  f: forms('ая ой ой ую ой ой'),
  n: forms('ое ого ому ое ым ом'),
  p: forms('ые ых ым ые ыми ых'),
  living: forms('ый ого ому ого ым ом'),
};
const STRESSED = new Set(['нулев', 'втор', 'шест', 'седьм', 'восьм', 'сороков']); // второй, not вторый
const THIRD: Readonly<Record<Agreement, Forms>> = {
  m: forms('ий ьего ьему ий ьим ьем'),
  f: forms('ья ьей ьей ью ьей ьей'),
  n: forms('ье ьего ьему ье ьим ьем'),
  p: forms('ьи ьих ьим ьи ьими ьих'),
  living: forms('ий ьего ьему ьего ьим ьем'),
};

/** Only the last word declines: две тысячи двадцать четвёртого. */
export function ordinal(
  digits: string,
  grammatical: Case = 'nominative',
  agreement: Agreement = 'm',
): string {
  const number = withoutZeros(digits);
  const { before, stem } = ordinalParts(number);
  const lead = before === '0' ? '' : `${cardinal(before)} `;
  return lead + stem + ordinalEnding(stem, grammatical, agreement);
}

function ordinalEnding(stem: string, grammatical: Case, agreement: Agreement): string {
  if (stem === 'трет') return inCase(THIRD[agreement], grammatical);
  const ending = inCase(ENDINGS[agreement], grammatical);
  return STRESSED.has(stem) && ending === 'ый' ? 'ой' : ending;
}

/** The number that is said as a cardinal, and the stem of what is left. */
function ordinalParts(number: string): { before: string; stem: string } {
  const [last = 0, ...higher] = groupsOf(number);
  const cut = (value: number | string): string => String(BigInt(number) - BigInt(value));
  if (last > 0 || number === '0') {
    const rest = last % 100;
    if (rest === 0 && last > 0) return { before: cut(last), stem: ORDINAL_HUNDREDS[last / 100] ?? '' };
    if (rest < 20) return { before: cut(rest), stem: ORDINAL_SMALL[rest] ?? '' };
    const unit = rest % 10;
    if (unit > 0) return { before: cut(unit), stem: ORDINAL_SMALL[unit] ?? '' };
    return { before: cut(rest), stem: ORDINAL_TENS[rest / 10] ?? '' };
  }
  const power = higher.findIndex((value) => value > 0);
  const value = higher[power] ?? 0;
  const scale = power === 0 ? 'тысячн' : `${inCase(SCALES[power]?.forms ?? [], 'nominative')}н`;
  const zeros = '000'.repeat(power + 1);
  return { before: cut(`${value}${zeros}`), stem: (value === 1 ? '' : prefix(String(value))) + scale };
}

/** As the first part of a word: двух(летний), двадцатипяти(тысячный), сто(метровый); up to 9999. */
export function prefix(digits: string): string {
  const [last = 0, thousands = 0] = groupsOf(withoutZeros(digits));
  const lead = thousands === 0 ? '' : `${thousands === 1 ? '' : prefix(String(thousands))}тысяче`;
  if (last === 0) return lead;
  const hundred = Math.floor(last / 100);
  const parts = [lead, hundred === 1 ? 'сто' : inCase(HUNDREDS[hundred] ?? [], 'genitive')];
  const rest = last % 100;
  if (rest >= 20)
    parts.push(rest >= 90 ? 'девяносто' : inCase(TENS[Math.floor(rest / 10)] ?? [], 'genitive'));
  const small = rest < 20 ? rest : rest % 10;
  if (small === 1) parts.push('одно');
  else if (small > 1) parts.push(inCase(SMALL[small] ?? [], 'genitive'));
  return parts.join('');
}

const FRACTIONS = ['', 'десят', 'сот', 'тысячн', 'десятитысячн', 'стотысячн', 'миллионн'];
const WHOLE_FEW = forms('целых целых целым целых целыми целых');
const WHOLE_ONE = forms('целая целой целой целую целой целой');

/** Три целых пять десятых; more digits than have a name are said one by one. */
export function decimal(numeral: Numeral, grammatical: Case = 'nominative', gender: Agreement = 'm'): string {
  const { negative, whole, decimals } = numeral;
  const sign = negative ? 'минус ' : '';
  if (decimals === '') return sign + cardinal(whole, grammatical, gender);
  const part = FRACTIONS[decimals.length];
  if (part === undefined) return `${sign}${cardinal(whole)} запятая ${spellDigits(decimals)}`;
  const name = inCase(isOne(whole) ? WHOLE_ONE : WHOLE_FEW, grammatical);
  return `${sign}${cardinal(whole, grammatical, 'f')} ${name} ${partOf(decimals, part, grammatical)}`;
}

/** Пять десятых, одна сотая. */
function partOf(numerator: string, stem: string, grammatical: Case = 'nominative'): string {
  const number = withoutZeros(numerator);
  const direct = grammatical === 'nominative' || grammatical === 'accusative';
  const ending = isOne(number)
    ? ordinalEnding(stem, grammatical, 'f')
    : ordinalEnding(stem, direct ? 'genitive' : grammatical, 'p');
  return `${cardinal(number, grammatical, 'f')} ${stem}${ending}`;
}

/** Одна пятая, три восьмых, две двадцать первых. */
export function fractionWords(
  numerator: string,
  denominator: string,
  grammatical: Case = 'nominative',
): string {
  const { before, stem } = ordinalParts(withoutZeros(denominator));
  if (before === '0') return partOf(numerator, stem, grammatical);
  const said = partOf(numerator, stem, grammatical).split(' ');
  return [...said.slice(0, -1), cardinal(before), said.at(-1) ?? ''].join(' ');
}

function isOne(whole: string): boolean {
  return /(?:^|[^1])1$/.test(whole);
}

const DIGITS = 'ноль один два три четыре пять шесть семь восемь девять'.split(' ');

export function spellDigits(digits: string): string {
  return Array.from(digits, (digit) => DIGITS[Number(digit)] ?? digit).join(' ');
}

/** A group of digits as one number, its zeros in front by name: 05 ноль пять. */
export function sayGroup(group: string): string {
  if (/^0+$/.test(group)) return spellDigits(group);
  const zeros = /^0*/.exec(group)?.[0] ?? '';
  return [...Array.from(zeros, () => 'ноль'), decimal(numeralOf(group.slice(zeros.length)))].join(' ');
}

const COLLECTIVE = [
  '',
  '',
  'двое',
  'трое',
  'четверо',
  'пятеро',
  'шестеро',
  'семеро',
  'восьмеро',
  'девятеро',
  'десятеро',
];

/** Двое суток, двадцать двое суток: nominative and accusative only. */
export function collective(digits: string): string | undefined {
  const unit = Number(digits.slice(-1));
  const word = COLLECTIVE[unit];
  if (!word || pluralOf(digits) !== 'few') return undefined;
  return digits.length === 1 ? word : `${cardinal(String(BigInt(digits) - BigInt(unit)))} ${word}`;
}

/** 4-ро */
export function together(digits: string): string | undefined {
  return COLLECTIVE[Number(digits)] || undefined;
}

export function isCase(name: string): name is Case {
  return (CASES as readonly string[]).includes(name);
}
