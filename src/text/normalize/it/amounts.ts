// Spoken amounts in Italian: numbers with nouns, money, fractions.
import type { Currency, Fraction, Noun, Quantity } from '../quantity.js';
import { numeralOf, valueOf, withoutZeros, type Numeral } from '../numerals.js';
import { NOWHERE, type Around } from '../reading.js';
import { betweenNumbers, genderAhead, isFeminine, isNumbered, isPlural, one } from './grammar.js';
import { cardinal, decimal, ordinal, type Gender } from './numbers.js';
import { RATIO } from './writing.js';

const THOUSAND = 3;
/** Behind these a noun is joined with "di": due milioni di euro. */
const ROUND = /(?:^| )(?:mili(?:one|oni)|miliard[oi])$/;
const LARGEST_NEIGHBOURS = 10; // two or three, but from twenty to twenty-one

/** 2,5mila is 2500: "mila" is no noun that decimals could stand before. */
function multiplied(number: Numeral, power: number | undefined): Numeral {
  if (power !== THOUSAND || number.decimals.length > THOUSAND) return number;
  const whole = withoutZeros(number.whole + number.decimals.padEnd(THOUSAND, '0'));
  return { ...number, whole, decimals: '' };
}

function say(value: Numeral, magnitude: Quantity['magnitude']): string {
  const one = magnitude !== undefined && magnitude.power !== THOUSAND && !isPlural(value);
  return one ? `${value.negative ? 'meno ' : ''}un` : decimal(multiplied(value, magnitude?.power));
}

function amount({ number, to, magnitude }: Quantity, around: Around): string {
  const first = say(number, magnitude);
  const both =
    to === undefined ? first : betweenNumbers(first, say(to, magnitude), around, areNeighbours(number, to));
  if (magnitude === undefined || magnitude.power === THOUSAND) return both;
  return `${both} ${magnitude.forms[isPlural(to ?? number) ? 1 : 0] ?? ''}`;
}

function areNeighbours(from: Numeral, to: Numeral): boolean {
  return (
    valueOf(to) - valueOf(from) === 1 &&
    valueOf(to) <= LARGEST_NEIGHBOURS &&
    from.decimals + to.decimals === ''
  );
}

/** Un'ora, tre milioni di euro, cinque chilometri, due ore e mezza. */
export function withNoun(quantity: Quantity, noun: Noun, around: Around = NOWHERE): string {
  const { number, to, magnitude, fraction } = quantity;
  const gender: Gender = noun.gender === 'f' ? 'f' : 'm';
  const many = magnitude !== undefined || isPlural(to ?? number);
  const name = noun.forms[many ? 1 : 0] ?? '';
  const half = fraction === undefined ? '' : ` e ${sayFraction(fraction, 'part', gender)}`;
  if (!many && noun.form !== RATIO)
    return `${number.negative ? 'meno ' : ''}${one(name, gender)}${name}${half}`;
  const words = amount(quantity, around);
  return `${words}${ROUND.test(words) && noun.form !== RATIO ? ' di' : ''} ${name}${half}`;
}

const TALLEST = 2; // metres; a height has its own way: un metro e settantacinque

export function measure(quantity: Quantity, unit: Noun, around: Around): string {
  const { number, to } = quantity;
  const height =
    unit.forms[0] === 'metro' && number.decimals.length === 2 && !number.negative && to === undefined;
  if (!height || Number(number.whole) > TALLEST || number.whole === '0' || number.decimals.startsWith('0')) {
    return withNoun(quantity, unit, around);
  }
  return `${withNoun({ number: numeralOf(number.whole) }, unit)} e ${cardinal(number.decimals)}`;
}

/** A plain number with what it counts. */
export function count(quantity: Quantity, around: Around): string {
  const { number, magnitude, fraction, to } = quantity;
  if (fraction !== undefined) return `${amount(quantity, around)} e ${sayFraction(fraction, 'part', 'm')}`;
  const single = number.whole === '1' && !isPlural(number) && magnitude === undefined && to === undefined;
  const gender = single && !isNumbered(around) && !isAlone(around) ? genderAhead(around) : undefined;
  if (gender === undefined) return amount(quantity, around);
  return `${number.negative ? 'meno ' : ''}${one(around.nextWord, gender).trimEnd()}`;
}

