// Two numbers around a slash, in the order of the checks: a case, a share, a pressure, a sum, a grade, a
// part.
import type { Fraction, Noun } from '../quantity.js';
import { withoutZeros } from '../numerals.js';
import type { Around } from '../reading.js';
import type { Gender } from './amounts.js';

interface FractionWords {
  readonly cardinal: (digits: string, gender?: Gender) => string;
  readonly digits: (digits: string) => string;
  /** Tres cuartos, três quartos. */
  readonly parts: (fraction: Fraction) => string;
  /** Media, meia; and what it is alone. */
  readonly half: Readonly<Record<Gender | 'alone' | 'paid', string>>;
  /** Words that say who pays: pagan ½. */
  readonly paying: ReadonlySet<string>;
  /** Between the two numbers of a blood pressure, a division and a grade. */
  readonly over: string;
  readonly divided: string;
  readonly grade: string;
  /** Words, in small letters, before a grade, and behind one. */
  readonly graded: ReadonlySet<string>;
  readonly points: RegExp;
  /** The next word (de) after a number of tenths; with it, x/10 is a fraction and not a grade. */
  readonly partOf: RegExp;
  /** The end of a text before a blood pressure. */
  readonly pressure: RegExp;
  /** The end of a text before the number of one of many: parcela 3/12; and the word between them. */
  readonly counted: RegExp;
  readonly ofMany: string;
  readonly genderOf: (noun: string) => Gender;
  readonly standsBeforeNoun: (around: Around) => boolean;
  /** Dos terceras partes. */
  readonly before?: (fraction: Fraction, noun: string) => string | undefined;
}

const NEAR = 32; // units in which a word tells of a blood pressure
/** 5/10 + 4/10 = 9/10 */
function isSummand({ text, start, end }: Around): boolean {
  return (
    /[+=×÷] ?$/.test(text.slice(Math.max(0, start - 2), start)) ||
    /^ ?[+=×÷−-] ?\d/.test(text.slice(end, end + 4))
  );
}

const HOURS = /^24\/(?:48|72)$/;

export class Fractions {
  readonly #words: FractionWords;

  constructor(words: FractionWords) {
    this.#words = words;
  }

  readonly isPressure = ({ text, start }: Around): boolean =>
    this.#words.pressure.test(text.slice(Math.max(0, start - NEAR), start));

  readonly fraction = (written: Fraction, around: Around): string | undefined => {
    const { over, grade, parts } = this.#words;
    const plain = withoutZerosIn(written);
    const { numerator, denominator } = plain;
    const two = (word: string): string => this.#two(plain, word);
    if (isPair(plain) || isDecades(plain, around)) return two('');
    if (isNumbered(written))
      return `${this.#spell(written.numerator)} barra ${this.#spell(written.denominator)}`;
    if (/^(?:19|20)\d\d$/.test(numerator) && denominator.length < 5) return two('barra');
    if (this.isPressure(around)) return two(over);
    if (isShare(plain)) return two('');
    if (this.#isOneOfMany(plain, around)) return two(this.#words.ofMany);
    if (Number(numerator) > Number(denominator)) return this.#improper(plain, around);
    if (denominator === '1' || (denominator.length > 3 && denominator !== '1000')) return two('barra');
    if (numerator !== '1' && this.#isGrade(denominator, around)) return two(grade);
    const named = this.#words.before?.(plain, around.nextWord);
    return named ?? (isHalf(plain) ? this.#half(around) : parts(plain));
  };

  /** Medio litro, três quartos de litro, 120/80 mmHg, 24/48 h. */
  readonly fractionOf = (written: Fraction, unit: Noun): string => {
    const { half, over, parts } = this.#words;
    const { numerator, denominator } = written;
    const [one = '', many = ''] = unit.forms;
    if (one.endsWith('bit por segundo'))
      return `${this.#words.cardinal(numerator)}, ${this.#words.cardinal(denominator)} ${many}`;
    if (HOURS.test(`${numerator}/${denominator}`)) return `${this.#two(written, '')} ${many}`;
    if (Number(numerator) > Number(denominator)) return `${this.#two(written, over)} ${many}`;
    if (isHalf(written)) return `${half[unit.gender === 'f' ? 'f' : 'm']} ${one}`;
    if (Number(denominator) > 10) return `${this.#two(written, 'barra')} ${many}`;
    return `${parts(written)} de ${one}`;
  };

  #two({ numerator, denominator }: Fraction, word: string): string {
    const { cardinal } = this.#words;
    return `${cardinal(numerator)} ${word}${word === '' ? '' : ' '}${cardinal(denominator)}`;
  }

  #spell(digits: string): string {
    return digits.startsWith('0') ? this.#words.digits(digits) : this.#words.cardinal(digits);
  }

  /** 10/2 = 5; 7/4; 120/80. */
  #improper(written: Fraction, { text, end }: Around): string {
    const { divided, over, parts } = this.#words;
    if (/^ ?=/.test(text.slice(end, end + 2))) return this.#two(written, divided);
    const denominator = Number(written.denominator);
    const small = denominator >= 2 && denominator <= 4 && Number(written.numerator) < 10;
    return small ? parts(written) : this.#two(written, over);
  }

  /** 8/10, nota 4/5, 4/5 estrellas. */
  #isGrade(denominator: string, around: Around): boolean {
    const { partOf, points, graded } = this.#words;
    if (isSummand(around)) return false;
    if (/^100?$/.test(denominator) && !partOf.test(around.nextWord)) return true;
    if (!/^(?:5|20|100)$/.test(denominator)) return false;
    return points.test(around.nextWord) || graded.has(around.previousShort);
  }

  #isOneOfMany({ numerator, denominator }: Fraction, { text, start }: Around): boolean {
    if (Number(numerator) > Number(denominator)) return false;
    return this.#words.counted.test(text.slice(Math.max(0, start - NEAR), start));
  }

  #half(around: Around): string {
    const { half, genderOf, standsBeforeNoun } = this.#words;
    const noun = around.nextWord;
    if (/^\p{Ll}{3,}$/u.test(noun) && standsBeforeNoun(around)) return half[genderOf(noun)];
    return this.#words.paying.has(around.previousWord) ? half.paid : half.alone;
  }
}

function withoutZerosIn({ numerator, denominator }: Fraction): Fraction {
  return { numerator: withoutZeros(numerator), denominator: withoutZeros(denominator) };
}

function isHalf({ numerator, denominator }: Fraction): boolean {
  return numerator === '1' && denominator === '2';
}

/** 50/50, 24/7, 24/48 hours. */
/** Anos 60/70. */
function isDecades({ numerator, denominator }: Fraction, { previousWord }: Around): boolean {
  return (
    /^(?:años|anos)$/.test(previousWord) && [numerator, denominator].every((part) => /^[1-9]0$/.test(part))
  );
}

function isPair({ numerator, denominator }: Fraction): boolean {
  const written = `${numerator}/${denominator}`;
  return numerator === denominator || written === '24/7' || HOURS.test(written);
}

/** 2024/0045: a case, not a part. */
function isNumbered({ numerator, denominator }: Fraction): boolean {
  return [numerator, denominator].some((digits) => digits.length > 1 && digits.startsWith('0'));
}

/** 80/20, 60/40: two shares of a hundred. */
function isShare({ numerator, denominator }: Fraction): boolean {
  const sum = Number(numerator) + Number(denominator);
  return denominator.length === 2 && denominator.endsWith('0') && sum === 100;
}
