// The words of parts, grades and pressures in Spanish.
import { Fractions } from '../iberian/fractions.js';
import type { Fraction } from '../language.js';
import { genderOf, standsBeforeNoun } from './grammar.js';
import { cardinal, inForm, ordinal, spellDigits } from './numbers.js';

const PARTS = '- - medio tercio cuarto quinto sexto séptimo octavo noveno décimo'.split(' ');

/** Onceavo, dieciseisavo, treintaidosavo, centésimo; undefined beyond. */
function partName(denominator: string): string | undefined {
  const value = Number(denominator);
  if (value <= 10) return PARTS[value];
  if (/^10+$/.test(denominator)) return ordinal(denominator);
  if (value >= 100) return undefined;
  const joined = cardinal(denominator).replace(' y ', 'i').replace('é', 'e').replace('ó', 'o');
  return `${joined.replace(/a$/, '')}avo`;
}

export function parts({ numerator, denominator }: Fraction): string {
  const name = partName(denominator);
  if (name === undefined) return `${cardinal(numerator)} sobre ${cardinal(denominator)}`;
  return `${cardinal(numerator, 'm')} ${name}${numerator === '1' ? '' : 's'}`;
}

/** Una tercera parte, tres cuartas partes. */
function beforeParte({ numerator, denominator }: Fraction, noun: string): string | undefined {
  if (!/^partes?$/.test(noun)) return undefined;
  const part = denominator === '3' ? 'tercera' : inForm(partName(denominator) ?? '', 'f', false);
  return numerator === '1' ? `una ${part}` : `${cardinal(numerator, 'f')} ${part}s`;
}

export const FRACTIONS = new Fractions({
  cardinal,
  digits: spellDigits,
  parts,
  half: { m: 'medio', f: 'media', alone: 'un medio' },
  over: 'sobre',
  divided: 'entre',
  grade: 'sobre',
  graded: new Set('nota notas puntuación calificación valoración puntaje obtuvo sacó saqué un'.split(' ')),
  points: /^(?:estrellas|puntos)$/,
  partOf: /^de$/,
  pressure:
    /(?<!\p{L})(?:(?:hiper|hipo)?tensi[óo]n|presi[óo]n|arterial)[^.;\d]{0,12}(?:\d{1,3}\/\d{1,3} [aeouy] )?$/iu,
  counted: /(?<!\p{L})(?:cuota|mensualidad|página|parte|etapa|paso|foto)s? \(?$/iu,
  ofMany: 'de',
  genderOf,
  standsBeforeNoun,
  before: beforeParte,
});