/** The 1 of "l'1 giugno" or of a list counts nothing. */
function isAlone({ text, start }: Around): boolean {
  return /['’,-]$/.test(text.slice(Math.max(0, start - 1), start));
}

export function money(quantity: Quantity, currency: Currency, around: Around = NOWHERE): string {
  const { number, to, magnitude, fraction } = quantity;
  const { minor } = currency;
  const cents = number.decimals.length === 2 || to?.decimals.length === 2;
  if (!cents || minor === undefined || magnitude !== undefined || fraction !== undefined) {
    return withNoun(quantity, currency, around);
  }
  const first = majorAndMinor(number, currency, minor);
  return to === undefined ? first : betweenNumbers(first, majorAndMinor(to, currency, minor), around, false);
}

/** Tre euro e cinquanta centesimi. */
function majorAndMinor(number: Numeral, currency: Currency, minor: Noun): string {
  const sign = number.negative ? 'meno ' : '';
  const major = numeralOf(withoutZeros(number.whole));
  const cents = numeralOf(withoutZeros(number.decimals || '0'));
  if (cents.whole === '0') return sign + withNoun({ number: major }, currency);
  if (major.whole === '0') return sign + withNoun({ number: cents }, minor);
  return `${sign}${withNoun({ number: major }, currency)} e ${withNoun({ number: cents }, minor)}`;
}

const OUT_OF = new Set(['20', '24', '30', '60', '100', '110']); // marks, hours, per cent

/** Un terzo, due terzi, tre quarti; 28/30 ventotto su trenta. As a part behind a whole: e mezzo. */
export function sayFraction(fraction: Fraction, use: 'alone' | 'part', gender: Gender): string {
  const [numerator, denominator] = [withoutZeros(fraction.numerator), withoutZeros(fraction.denominator)];
  const value = Number(numerator);
  if (value === 1 && denominator === '2') {
    const half = gender === 'f' ? 'mezza' : 'mezzo';
    return use === 'part' ? half : `un ${half}`;
  }
  if (use === 'alone' && !isRead(value, denominator))
    return `${cardinal(numerator)} ${numerator === '50' && denominator === '50' ? 'e' : 'su'} ${cardinal(denominator)}`;
  if (denominator === '2') return `${cardinal(numerator)} mezzi`;
  return `${value === 1 ? 'un' : cardinal(numerator)} ${ordinal(denominator, 'm', value !== 1)}`;
}

function isRead(numerator: number, denominator: string): boolean {
  const whole = Number(denominator);
  if (whole < 2 || numerator === 0) return false;
  if (numerator === 1) return true;
  return numerator < whole
    ? !OUT_OF.has(denominator) && (whole <= 20 || whole === 1000)
    : numerator !== whole && whole <= 9 && numerator < 100;
}

/** 1/2 litro is "mezzo litro", 1/2 ora "mezz'ora", 3/4 di litro. */
export function fractionOf(fraction: Fraction, unit: Noun): string {
  const gender: Gender = unit.gender === 'f' ? 'f' : 'm';
  const name = unit.forms[0] ?? '';
  if (unit.form === RATIO) return `${sayFraction(fraction, 'alone', 'm')} ${name}`;
  if (Number(fraction.numerator) === 1 && withoutZeros(fraction.denominator) === '2') {
    return /^[aeiou]/.test(name) ? `mezz'${name}` : `${gender === 'f' ? 'mezza' : 'mezzo'} ${name}`;
  }
  if (!isRead(Number(fraction.numerator), withoutZeros(fraction.denominator)))
    return `${sayFraction(fraction, 'alone', 'm')} ${unit.forms[1] ?? name}`;
  return `${sayFraction(fraction, 'alone', 'm')} ${/^[aeiou]/.test(name) ? `d'${name}` : `di ${name}`}`;
}

const MEASURES =
  /^(?:tazz|fett|porzion|cucchia|bicchier|bustin|bottigli|pastigli|compress|giornat|cipoll|mel|pagin|dozzin|mel|caraff|pizz|lattin|scatol|vasett|spicchi|limon|pan|panett|baguett|confezion|peperon|carot)/;

const MARK = /(?:voto|punteggio|valutazione|giudizio|recensione|pagina|pag\.|pressione)(?: di| è)?:? $/iu;

/** 1/2 tazza is "mezza tazza"; without a noun "un mezzo". */
export function plainFraction(fraction: Fraction, around: Around): string {
  // 3/100esimi
  if (/\p{L}$/u.test(around.text.slice(around.start, around.end))) return sayFraction(fraction, 'part', 'm');
  const half = Number(fraction.numerator) === 1 && withoutZeros(fraction.denominator) === '2';
  const next = around.nextWord.toLowerCase();
  if (MARK.test(around.text.slice(Math.max(0, around.start - 24), around.start)))
    return `${cardinal(fraction.numerator)} su ${cardinal(fraction.denominator)}`;
  if (/^(?:19|20)\d\d$/.test(fraction.denominator) && Number(fraction.numerator) > 12)
    return `${cardinal(fraction.numerator)} del ${cardinal(fraction.denominator)}`; // modello 730/2024
  if (half && MEASURES.test(next)) return isFeminine(next) ? 'mezza' : 'mezzo';
  return sayFraction(fraction, 'alone', 'm');
}
