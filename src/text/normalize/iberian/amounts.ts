// Amounts with what they count, in the grammar that Spanish and Portuguese share: dos horas y media, um
// milhão de reais.
import type { Speech } from '../language.js';
import type { Currency, Fraction, Noun, Quantity } from '../quantity.js';
import { numeralOf, valueOf, withoutZeros, type Numeral } from '../numerals.js';
import { NOWHERE, type Around } from '../reading.js';

export type Gender = 'm' | 'f';

/** `A` is how a number stands to its noun; a language may have more ways than the two genders. */
interface AmountWords<A extends string> {
  /** Between whole and half, and before the last of a row: y, e. */
  readonly and: string;
  /** Between the whole of a sum and its hundredths: con, e. */
  readonly withCents: string;
  readonly half: Readonly<Record<Gender, string>>;
  readonly decimal: (numeral: Numeral, agreement: A | Gender) => string;
  /** Agreement of a number without a noun. */
  readonly alone: A | Gender;
  /** Agreement of a number with the words that follow it in the text. */
  readonly agreementOf: (one: boolean, around: Around) => A | Gender;
  readonly agreementOfNoun: (noun: Noun) => A | Gender;
  readonly genderOf: (noun: string) => Gender;
  readonly parts: (fraction: Fraction) => string;
  readonly rangeWord: (around: Around) => string;
  /** Form of a number before "mil". */
  readonly beforeThousand: (said: string) => string;
  /** Below two the noun is in the singular: 1,5 litro, 1,5 milhão. */
  readonly singularBelowTwo: boolean;
  readonly spans: Readonly<Record<'h' | 'min' | 's', Noun>>;
}

export class Amounts<A extends string> implements Pick<Speech, 'count' | 'measure' | 'money' | 'duration'> {
  readonly #words: AmountWords<A>;

  constructor(words: AmountWords<A>) {
    this.#words = words;
  }

  readonly count = (quantity: Quantity, around: Around): string => {
    const { number, to, fraction } = quantity;
    const { and, alone, decimal, agreementOf, genderOf, parts, half } = this.#words;
    if (fraction !== undefined) {
      const behindLa = around.previousWord === 'la'; // la 8½
      const gender = behindLa ? 'f' : around.nextWord === '' ? 'm' : genderOf(around.nextWord);
      return `${decimal(number, alone)} ${and} ${isHalf(fraction) ? half[gender] : parts(fraction)}`;
    }
    const last = to ?? number;
    const one = last.whole === '1' && last.decimals === '';
    const single = one || (this.#isBelowTwo(quantity) && !around.nextWord.endsWith('s'));
    return this.#multiplied(quantity, agreementOf(single, around), around);
  };

  readonly measure = (quantity: Quantity, noun: Noun, around: Around = NOWHERE): string => {
    const singular = isOne(quantity) || this.#isBelowTwo(quantity);
    const name = noun.forms[singular ? 0 : 1] ?? noun.forms[0] ?? '';
    if (quantity.fraction !== undefined) return this.#mixed(quantity.number, quantity.fraction, noun);
    const said = this.#multiplied(quantity, this.#words.agreementOfNoun(noun), around);
    return `${said} ${takesOf(quantity) ? 'de ' : ''}${name}`;
  };

  readonly money = (quantity: Quantity, currency: Currency, around: Around): string => {
    const { number, to, magnitude, fraction } = quantity;
    const { minor } = currency;
    const cents = minor !== undefined && number.decimals.length === 2 && (to?.decimals.length ?? 2) === 2;
    if (!cents || magnitude !== undefined || fraction !== undefined)
      return this.measure(quantity, currency, around);
    const first = this.#majorAndMinor(number, currency, minor);
    if (to === undefined) return first;
    return `${first} ${this.#words.rangeWord(around)} ${this.#majorAndMinor(to, currency, minor)}`;
  };

  /** Una hora, dos minutos y tres segundos. */
  readonly duration: Speech['duration'] = (parts) => {
    const { and, spans } = this.#words;
    const said = parts.map(([digits, unit]) => this.measure({ number: numeralOf(digits) }, spans[unit]));
    const last = said.at(-1) ?? '';
    return said.length < 2 ? last : `${said.slice(0, -1).join(', ')} ${and} ${last}`;
  };

  /** Veintiún millones, um milhão; thousands count the noun, millions are nouns themselves. */
  #multiplied({ number, to, magnitude }: Quantity, agreement: A | Gender, around: Around): string {
    const { and, decimal, beforeThousand, rangeWord, singularBelowTwo } = this.#words;
    const thousand = magnitude?.power === 3;
    const counts = thousand && agreement === 'f' && number.decimals === '';
    const inner = magnitude === undefined ? agreement : counts ? 'f' : 'm';
    const single = to === undefined && number.whole === '1' && number.decimals === '';
    const said = thousand ? beforeThousand(decimal(number, inner)) : decimal(number, inner);
    const first = single && thousand ? (number.negative ? 'menos' : '') : said;
    // a 15-20 km/h
    const isAt = to !== undefined && around.previousWord === 'a' && Number(to.whole) > Number(number.whole);
    const range = to === undefined ? '' : ` ${isAt ? and : rangeWord(around)} ${decimal(to, inner)}`;
    if (magnitude === undefined) return `${isAt ? 'entre ' : ''}${first}${range}`;
    const below = singularBelowTwo && to === undefined && Number(number.whole) < 2;
    return `${first}${range} ${magnitude.forms[single || below ? 0 : 1] ?? ''}`.trimStart();
  }

  /** Dos horas y media; três quilos e um quarto. */
  #mixed(number: Numeral, fraction: Fraction, noun: Noun): string {
    const { and, half, parts } = this.#words;
    const part = isHalf(fraction) ? half[noun.gender === 'f' ? 'f' : 'm'] : parts(fraction);
    return `${this.measure({ number }, noun)} ${and} ${part}`;
  }

  #majorAndMinor(number: Numeral, currency: Currency, minor: Noun): string {
    const [major, cents] = [number.whole, number.decimals || '0'].map((digits) =>
      numeralOf(withoutZeros(digits)),
    );
    if (major === undefined || cents === undefined) return '';
    const said = [
      valueOf(major) !== 0 || valueOf(cents) === 0 ? this.measure({ number: major }, currency) : '',
      valueOf(cents) === 0 ? '' : this.measure({ number: cents }, minor),
    ];
    const sum = said.filter((part) => part !== '').join(` ${this.#words.withCents} `);
    return (number.negative ? 'menos ' : '') + sum;
  }

  #isBelowTwo({ number, to, magnitude }: Quantity): boolean {
    if (!this.#words.singularBelowTwo || to !== undefined || magnitude !== undefined) return false;
    return number.decimals !== '' && Number(number.whole) < 2;
  }
}

function isHalf({ numerator, denominator }: Fraction): boolean {
  return numerator === '1' && denominator === '2';
}

function isOne({ number, to, magnitude, fraction }: Quantity): boolean {
  if (to !== undefined || magnitude !== undefined || fraction !== undefined) return false;
  return number.whole === '1' && number.decimals === '';
}

/** Un millón de euros, but un millón quinientos mil euros. */
function takesOf({ number, to, magnitude }: Quantity): boolean {
  if (magnitude !== undefined) return magnitude.power >= 6;
  const last = to ?? number;
  return last.decimals === '' && last.whole.length > 6 && last.whole.endsWith('000000');
}
