// Parts, grades and what else stands around a slash in Spanish.
import type { Fraction, Noun } from '../language.js';
import { withoutZeros } from '../numerals.js';
import type { Around } from '../reading.js';
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

/** Medio litro, media taza, tres cuartas partes; 24/7, 50/50 and 120/80 are read as two numbers. */
export function fraction(written: Fraction, around: Around): string | undefined {
  const [numerator, denominator] = [withoutZeros(written.numerator), withoutZeros(written.denominator)];
  if (Number(numerator) === Number(denominator) || /^24\/(?:7|48|72)$/.test(`${numerator}/${denominator}`))
    return `${cardinal(numerator)} ${cardinal(denominator)}`;
  if (isNumbered(written)) return `${spell(written.numerator)} barra ${spell(written.denominator)}`;
  if (/^(?:19|20)\d\d$/.test(numerator) && denominator.length < 5) return `${cardinal(numerator)} barra ${cardinal(denominator)}`;
  if (isPressure(around)) return `${cardinal(numerator)} sobre ${cardinal(denominator)}`;
  if (isShare(numerator, denominator)) return `${cardinal(numerator)} ${cardinal(denominator)}`;
  if (Number(numerator) > Number(denominator)) {
    if (/^ ?=/.test(around.text.slice(around.end, around.end + 2))) return divided(numerator, denominator);
    const small = Number(denominator) >= 2 && Number(denominator) <= 4 && Number(numerator) < 10;
    return small
      ? parts({ numerator, denominator })
      : `${cardinal(numerator)} sobre ${cardinal(denominator)}`;
  }
  if (denominator === '1' || denominator.length > 3)
    return `${cardinal(numerator)} barra ${cardinal(denominator)}`;
  const noun = around.nextWord;
  if (isGrade(denominator, noun, around)) return `${cardinal(numerator)} sobre ${cardinal(denominator)}`;
  if (/^partes?$/.test(noun)) {
    const part = denominator === '3' ? 'tercera' : inForm(partName(denominator) ?? '', 'f', false);
    return numerator === '1' ? `una ${part}` : `${cardinal(numerator, 'f')} ${part}s`;
  }
  if (numerator !== '1' || denominator !== '2') return parts({ numerator, denominator });
  if (!/^\p{Ll}{3,}$/u.test(noun) || !standsBeforeNoun(around)) return 'un medio';
  return genderOf(noun) === 'f' ? 'media' : 'medio';
}

/** Tensión 12/8, presión arterial de 9/6. */
export function isPressure({ text, start }: Around): boolean {
  return /(?:tensi[óo]n|presi[óo]n|arterial)[^.;\d]{0,12}(?:\d{1,3}\/\d{1,3} [aeouy] )?$/iu.test(text.slice(Math.max(0, start - 32), start));
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

function divided(numerator: string, denominator: string): string {
  return `${cardinal(numerator)} entre ${cardinal(denominator)}`;
}

const GRADES = new Set(
  'nota notas puntuación calificación valoración puntaje obtuvo sacó saqué un'.split(' '),
);

/** A grade or rating: 8/10, nota 4/5, 4/5 estrellas. */
function isGrade(denominator: string, next: string, around: Around): boolean {
  if (denominator === '10' && next !== 'de') return true;
  if (!/^(?:5|20|100)$/.test(denominator)) return false;
  return /^(?:estrellas|puntos)$/.test(next) || GRADES.has(around.previousShort);
}

export function fractionOf(written: Fraction, unit: Noun): string {
  if (written.numerator === '1' && written.denominator === '2')
    return `${unit.gender === 'f' ? 'media' : 'medio'} ${unit.forms[0] ?? ''}`;
  const { numerator, denominator } = written;
  if (/^24\/(?:48|72)$/.test(`${numerator}/${denominator}`)) return `${cardinal(numerator)} ${cardinal(denominator)} ${unit.forms[1] ?? ''}`;
  if (Number(numerator) > Number(denominator))
    // a blood pressure
    return `${cardinal(numerator)} sobre ${cardinal(denominator)} ${unit.forms[1] ?? ''}`;
  if (Number(denominator) > 10)
    return `${cardinal(numerator)} barra ${cardinal(denominator)} ${unit.forms[1] ?? ''}`;
  return `${parts(written)} de ${unit.forms[0] ?? ''}`;
}
