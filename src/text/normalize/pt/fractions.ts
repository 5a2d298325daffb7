// Parts, grades and what else stands around a slash in Portuguese.
import type { Fraction, Noun } from '../language.js';
import { withoutZeros } from '../numerals.js';
import type { Around } from '../reading.js';
import { genderOf, standsBeforeNoun } from './grammar.js';
import { cardinal, ordinal, spellDigits } from './numbers.js';

const PARTS = '- - meio terço quarto quinto sexto sétimo oitavo nono décimo'.split(' ');

function partName(denominator: string): string {
  const value = Number(denominator);
  if (value <= 10) return PARTS[value] ?? '';
  return (/^10+$/.test(denominator) ? ordinal(denominator) : undefined) ?? `${cardinal(denominator)} avo`;
}

export function parts({ numerator, denominator }: Fraction): string {
  return `${cardinal(numerator)} ${partName(denominator)}${numerator === '1' ? '' : 's'}`;
}

/** Pressão 12/8, PA de 9/6. */
export function isPressure({ text, start }: Around): boolean {
  return /(?:pressão|arterial|(?<!\p{L})PA)[^.;\d]{0,12}(?:\d{1,3}\/\d{1,3} (?:e|ou|a) )?$/iu.test(text.slice(Math.max(0, start - 32), start));
}

/** 80/20, 60/40: two shares of a hundred. */
function isShare(numerator: string, denominator: string): boolean {
  return denominator.length === 2 && denominator.endsWith('0') && Number(numerator) + Number(denominator) === 100;
}

/** 2024/0045: a case, not a part. */
function isNumbered({ numerator, denominator }: Fraction): boolean {
  return [numerator, denominator].some((digits) => digits.length > 1 && digits.startsWith('0'));
}

function spell(digits: string): string {
  return digits.startsWith('0') ? spellDigits(digits) : cardinal(digits);
}

const GRADES = new Set('nota notas pontuação avaliação classificação tirou obteve'.split(' '));

/** Meio litro, meia xícara, três quartos; 8/10 and 120/80 are read as two numbers. */
export function fraction(written: Fraction, around: Around): string | undefined {
  const [numerator, denominator] = [withoutZeros(written.numerator), withoutZeros(written.denominator)];
  const two = (word: string): string => `${cardinal(numerator)} ${word}${cardinal(denominator)}`;
  if (numerator === denominator || /^24\/(?:7|48|72)$/.test(`${numerator}/${denominator}`)) return two('');
  if (isNumbered(written)) return `${spell(written.numerator)} barra ${spell(written.denominator)}`;
  if (/^(?:19|20)\d\d$/.test(numerator) && denominator.length < 5) return two('barra ');
  if (isPressure(around)) return two('por ');
  if (isShare(numerator, denominator)) return two('');
  if (Number(numerator) > Number(denominator)) {
    if (/^ ?=/.test(around.text.slice(around.end, around.end + 2))) return two('dividido por ');
    const small = Number(denominator) >= 2 && Number(denominator) <= 4 && Number(numerator) < 10;
    return small ? parts({ numerator, denominator }) : two('por ');
  }
  if (denominator === '1' || denominator.length > 3) return two('barra ');
  const noun = around.nextWord;
  const graded =
    /^(?:5|20|100)$/.test(denominator) &&
    (GRADES.has(around.previousShort) || /^(?:estrelas|pontos)$/.test(noun));
  if (graded || (denominator === '10' && !/^d[eao]s?$/.test(noun))) return two('de ');
  if (numerator !== '1' || denominator !== '2') return parts({ numerator, denominator });
  if (!/^\p{Ll}{3,}$/u.test(noun) || !standsBeforeNoun(around)) return 'um meio';
  return genderOf(noun) === 'f' ? 'meia' : 'meio';
}

export function fractionOf(written: Fraction, unit: Noun): string {
  const { numerator, denominator } = written;
  if (/^24\/(?:48|72)$/.test(`${numerator}/${denominator}`)) return `${cardinal(numerator)} ${cardinal(denominator)} ${unit.forms[1] ?? ''}`;
  if (Number(numerator) > Number(denominator))
    // a blood pressure
    return `${cardinal(numerator)} por ${cardinal(denominator)} ${unit.forms[1] ?? ''}`;
  if (Number(denominator) > 10)
    return `${cardinal(numerator)} barra ${cardinal(denominator)} ${unit.forms[1] ?? ''}`;
  const half = written.numerator === '1' && written.denominator === '2';
  return half
    ? `${unit.gender === 'f' ? 'meia' : 'meio'} ${unit.forms[0] ?? ''}`
    : `${parts(written)} de ${unit.forms[0] ?? ''}`;
}
