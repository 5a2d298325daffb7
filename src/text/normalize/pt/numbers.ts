// Portuguese number words, Brazilian. Own data: n2words 4.0 has European ones only (dezasseis, mil milhões)
// and no gender.
import { keptWords } from '../number-words.js';
import type { Numeral } from '../numerals.js';

export type Gender = 'm' | 'f';

const SMALL =
  'zero um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezesseis dezessete dezoito dezenove'.split(
    ' ',
  );
const TENS = '- - vinte trinta quarenta cinquenta sessenta setenta oitenta noventa'.split(' ');
const HUNDREDS =
  '- cento duzentos trezentos quatrocentos quinhentos seiscentos setecentos oitocentos novecentos'.split(' ');
const SCALES = 'm b tr quatr quint sext sept oct non dec undec duodec tredec'
  .split(' ')
  .map((stem) => `${stem}ilh`);

function belowHundred(value: number, gender: Gender): string {
  if (value < 20) {
    if (gender === 'f' && value === 1) return 'uma';
    return gender === 'f' && value === 2 ? 'duas' : (SMALL[value] ?? '');
  }
  const tens = TENS[Math.floor(value / 10)] ?? '';
  return value % 10 === 0 ? tens : `${tens} e ${belowHundred(value % 10, gender)}`;
}

function belowThousand(value: number, gender: Gender): string {
  if (value === 100) return 'cem';
  if (value < 100) return belowHundred(value, gender);
  const hundreds = HUNDREDS[Math.floor(value / 100)] ?? '';
  const said = gender === 'f' ? hundreds.replace(/os$/, 'as') : hundreds;
  return value % 100 === 0 ? said : `${said} e ${belowHundred(value % 100, gender)}`;
}

/** Mil e duzentos, mil e vinte, but mil duzentos e trinta: "e" stands before a last group of one word. */
function isJoined(value: number): boolean {
  return value <= 100 || value % 100 === 0;
}

function words(digits: string, gender: Gender): string {
  const groups: number[] = [];
  for (let end = digits.length; end > 0; end -= 3)
    groups.push(Number(digits.slice(Math.max(0, end - 3), end)));
  const last = groups.findIndex((value) => value > 0);
  if (last < 0) return 'zero';
  const parts: string[] = [];
  for (let index = groups.length - 1; index >= last; index--) {
    const value = groups[index] ?? 0;
    if (value === 0) continue;
    const joint = parts.length > 0 && index === last && isJoined(value) ? 'e ' : '';
    parts.push(joint + sayGroup(value, index, gender));
  }
  return parts.join(' ');
}

function sayGroup(value: number, index: number, gender: Gender): string {
  if (index === 0) return belowThousand(value, gender);
  if (index === 1) return value === 1 ? 'mil' : `${belowThousand(value, gender)} mil`;
  const name = SCALES[index - 2] ?? '';
  return value === 1 ? `um ${name}ão` : `${belowThousand(value, 'm')} ${name}ões`;
}

const KEPT = { m: keptWords((digits) => words(digits, 'm')), f: keptWords((digits) => words(digits, 'f')) };

export function cardinal(digits: string, gender: Gender = 'm'): string {
  return KEPT[gender](digits);
}

export function spellDigits(digits: string): string {
  return Array.from(digits, (digit) => SMALL[Number(digit)] ?? digit).join(' ');
}

/** 3,14 três vírgula catorze; 3,05 três vírgula zero cinco; more than three digits one by one. */
function decimals(digits: string, gender: Gender = 'm'): string {
  if (digits.length > 3 || /^0+$/.test(digits)) return spellDigits(digits);
  const zeros = /^0*/.exec(digits)?.[0] ?? '';
  const rest = cardinal(digits.slice(zeros.length), gender);
  return zeros === '' ? rest : `${spellDigits(zeros)} ${rest}`;
}

export function decimal(numeral: Numeral, gender: Gender = 'm'): string {
  const { negative, whole, mark } = numeral;
  const said = `${negative ? 'menos ' : ''}${cardinal(whole, gender)}`;
  if (numeral.decimals === '') return said;
  return `${said} ${mark === '.' ? 'ponto' : 'vírgula'} ${decimals(numeral.decimals, gender)}`;
}

const ORDINALS = '- primeiro segundo terceiro quarto quinto sexto sétimo oitavo nono'.split(' ');
const ORDINAL_TENS =
  '- décimo vigésimo trigésimo quadragésimo quinquagésimo sexagésimo septuagésimo octogésimo nonagésimo'.split(
    ' ',
  );
const ORDINAL_HUNDREDS =
  '- centésimo ducentésimo trecentésimo quadringentésimo quingentésimo sexcentésimo septingentésimo octingentésimo noningentésimo'.split(
    ' ',
  );

/** Masculine singular; undefined from a hundred thousand on. */
export function ordinal(digits: string): string | undefined {
  const value = Number(digits);
  if (value < 1 || value > 99_999) return undefined;
  const thousands = Math.floor(value / 1000);
  const parts = [
    thousands === 0 ? '-' : thousands === 1 ? 'milésimo' : `${ordinal(String(thousands)) ?? ''} milésimo`,
    ORDINAL_HUNDREDS[Math.floor((value % 1000) / 100)] ?? '',
    ORDINAL_TENS[Math.floor((value % 100) / 10)] ?? '',
    ORDINALS[value % 10] ?? '',
  ];
  return parts.filter((part) => part !== '-').join(' ');
}

export function inForm(masculine: string, gender: Gender, plural: boolean): string {
  return masculine.replace(/o(?= |$)/g, `${gender === 'f' ? 'a' : 'o'}${plural ? 's' : ''}`);
}
