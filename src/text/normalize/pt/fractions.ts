// The words of parts, grades and pressures in Portuguese.
import { Fractions } from '../iberian/fractions.js';
import type { Fraction } from '../language.js';
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

export const FRACTIONS = new Fractions({
  cardinal,
  digits: spellDigits,
  parts,
  half: { m: 'meio', f: 'meia', alone: 'um meio' },
  over: 'por',
  divided: 'dividido por',
  grade: 'de',
  graded: new Set('nota notas pontuação avaliação classificação tirou obteve'.split(' ')),
  points: /^(?:estrelas|pontos)$/,
  partOf: /^d[eao]s?$/,
  pressure: /(?<!\p{L})(?:pressão|arterial|PA(?!\p{L}))[^.;\d]{0,12}(?:\d{1,3}\/\d{1,3} (?:e|ou|a) )?$/iu,
  counted: /(?<!\p{L})(?:parcela|prestação|página|parte|etapa|passo|foto)s? \(?$/iu,
  ofMany: 'de',
  genderOf,
  standsBeforeNoun,
});
