// Languages without rules of their own: numbers in words from n2words; dates, money and units from the CLDR;
// names of signs from a table. Everything else stays as it is written. A tenant's tables add the rest.
import * as ar from 'n2words/ar-SA';
import * as bn from 'n2words/bn-BD';
import * as cs from 'n2words/cs-CZ';
import * as da from 'n2words/da-DK';
import * as el from 'n2words/el-GR';
import * as fa from 'n2words/fa-IR';
import * as fi from 'n2words/fi-FI';
import * as fil from 'n2words/fil-PH';
import * as he from 'n2words/he-IL';
import * as hi from 'n2words/hi-IN';
import * as hr from 'n2words/hr-HR';
import * as hu from 'n2words/hu-HU';
import * as id from 'n2words/id-ID';
import * as lt from 'n2words/lt-LT';
import * as lv from 'n2words/lv-LV';
import * as ms from 'n2words/ms-MY';
import * as nb from 'n2words/nb-NO';
import * as nl from 'n2words/nl-NL';
import * as pl from 'n2words/pl-PL';
import * as ro from 'n2words/ro-RO';
import * as sr from 'n2words/sr-Cyrl-RS';
import * as sv from 'n2words/sv-SE';
import * as sw from 'n2words/sw-KE';
import * as ta from 'n2words/ta-IN';
import * as te from 'n2words/te-IN';
import * as th from 'n2words/th-TH';
import * as tr from 'n2words/tr-TR';
import * as uk from 'n2words/uk-UA';
import * as ur from 'n2words/ur-PK';
import * as vi from 'n2words/vi-VN';
import {
  cldrCurrencies,
  cldrNumbers,
  cldrUnits,
  dateOrder,
  dateWords,
  monthNames,
  pluralCounts,
  pluralForms,
  timeMarks,
  unitName,
  weekdayNames,
} from './cldr.js';
import { builtInRows } from '../tables/built-in.js';
import { signsOf, wordSetsOf } from '../tables/entries.js';
import type { Language, Speech, SymbolNames, Writing } from './language.js';
import type { Fraction, Noun, Quantity, WrittenDate } from './quantity.js';
import { keptWords } from './number-words.js';
import { type Numeral, numeralOf, readNumeral, valueOf, withoutZeros } from './numerals.js';
import type { Recogniser } from './reading.js';

type ToWords = (value: string) => string;

// prettier-ignore
const WORDS: Readonly<Record<string, { readonly toCardinal: ToWords; readonly toOrdinal: ToWords }>> = {
  ar, bn, cs, da, el, fa, fi, fil, he, hi, hr, hu, id, lt, lv, ms, nb, nl, no: nb, pl, ro, sr, sv, sw, ta, te, th, tl: fil, tr, uk, ur, vi,
};

export const OTHER_TAGS: readonly string[] = Object.keys(WORDS);

const LONGEST_ORDINAL = 6; // digits

const built = new Map<string, Language>();

/** A language by its primary tag; undefined if nothing is known of its numbers. */
export function otherLanguage(tag: string): Language | undefined {
  const words = Object.hasOwn(WORDS, tag) ? WORDS[tag] : undefined;
  if (words === undefined) return undefined;
  let language = built.get(tag);
  if (language === undefined) built.set(tag, (language = build(tag, words)));
  return language;
}

/** Marks that make the figures before them an ordinal and mean nothing else: 2e, 3:e. */
const ORDINAL_MARKS: Readonly<Record<string, string>> = {
  nl: 'e|de|ste',
  sv: ':[ae]',
  el: '[οηος]',
  ro: '-a|-lea',
  tr: "['’]?(?:inci|ıncı|uncu|üncü|nci|ncı|ncu|ncü)",
};

function build(tag: string, words: (typeof WORDS)[string]): Language {
  const writing = writingOf(tag);
  const speech = new OtherSpeech(tag, words, writing.dates);
  const language: Language = { tag, writing, symbols: symbolsOf(tag, speech), speech };
  return tag === 'tr' ? { ...language, own: { atMark: [percentBefore(language)] } } : language;
}

function writingOf(tag: string): Writing {
  const counts = pluralCounts(tag);
  const make = ({ forms }: { readonly forms: readonly string[] }): Noun => ({ forms });
  const order = dateOrder(tag);
  return {
    numbers: cldrNumbers(tag),
    dates: {
      months: monthNames(tag),
      weekdays: weekdayNames(tag),
      orders: { '/': order, '.': order, '-': order },
      named: ['day-month', 'month-day'],
      dayMark: '\\.',
      between: ',? (?:\\p{L}{1,3} )?',
    },
    times: { marks: timeMarks(tag), halves: {}, words: {}, zones: {} },
    telephone: { patterns: [], keywords: new Set() },
    ...cldrCurrencies(tag, counts, make),
    units: cldrUnits(tag, counts, make),
    per: {},
    magnitudes: {},
    ordinalMark: ORDINAL_MARKS[tag] ?? '',
    abbreviations: {},
    beforeNumber: {},
    spelled: new Set(),
    read: new Set(),
    romanAfter: {},
    ...wordSetsOf([]),
    decadeMark: '',
    fractionMark: '',
    compass: {},
    books: {},
  };
}

