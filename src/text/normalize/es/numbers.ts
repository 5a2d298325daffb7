// Spanish number words. Own data: n2words 4.0 writes "dieciseis", knows no gender and says 1 500 000 000
// wrongly.
import { keptWords } from '../number-words.js';
import type { Numeral } from '../numerals.js';

export type Gender = 'm' | 'f';

/** Agreement of a number: alone, before a masculine noun (veintiún), before a feminine noun (veintiuna). */
export type Agreement = 'alone' | Gender;

const SMALL =
  `cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho
  diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho veintinueve`.split(
    /\s+/,
  );
const TENS = '- - - treinta cuarenta cincuenta sesenta setenta ochenta noventa'.split(' ');
const HUNDREDS =
  '- ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos novecientos'.split(
    ' ',
  );
const MILLIONS = 'm b tr cuatr quint sext sept oct non dec'.split(' ').map((stem) => `${stem}ill`);
const DIGITS = SMALL.slice(0, 10);

const ONE: Readonly<Record<Agreement, readonly [one: string, twentyOne: string]>> = {
  alone: ['uno', 'veintiuno'],
  m: ['un', 'veintiún'],
  f: ['una', 'veintiuna'],
};

function belowHundred(value: number, agreement: Agreement): string {
  if (value === 1) return ONE[agreement][0];
  if (value === 21) return ONE[agreement][1];
  if (value < 30) return SMALL[value] ?? '';
  const tens = TENS[Math.floor(value / 10)] ?? '';
  return value % 10 === 0 ? tens : `${tens} y ${belowHundred(value % 10, agreement)}`;
}

function belowThousand(value: number, agreement: Agreement): string {
  if (value === 100) return 'cien';
  if (value < 100) return belowHundred(value, agreement);
  const hundreds = HUNDREDS[Math.floor(value / 100)] ?? '';
  const said = agreement === 'f' ? hundreds.replace(/os$/, 'as') : hundreds;
  return value % 100 === 0 ? said : `${said} ${belowHundred(value % 100, agreement)}`;
}

/** In 21 000 personas the thousands stay "veintiún mil", in 200 000 they are "doscientas mil". */
function belowMillion(value: number, agreement: Agreement): string {
  const [thousands, rest] = [Math.floor(value / 1000), value % 1000];
  if (thousands === 0) return belowThousand(rest, agreement);
  const before = belowThousand(thousands, agreement === 'f' ? 'f' : 'm')
    .replace(/veintiuna$/, 'veintiún')
    .replace(/\buna$/, 'un');
  const said = thousands === 1 ? 'mil' : `${before} mil`;
  return rest === 0 ? said : `${said} ${belowThousand(rest, agreement)}`;
}

function words(digits: string, agreement: Agreement): string {
  const groups: string[] = [];
  for (let end = digits.length; end > 0; end -= 6) groups.push(digits.slice(Math.max(0, end - 6), end));
  const parts = groups.map((group, index) => {
    const value = Number(group);
    if (value === 0) return '';
    if (index === 0) return belowMillion(value, agreement);
    const name = MILLIONS[index - 1] ?? '';
    return value === 1 ? `un ${name}ón` : `${belowMillion(value, 'm')} ${name}ones`;
  });
  return (
    parts
      .reverse()
      .filter((part) => part !== '')
      .join(' ') || 'cero'
  );
}

const KEPT = {
  alone: keptWords((digits) => words(digits, 'alone')),
  m: keptWords((digits) => words(digits, 'm')),
  f: keptWords((digits) => words(digits, 'f')),
};

export function cardinal(digits: string, agreement: Agreement = 'alone'): string {
  return KEPT[agreement](digits);
}

export function spellDigits(digits: string): string {
  return Array.from(digits, (digit) => DIGITS[Number(digit)] ?? digit).join(' ');
}

/**
 * 3,14 tres coma catorce; 3,05 tres coma cero cinco; 3,1 km tres coma un; more than three digits one by one.
 */
function decimals(digits: string, agreement: Agreement = 'alone'): string {
  if (digits.length > 3 || /^0+$/.test(digits)) return spellDigits(digits);
  const zeros = /^0*/.exec(digits)?.[0] ?? '';
  const rest = cardinal(digits.slice(zeros.length), agreement);
  return zeros === '' ? rest : `${spellDigits(zeros)} ${rest}`;
}

export function decimal(numeral: Numeral, agreement: Agreement = 'alone'): string {
  const { negative, whole, mark } = numeral;
  const sign = negative ? 'menos ' : '';
  if (numeral.decimals === '') return `${sign}${cardinal(whole, agreement)}`;
  const point = mark === '.' ? 'punto' : 'coma';
  const said = cardinal(whole, agreement === 'f' ? 'f' : 'alone');
  return `${sign}${said} ${point} ${decimals(numeral.decimals, agreement)}`;
}

const ORDINALS = '- primero segundo tercero cuarto quinto sexto séptimo octavo noveno'.split(' ');
const ORDINAL_TEENS =
  'décimo undécimo duodécimo decimotercero decimocuarto decimoquinto decimosexto decimoséptimo decimoctavo decimonoveno'.split(
    ' ',
  );
const ORDINAL_TENS =
  '- - vigésimo trigésimo cuadragésimo quincuagésimo sexagésimo septuagésimo octogésimo nonagésimo'.split(
    ' ',
  );
const ORDINAL_HUNDREDS =
  '- centésimo ducentésimo tricentésimo cuadringentésimo quingentésimo sexcentésimo septingentésimo octingentésimo noningentésimo'.split(
    ' ',
  );

/** Masculine singular; undefined from a hundred thousand on, where ordinals are not in use. */
export function ordinal(digits: string): string | undefined {
  const value = Number(digits);
  if (value < 1 || value > 99_999) return undefined;
  const thousands = Math.floor(value / 1000);
  const before = thousands > 1 ? cardinal(String(thousands)).replaceAll(' y ', 'i') : '';
  const parts = [
    thousands > 0 ? `${before}milésimo` : '',
    ORDINAL_HUNDREDS[Math.floor((value % 1000) / 100)] ?? '',
  ];
  const rest = value % 100;
  if (rest >= 10 && rest < 20) parts.push(ORDINAL_TEENS[rest - 10] ?? '');
  else parts.push(ORDINAL_TENS[Math.floor(rest / 10)] ?? '', ORDINALS[rest % 10] ?? '');
  return parts.filter((part) => part !== '' && part !== '-').join(' ');
}

/** Each word of it agrees: vigésima primera. */
export function inForm(masculine: string, gender: Gender, plural: boolean): string {
  const ending = `${gender === 'f' ? 'a' : 'o'}${plural ? 's' : ''}`;
  return masculine.replace(/o(?= |$)/g, ending);
}

/** Primer, tercer, decimotercer: before a masculine noun. */
export function shortened(masculine: string): string {
  return masculine.replace(/(prim|terc)ero$/, '$1er');
}