/** Turkish writes the sign before the number and says it there: %50 is "yüzde elli". */
function percentBefore({ writing, speech }: Language): Recogniser {
  return (reading) => {
    const { text, at } = reading;
    const read = text[at] === '%' ? readNumeral(text, at + 1, writing.numbers) : undefined;
    if (read === undefined) return undefined;
    const around = reading.around(read.end);
    const spoken = `${writing.units['%']?.forms[0] ?? ''} ${speech.number(read.numeral, around)}`;
    return { end: read.end, spoken, rule: 'percent' };
  };
}

/** Signs have no names in the CLDR that `Intl` knows: those that the table lacks stay as written. */
function symbolsOf(tag: string, speech: OtherSpeech): SymbolNames {
  const signs = builtInRows(tag, 'signs');
  const [inMath, inAddress] = [signsOf(signs, 'math'), signsOf(signs, 'address')];
  const asWritten = Object.fromEntries(Array.from('@./-_:#?=&+~%*!\\', (sign) => [sign, sign]));
  return {
    inAddress: { ...asWritten, ...inAddress },
    inMath,
    inFront: signsOf(signs, 'front'),
    behindNoun: signsOf(signs, 'noun'),
    inText: signsOf(signs, 'text'),
    versionPoint: inAddress['.'] ?? '.',
    version: 'v',
    minus: speech.minus,
    plus: inMath['+'] ?? '+',
    keys: { star: '*', hash: '#', before: /(?!)/ },
    hashtag: '#',
    pause: ',',
    addressWords: {},
  };
}

/** n2words 4.0 writes Ukrainian words with the Latin i, and Norwegian ones with commas. */
function corrected(tag: string, words: string): string {
  if (tag === 'uk') return words.replaceAll('i', 'і');
  return tag === 'nb' || tag === 'no' ? words.replaceAll(',', '') : words;
}

// The functions are properties, so that a language with tables can take them over into an object of its own.
class OtherSpeech implements Speech {
  readonly minus: string;
  readonly #tag: string;
  /** Between two numbers, and between numerator and denominator; undefined without a word for it. */
  readonly #to: string | undefined;
  readonly #over: string | undefined;
  readonly #plus: string;
  readonly #toOrdinal: ToWords;
  readonly #months: Writing['dates']['months'];
  readonly #weekdays: Writing['dates']['weekdays'];
  readonly #cardinal: (digits: string) => string;
  readonly #decimal: (digits: string) => string;
  readonly #plural: Intl.PluralRules;
  readonly #forms: readonly Intl.LDMLPluralRule[];

  constructor(tag: string, words: (typeof WORDS)[string], { months, weekdays }: Writing['dates']) {
    const toWords = (value: string): string => words.toCardinal(value);
    this.#toOrdinal = (digits) => corrected(tag, words.toOrdinal(digits));
    const signs = builtInRows(tag, 'signs');
    this.#tag = tag;
    this.#to = signsOf(signs, 'range')['–'];
    this.#over = signsOf(signs, 'fraction')['/'];
    this.#plus = signsOf(signs, 'math')['+'] ?? '+';
    this.#months = months;
    this.#weekdays = weekdays;
    this.#plural = new Intl.PluralRules(tag);
    this.#forms = pluralForms(tag);
    const safe = (value: string): string => {
      try {
        return corrected(tag, toWords(value));
      } catch {
        // A number beyond the names of the language.
        return Array.from(value, (unit) => (/\d/.test(unit) ? corrected(tag, toWords(unit)) : unit)).join(
          ' ',
        );
      }
    };
    this.#cardinal = keptWords(safe);
    this.#decimal = safe;
    this.minus = safe('-1').slice(0, -safe('1').length).trim();
  }

  readonly number = ({ whole, decimals, negative }: Numeral): string => {
    const digits = withoutZeros(whole);
    const words = decimals === '' ? this.#cardinal(digits) : this.#decimal(`${digits}.${decimals}`);
    return negative ? `${this.minus} ${words}` : words;
  };

  readonly ordinal = (digits: string): string | undefined => {
    return digits.length > LONGEST_ORDINAL ? undefined : this.#toOrdinal(withoutZeros(digits));
  };

  readonly digits = (digits: string): string => {
    return Array.from(digits, (digit) => this.#cardinal(digit)).join(' ');
  };

  readonly letters = (letters: string): string => {
    return Array.from(letters.toUpperCase()).join(' ');
  };

  readonly year = (): undefined => {
    return undefined;
  };

  readonly decade = (): undefined => {
    return undefined;
  };

  readonly fraction = ({ numerator, denominator }: Fraction): string => {
    return this.#pair(numerator, denominator, this.#over);
  };

  /** Two numbers; without a word between them a comma makes a pause. */
  #pair(first: string, second: string, between: string | undefined): string {
    const gap = between === undefined ? ',' : ` ${between}`;
    return `${this.#cardinal(withoutZeros(first))}${gap} ${this.#cardinal(withoutZeros(second))}`;
  }

  readonly count = ({ number, to }: Quantity): string => {
    const from = this.number(number);
    return to === undefined ? from : this.range(from, this.number(to));
  };

  readonly measure = (quantity: Quantity, unit: Noun): string => {
    return `${this.count(quantity)} ${this.#formFor(quantity.to ?? quantity.number, unit)}`;
  };

  readonly money = (quantity: Quantity, currency: Noun): string => {
    const whole = (numeral: Numeral): Numeral =>
      /^0+$/.test(numeral.decimals) ? { ...numeral, decimals: '' } : numeral;
    const { number, to } = quantity;
    const round = { ...quantity, number: whole(number), ...(to === undefined ? {} : { to: whole(to) }) };
    return this.measure(round, currency);
  };

  readonly date = ({ day, dayTo, month, year, weekday }: WrittenDate): string | undefined => {
    const names = month === undefined ? undefined : this.#months[month - 1];
    const monthWords = names?.[0]?.replace(/\d+/g, (digits) => this.#cardinal(digits));
    const days =
      day &&
      (dayTo === undefined ? this.#cardinal(day) : this.range(this.#cardinal(day), this.#cardinal(dayTo)));
    const said = dateWords(this.#tag, {
      ...(days === undefined ? {} : { day: days }),
      ...(monthWords === undefined ? {} : { month: monthWords }),
      ...(year === undefined ? {} : { year: this.#cardinal(withoutZeros(year)) }),
    });
    const named = weekday === undefined ? undefined : this.#weekdays[weekday]?.[0];
    return named === undefined ? said : `${named}, ${said}`;
  };

  readonly time = ({ hours, minutes, seconds }: Parameters<Speech['time']>[0]): string => {
    const rest = [minutes, seconds].filter((part) => part !== undefined && part !== '' && part !== '00');
    return [this.#cardinal(hours), ...rest.map((part) => this.#twoDigits(part ?? ''))].join(' ');
  };

  readonly duration = (parts: readonly (readonly [amount: string, unit: 'h' | 'min' | 's'])[]): string => {
    return parts
      .filter(([amount], index) => index === 0 || Number(amount) > 0)
      .map(([amount, unit]) => {
        const digits = withoutZeros(amount);
        return `${this.#cardinal(digits)} ${unitName(this.#tag, DURATIONS[unit], Number(digits), 'long')}`;
      })
      .join(' ');
  };

  readonly power = (): undefined => {
    return undefined;
  };

  readonly range = (from: string, to: string): string => {
    return this.#to === undefined ? `${from}, ${to}` : `${from} ${this.#to} ${to}`;
  };

  readonly score = (home: string, guest: string): string => {
    return `${home}, ${guest}`;
  };

  readonly exchange = (from: string, to: string): string => {
    return `${this.letters(from)} ${this.#cardinal('2')} ${this.letters(to)}`;
  };

  readonly processor = (brand: string, series: string, model: string): string => {
    return `${this.letters(brand)} ${this.#cardinal(series)} ${this.digits(model)}`;
  };

  readonly outOf = (got: string, most: string): string => {
    return this.#pair(got, most, this.#over);
  };

  readonly atLeast = (number: string, noun: string): string => {
    return `${number} ${this.#plus}${noun}`;
  };

  readonly telephone = (groups: readonly string[], plus: boolean): string => {
    return (plus ? `${this.#plus} ` : '') + groups.map((group) => this.digits(group)).join(', ');
  };

  #twoDigits(digits: string): string {
    return digits.startsWith('0') ? this.digits(digits) : this.#cardinal(digits);
  }

  #formFor(number: Numeral, { forms }: Noun): string {
    const form = this.#plural.select(
      Math.abs(valueOf(number.decimals === '' ? number : numeralWith(number))),
    );
    return forms[this.#forms.indexOf(form)] ?? forms.at(-1) ?? '';
  }
}

/** A value with a fraction, as plural rules see it: 1.50 is no whole number. */
function numeralWith(number: Numeral): Numeral {
  return /^0+$/.test(number.decimals) ? numeralOf(number.whole) : number;
}

const DURATIONS = { h: 'hour', min: 'minute', s: 'second' } as const;
