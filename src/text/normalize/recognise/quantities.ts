// Amounts: money, measures, percentages, ranges, and numbers that only count.
import { CharacterSet } from '../../character-set.js';
import { ALPHABETIC, classAt, DIGIT, isCapitalAt, isDigitAt, isWordAt, LETTER } from '../characters.js';
import { behind, type Row } from '../dispatch.js';
import type { Language } from '../language.js';
import { isInQuotation, LONGEST_QUOTATION } from './arithmetic.js';
import type { Currency, Fraction, Noun, Quantity } from '../quantity.js';
import { LiteralTable } from '../literals.js';
import { isSayable } from '../number-words.js';
import { numeralOf, type NumeralAt, readNumeral, valueOf, withoutZeros } from '../numerals.js';
import {
  Around,
  type Candidate,
  composed,
  either,
  type Reading,
  type Rule,
  skipSpaces,
  type Token,
  type TypedFound,
} from '../reading.js';

interface QuantityAt {
  readonly quantity: Quantity;
  readonly end: number;
}

const RANGE_MARK = /( ?)([-–—~～〜])\1/y;
const FRACTION = new RegExp(String.raw`(\d{1,4})[/⁄](\d{1,4})(?![\d/⁄]|\.\d)`, 'uy');
/** A pack of 10+1 — 500 ₽, № 4 — 300 ₽, Main Street, 78 — 300 ₽: the dash parts a name from its price. */
const ITEM_BEFORE = /(?:\d ?\+ ?|№ ?|\p{Lu}\p{L}+,? )\d+(?:[.,]\d+)?$/u;
const LIQUID = /^\d{1,4} ?(?:m[lL]|мл|毫升)/u; // 125 mg/5 ml
const LINK = / \p{L}{1,4} (?=\d)/uy;
/** Key of the word that stands for the stroke before any noun. */
const ANY = '*';
const NOUN_BEHIND = /\/(?![A-Z]{3}(?!\p{L}))(?=\p{L}{3,24}(?![\p{L}\p{N}/]|\. [\p{Ll}\d]))|\/(?=SMS|MMS)/uy;
const REPEATABLE: ReadonlySet<Rule> = new Set<Rule>(['percent', 'measure', 'currency']);
const DECADE = /^\d{4}s$/;
/** A word for a thing, but no short form: 12 €/erm. 8 € */
const THING = /(?:\p{L}\p{Ll}{2,19}|[A-Z]{3,5})(?![\p{L}\p{N}]|\. [\p{Ll}\d])/uy;
/** 20,– €, CHF 690.–: no cents. */
const NO_CENTS = /[.,][-–—]{1,2}(?! ?\d|\p{L})/uy;
/** The rest of "1 à 2 h", "1 o 2 min". */
const OR_MORE = / (?:[aàóou]|ou) \d{1,3} ?(?=\p{L})/uy;
const SIGN = new CharacterSet('-−+±');
const HANGING_UNIT = /^(?:\p{Ll}{2,}\.?|[kmMGTµ]?(?:Ah|Wh|Hz)|[kMG][WVB]|TB)$/u;
const MINUS = new CharacterSet('-−–');
const DASH = new CharacterSet('-–—~～〜');
const STROKE = new CharacterSet('/⁄');
const MIXED_FRACTION = new RegExp(String.raw`[ -](\d{1,3})[/⁄](\d{1,4})(?![\d/⁄]|${ALPHABETIC})`, 'uy');
const MIXED_WITH_NOUN = /\d{1,3}(?: [1-9][/⁄][2-9]| ?[½¼¾⅓⅔]) [a-zà-ÿ]{3}/y;
const VULGAR = '¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞';
const VULGAR_SIGNS = new CharacterSet(VULGAR);
const VULGAR_PARTS = '1/4 1/2 3/4 1/7 1/9 1/10 1/3 2/3 1/5 2/5 3/5 4/5 1/6 5/6 1/8 3/8 5/8 7/8'.split(' ');

/** The numerator and denominator of a sign such as ½. */
export function vulgarFraction(sign: string): { numerator: string; denominator: string } | undefined {
  const [numerator, denominator] = (VULGAR_PARTS[VULGAR.indexOf(sign)] ?? '').split('/');
  if (sign === '' || !VULGAR.includes(sign) || numerator === undefined || denominator === undefined) {
    return undefined;
  }
  return { numerator, denominator };
}

/** A dash that touches the number behind it, where no number stands before it: –5 °C. */
function isDashedMinus(text: string, at: number): boolean {
  if (text[at] !== '–' || !/^(?:\d|(?:[A-Z]{1,2})?\p{Sc})/u.test(text.slice(at + 1, at + 4))) return false;
  if (at === 0) return /\p{Sc}/u.test(text.slice(1, 4));
  return /(?:[^\d\s,;.–—-] |\()$/u.test(text.slice(Math.max(0, at - 2), at));
}

/** (- € 20): a dash that stands apart is a minus only behind a bracket or colon. */
function afterSign(text: string, at: number): number {
  return /[(:] ?$/.test(text.slice(Math.max(0, at - 2), at)) ? skipSpaces(text, at + 1) : at + 1;
}

function rangeMark(text: string, at: number): RegExpExecArray | null {
  if (!DASH.at(text, text[at] === ' ' ? at + 1 : at)) return null;
  RANGE_MARK.lastIndex = at;
  return RANGE_MARK.exec(text);
}

/** 01 h agrees with its noun as 1 h does. */
function counted(quantity: Quantity): Quantity {
  const { number } = quantity;
  if (!/^0\d/.test(number.whole)) return quantity;
  return { ...quantity, number: { ...number, whole: withoutZeros(number.whole) } };
}

function signed(sign: string, found: TypedFound): TypedFound {
  const { token } = found;
  return { ...found, token: { type: 'signed', sign, of: token, around: token.around } };
}

// Behind a letter that multiplies money: "$3.2 B in assets", but not "$20 K Street".
const AFTER_MAGNITUDE = /^(?:[.,;:!?)]|$| (?!\p{Lu}))/u;

/** Knows everything that begins with a number or with the sign of a currency. */
export class Quantities {
  readonly #language: Language;
  readonly #units: LiteralTable<Noun>;
  readonly #magnitudes: LiteralTable<NonNullable<Quantity['magnitude']>>;
  readonly #moneyMagnitudes: LiteralTable<NonNullable<Quantity['magnitude']>>;
  readonly #currencies: LiteralTable<Currency>;
  readonly #per: LiteralTable<string>;
  /** "Per", before a noun that is read by itself. */
  readonly #anyPer: string | undefined;

  constructor(language: Language) {
    const { units, magnitudes, moneyMagnitudes, currencies, currencySigns, per } = language.writing;
    this.#language = language;
    this.#units = LiteralTable.of(units);
    this.#magnitudes = LiteralTable.of(magnitudes);
    this.#moneyMagnitudes =
      moneyMagnitudes === undefined
        ? this.#magnitudes
        : LiteralTable.of({ ...magnitudes, ...moneyMagnitudes });
    const { [ANY]: any, ...named } = per;
    this.#anyPer = any;
    this.#per = new LiteralTable(Object.entries(named).flatMap(withStop));
    const signs = Object.entries(currencySigns).flatMap(([sign, code]): [string, Currency][] => {
      const currency = currencies[code];
      return currency === undefined ? [] : [[sign, currency]];
    });
    this.#currencies = new LiteralTable([...signs, ...Object.entries(currencies)]);
  }

  /** 5 · 5 km · 5-10 % · 3.5 million euros */
  readonly atDigit = behind(/^/, (reading) => {
    const fraction = this.#fraction(reading);
    return fraction === undefined ? this.#plain(reading) : either(fraction, () => this.#plain(reading));
  });

  #plain(reading: Reading): TypedFound | undefined {
    return this.#compound(reading) ?? this.#amountOrTwo(reading);
  }

  /** -5 · +3 °C · $5 · -$5 · ±2 · .5 · ½ cup */
  readonly atMark: Row = {
    knows: ({ first }) =>
      SIGN.at(first, 0) ||
      first === '–' ||
      first === this.#language.writing.numbers.decimal ||
      VULGAR.includes(first) ||
      this.#currencies.beginsWith(first),
    recognise: (reading) => this.#atMark(reading),
  };

  #atMark(reading: Reading): Candidate | undefined {
    const { text, at } = reading;
    const mark = text[at] ?? '';
    if ((mark === '.' || mark === ',') && !isDigitAt(text, at + 1)) return undefined;
    if (VULGAR.includes(mark)) return this.#vulgar(reading);
    const currency = this.#currencyBefore(reading, at);
    if (currency !== undefined) return currency;
    const decimal = mark === this.#language.writing.numbers.decimal;
    if (!SIGN.at(text, at) && !isDashedMinus(text, at) && !(decimal && mark === '.')) return undefined;
    const isBelow = text[at - 1] === '/' && /^[-−–]\d{1,2} ?°/.test(text.slice(at, at + 5)); // 3/-2 °C
    if (isWordAt(text, at - 1) || (!isBelow && /[-−–.,/)\]ºª°%]/.test(text[at - 1] ?? ''))) return undefined;
    if (decimal) return isDigitAt(text, at + 1) ? this.#amount(reading, at, false) : undefined;
    return this.#signed(reading);
  }

  /** USD 5 · US$5 · CHF 20 */
  readonly atLetter: Row = {
    knows: ({ isFresh, first }) => isFresh && this.#currencies.beginsWith(first),
    recognise: (reading) => this.#currencyBefore(reading, reading.at),
  };

  #signed(reading: Reading): Candidate | undefined {
    const { text, at } = reading;
    const mark = text[at] ?? '';
    const minus = MINUS.at(text, at);
    const symbols = this.#language.symbols;
    if (mark === '+' && /^ \d{1,2}:[0-5]\d(?!\d)/.test(text.slice(at + 1, at + 8)))
      return { end: at + 1, spoken: symbols.plus, rule: 'symbol' }; // 17:30 + 20:45 Uhr
    const fraction = this.#fraction(reading, minus ? afterSign(text, at) : skipSpaces(text, at + 1));
    if (fraction !== undefined) {
      const sign = minus ? symbols.minus : mark === '+' ? symbols.plus : symbols.inMath[mark];
      return sign === undefined ? undefined : signed(sign, fraction);
    }
    if (minus) {
      // The number and its noun are read by themselves, menos dos puntos y medio; a Russian number takes its
      // case from before the sign.
      if (reading.match(MIXED_WITH_NOUN, at + 1))
        return { end: at + 1, spoken: symbols.minus, rule: 'symbol' };
      return this.#currencyBefore(reading, afterSign(text, at), true) ?? this.#amount(reading, at + 1, true);
    }
    const found =
      this.#currencyBefore(reading, skipSpaces(text, at + 1)) ??
      this.#amount(reading, skipSpaces(text, at + 1), false);
    const isAdded = /[\p{L}\p{N}²³)] \+ /u.test(text.slice(Math.max(0, at - 2), at + 2)); // 1 + 1, 5x + 6
    const name = mark === '+' && !isAdded ? symbols.plus : symbols.inMath[mark]?.trim();
    return found === undefined || name === undefined ? undefined : signed(name, found);
  }

  /** 1/2 · 3/4 cup */
  #fraction(reading: Reading, at = reading.at): TypedFound | undefined {
    const signed = at !== reading.at;
    if (!signed && !STROKE.at(reading.text, reading.runEnd)) return undefined;
    const match = reading.match(FRACTION, at);
    if (match === undefined) return undefined;
    const [written, numerator = '', denominator = ''] = match;
    const end = at + written.length;
    const isGlued = classAt(reading.text, end) === LETTER; // 1/2kg
    if (Number(denominator) === 0 || (isGlued && this.#units.at(reading.text, end) === undefined))
      return undefined;
    return this.#part(reading, { numerator, denominator }, end);
  }

  #vulgar(reading: Reading): TypedFound | undefined {
    const fraction = vulgarFraction(reading.text[reading.at] ?? '');
    if (fraction === undefined) return undefined;
    const end = reading.at + 1;
    return this.#part(reading, fraction, end);
  }

  /** A fraction and the unit behind it. */
  #part(reading: Reading, fraction: Fraction, from: number): TypedFound | undefined {
    const next = skipSpaces(reading.text, from);
    const unit = this.#units.at(reading.text, next) ?? this.#inchMark(reading.text, next);
    const end = unit === undefined ? from : next + unit.written.length;
    if (unit?.written.startsWith('°') === true && from === reading.runEnd + 1 + fraction.denominator.length) {
      const { speech, symbols, unspaced } = this.#language;
      const gap = unspaced === true ? '' : ' ';
      const first = numeralOf(fraction.numerator);
      const words = (): string => speech.number(first, reading.around(reading.runEnd)) + symbols.pause + gap;
      return composed(reading.runEnd + 1, 'range', words); // 12/4 °C
    }
    const token: Token = { type: 'fraction', fraction, unit: unit?.value, around: reading.around(end) };
    return { end, token, rule: 'fraction' };
  }

  #unitBehind(
    text: string,
    at: number,
    { fraction }: Quantity,
  ): { written: string; value: Noun } | undefined {
    return this.#units.at(text, at) ?? (fraction && this.#inchMark(text, at));
  }

  /** The mark behind 3/4" and 2⅜", where it closes no quotation. */
  #inchMark(text: string, at: number): { written: string; value: Noun } | undefined {
    const value = /["″”]/.test(text[at] ?? '') ? this.#language.writing.units['in.'] : undefined;
    if (value === undefined || isInQuotation(text.slice(Math.max(0, at - LONGEST_QUOTATION), at)))
      return undefined;
    return { written: text[at] ?? '', value };
  }

  /** An amount with its currency in front. */
  #currencyBefore(reading: Reading, at: number, negative = false): TypedFound | undefined {
    const { text } = reading;
    const literal = this.#currencyAt(text, at);
    if (literal === undefined) return undefined;
    let start = skipSpaces(text, literal.end);
    const sign = MINUS.at(text, start);
    if (sign) start++;
    if (!isDigitAt(text, start) && text[start] !== '.') return undefined;
    const read = this.#quantityAt(text, start, negative || sign, literal.written);
    if (read === undefined) return undefined;
    if (
      literal.written === 'Euro' &&
      /^ [3-7](?:d|[a-c])?(?![\p{L}\p{N}]|[.,]\d)/u.test(text.slice(literal.end, literal.end + 5))
    )
      return undefined; // of an engine
    const isClock = /^:[0-5]\d(?!\d)/.test(text.slice(read.end, read.end + 4)); // Fr. 16:30, Fr. 16 Uhr
    const { nextWord } = reading.around(read.end);
    if (isClock || Object.hasOwn(this.#language.writing.times.words, nextWord)) return undefined;
    // The INR of blood
    if (literal.written === 'INR' && /^\d[.,]\d$/.test(text.slice(start, read.end))) return undefined;
    const whole = read.end + (reading.match(NO_CENTS, read.end)?.[0].length ?? 0);
    const code = this.#codeBehind(text, whole, literal.written); // $5 CAD
    return this.#money(reading, { ...read, end: code?.end ?? whole }, (code ?? literal).value);
  }

  /** The code of a currency whose sign stands before its amount, too. */
  #codeBehind(text: string, end: number, sign: string): { value: Currency; end: number } | undefined {
    const at = skipSpaces(text, end);
    const code = text.slice(at, at + 3);
    const value = this.#language.writing.currencies[code];
    if (value === undefined || !/^[A-Z]{3}$/.test(code) || isWordAt(text, at + 3)) return undefined;
    return /\p{Sc}$/u.test(sign) ? { value, end: at + 3 } : undefined;
  }

  /** 5%-6% · 10 € – 20 €: two amounts of one kind. */
  #amountOrTwo(reading: Reading): TypedFound | undefined {
    const first = this.#amount(reading, reading.at, false);
    if (
      first === undefined ||
      !REPEATABLE.has(first.rule) ||
      DECADE.test(reading.text.slice(reading.at, first.end))
    )
      return first;
    const mark = rangeMark(reading.text, first.end);
    const at = first.end + (mark?.[0].length ?? 0);
    if (mark === null || !isDigitAt(reading.text, at)) return first;
    const second = this.#amount(reading, at, false);
    if (second?.rule !== first.rule) return first;
    const around = reading.around(second.end);
    return { ...second, token: { type: 'range', from: first.token, to: second.token, around } };
  }

  /** A 5-km run: the unit hangs on its number, in the singular. */
  #compound(reading: Reading): TypedFound | undefined {
    const { text, at, runEnd } = reading;
    if (text[runEnd] !== '-' && !isDigitAt(text, runEnd + 1)) return undefined;
    const read = this.#numeralAt(text, at);
    if (read === undefined || text[read.end] !== '-') return undefined;
    const unit = this.#units.at(text, read.end + 1);
    if (unit === undefined || !HANGING_UNIT.test(unit.written)) return undefined;
    const end = read.end + 1 + unit.written.length;
    const around = reading.around(read.end);
    const [name = unit.written] = unit.value.forms;
    return { end, token: { type: 'attribute', numeral: read.numeral, unit: name, around }, rule: 'measure' };
  }

  #currencyAt(text: string, at: number): { written: string; value: Currency; end: number } | undefined {
    const code = isDigitAt(text, at + 3) && isCapitalAt(text, at) ? text.slice(at, at + 3) : '';
    const isCode = code !== '' && /^[A-Z]{3}$/.test(code);
    const known = isCode ? this.#language.writing.currencies[code] : undefined;
    // USD5.
    const literal = known === undefined ? this.#currencies.at(text, at) : { written: code, value: known };
    return literal && { ...literal, end: at + literal.written.length };
  }

  #amount(reading: Reading, at: number, negative: boolean): TypedFound | undefined {
    const { text } = reading;
    const read = this.#quantityAt(text, at, negative, '');
    if (read === undefined) return undefined;
    const whole = read.end + (reading.match(NO_CENTS, read.end)?.[0].length ?? 0);
    const named = skipSpaces(text, whole);
    const currency = named - whole <= 1 ? this.#currencyAt(text, named) : undefined;
    const isOfNext =
      currency?.written.endsWith('$') === true && /^ \d/.test(text.slice(currency.end, currency.end + 2));
    if (currency !== undefined && !isDigitAt(text, currency.end) && !isOfNext) {
      return this.#money(reading, { ...read, end: currency.end }, currency.value);
    }
    const next = skipSpaces(text, read.end);
    const unit = next - read.end <= 1 ? this.#unitBehind(text, next, read.quantity) : undefined;
    if (unit !== undefined && !isInitial(text, next) && !isOfCode(read, unit.written, next))
      return this.#measure(reading, read, next + unit.written.length, unit.value);
    return this.#firstOfTwo(reading, read) ?? this.#oneOrMore(reading, read) ?? this.#count(reading, read);
  }

  /** The 1 of "1 à 2 h" agrees with the unit behind the second number. */
  #oneOrMore(reading: Reading, { quantity, end }: QuantityAt): TypedFound | undefined {
    const { text, at } = reading;
    const more = text.slice(at, end) === '1' ? reading.match(OR_MORE, end) : undefined;
    const unit = more && this.#units.at(text, end + more[0].length)?.value;
    if (unit?.gender !== 'f') return undefined;
    const noun = { ...unit, forms: [''] }; // una o due ore, not un'
    return composed(end, 'cardinal', () =>
      this.#language.speech.number(quantity.number, reading.around(end), noun),
    );
  }

  #money(reading: Reading, { quantity, end }: QuantityAt, currency: Currency): TypedFound {
    const token: Token = { type: 'money', quantity, currency, around: reading.around(end) };
    return this.#perUnit(reading, { end, token, rule: 'currency' });
  }

  #measure(reading: Reading, { quantity }: QuantityAt, end: number, unit: Noun): TypedFound {
    const token: Token = { type: 'measure', quantity: counted(quantity), unit, around: reading.around(end) };
    const rule: Rule = reading.text[end - 1] === '%' || reading.text[end - 1] === '‰' ? 'percent' : 'measure';
    return this.#perUnit(reading, { end, token, rule });
  }

  /** 5 €/kg; 5 mg/kg/day, where there is one more. */
  #perUnit(reading: Reading, found: TypedFound, more = true): TypedFound {
    if (reading.text[found.end] !== '/') return found;
    const per =
      this.#per.at(reading.text, found.end + 1) ??
      this.#perAmount(reading.text, found) ??
      this.#perThing(reading, found);
    if (per === undefined) return this.#perNoun(reading, found);
    const next = reading.text.slice(found.end + 1 + per.written.length, found.end + 4 + per.written.length);
    if (per.written === 'min' && /^\.? [-−]?\d/.test(next)) return found; // max 31°/min 19°
    if (/^\d/.test(per.written) && /^ \d/.test(next)) return found; // 1,000만원/1일 5,000만원
    const end = found.end + 1 + per.written.length;
    const { token } = found;
    const around = reading.around(end); // a $20/person fee: the noun stands behind both
    const said: TypedFound = {
      ...found,
      end,
      token: { type: 'rate', of: { ...token, around }, per: per.value, around },
    };
    return more ? this.#perUnit(reading, said, false) : said;
  }

  /** The /bag of $15/bag */
  #perThing(reading: Reading, { end, rule }: TypedFound): { written: string; value: string } | undefined {
    const { per } = this.#language.symbols;
    const written = per === undefined || rule !== 'currency' ? undefined : reading.match(THING, end + 1)?.[0];
    return written === undefined
      ? undefined
      : {
          written,
          value: `${per} ${/^[A-Z]{3}/.test(written) ? this.#language.speech.letters(written) : written}`,
        };
  }

  /** 2 800 ₽/60 min: the row … of the table has the word. */
  #perAmount(text: string, { end, rule }: TypedFound): { written: string; value: string } | undefined {
    const at = end + 1;
    const { speech, writing, unspaced } = this.#language;
    const { per } = writing;
    const isDose =
      rule === 'measure' && /[gг克]$/u.test(text.slice(end - 1, end)) && LIQUID.test(text.slice(at, at + 8));
    const word = isDose
      ? (per['… ml'] ?? per['…'])
      : rule === 'currency'
        ? (per['…'] ?? (speech.per && ''))
        : undefined;
    const read = word === undefined ? undefined : this.#numeralAt(text, at);
    const next = read && skipSpaces(text, read.end);
    const unit = next === undefined ? undefined : (this.#units.at(text, next) ?? this.#counterAt(text, next));
    if (read === undefined || next === undefined || unit === undefined) return undefined;
    const written = text.slice(at, next + unit.written.length);
    const around = new Around(
      `${word} ${written}`,
      (word ?? '').length + 1,
      (word ?? '').length + 1 + written.length,
    );
    const said = speech.measure({ number: read.numeral }, unit.value, around);
    const value = speech.per?.(said);
    if (value !== undefined) return { written, value };
    return { written, value: unspaced === true ? `${word}${said}` : `${word} ${said}` };
  }

  /** The 秒 of 22円/30秒: no unit, but a word that has a phrase for each. */
  #counterAt(text: string, at: number): { written: string; value: Noun } | undefined {
    const written = this.#language.speech.per && this.#per.at(text, at)?.written;
    return written === undefined ? undefined : { written, value: { forms: [written] } };
  }

  /** 4 €/meal */
  #perNoun(reading: Reading, found: TypedFound): TypedFound {
    const { token } = found;
    if (found.rule !== 'currency' && token.type !== 'rate') return found;
    if (this.#anyPer === undefined || reading.match(NOUN_BEHIND, found.end) === undefined) return found;
    const rate: Token = { type: 'rate', of: token, per: `${this.#anyPer} `, around: token.around };
    return { ...found, end: found.end + 1, token: rate };
  }

  /** The first amount of "from 48.20 to 51.75 €". */
  #firstOfTwo(reading: Reading, { quantity, end }: QuantityAt): TypedFound | undefined {
    if (quantity.number.decimals.length !== 2 || quantity.to !== undefined) return undefined;
    const { text } = reading;
    const link = reading.match(LINK, end);
    const second = link && this.#numeralAt(text, end + link[0].length);
    if (second?.numeral.decimals.length !== 2) return undefined;
    const currency = this.#currencyAt(text, skipSpaces(text, second.end));
    if (currency === undefined || isDigitAt(text, currency.end)) return undefined;
    const token: Token = { type: 'money', quantity, currency: currency.value, around: reading.around(end) };
    return { end, token, rule: 'currency' };
  }

  #count(reading: Reading, { quantity, end }: QuantityAt): TypedFound | undefined {
    const { text } = reading;
    // 3万5千 goes on behind a word of its own.
    if (isWordAt(text, end) && isWordAt(text, end - 1)) return undefined;
    const { number, to, magnitude } = quantity;
    const around = reading.around(end);
    const token: Token = { type: 'count', quantity, around };
    if (to !== undefined) return { end, token, rule: 'range' };
    const rule =
      quantity.fraction !== undefined ? 'fraction' : number.decimals === '' ? 'cardinal' : 'decimal';
    const year = number.whole.length === 4 && !number.negative && !number.grouped && number.decimals === '';
    if (year && magnitude === undefined && quantity.fraction === undefined) {
      const isSure = this.#language.writing.yearAfter.has(around.previousWord);
      const named: Token = { type: 'year', digits: number.whole, isSure, around };
      return either({ end, token: named, rule: 'year' }, () => ({ end, token, rule }));
    }
    return { end, token, rule };
  }

  #quantityAt(text: string, at: number, negative: boolean, sign: string): QuantityAt | undefined {
    const first = this.#numeralAt(text, at);
    if (first === undefined) return undefined;
    const number = negative ? { ...first.numeral, negative } : first.numeral;
    let { end } = first;
    const fraction = this.#fractionAt(text, first);
    if (fraction !== undefined)
      return { quantity: { number, fraction: fraction.fraction }, end: fraction.end };
    const range = this.#rangeAt(text, { numeral: number, end }, sign);
    if (range !== undefined) end = range.end;
    const magnitude = this.#magnitudeAt(text, end, sign);
    if (magnitude !== undefined) end = magnitude.end;
    const second =
      magnitude === undefined || range !== undefined
        ? undefined
        : this.#rangeAt(text, { ...first, end }, sign);
    const same = second === undefined ? undefined : this.#magnitudeAt(text, second.end, sign); // $1.2M–$1.5M
    const isRange = same !== undefined && same.value.power === magnitude?.value.power;
    if (isRange) end = same.end;
    const to = range ?? (isRange ? second : undefined);
    const quantity: Quantity = {
      number,
      to: to?.numeral,
      magnitude: magnitude?.value,
    };
    return { quantity, end };
  }

  #numeralAt(text: string, at: number): NumeralAt | undefined {
    const read = readNumeral(text, at, this.#language.writing.numbers);
    return read !== undefined && isSayable(read.numeral.whole) ? read : undefined;
  }

  /** The ½ of 3½, the 1/2 of 3 1/2. */
  #fractionAt(text: string, { numeral, end }: NumeralAt): { fraction: Fraction; end: number } | undefined {
    if (numeral.decimals !== '' || numeral.grouped) return undefined;
    const isSpaced = text[end] === ' ';
    const sign = isSpaced ? end + 1 : end;
    const vulgar = VULGAR_SIGNS.at(text, sign) ? vulgarFraction(text[sign] ?? '') : undefined;
    if (vulgar !== undefined) return { fraction: vulgar, end: sign + 1 };
    if ((text[end] !== ' ' && text[end] !== '-') || !isDigitAt(text, end + 1)) return undefined;
    MIXED_FRACTION.lastIndex = end;
    const match = MIXED_FRACTION.exec(text);
    const [, numerator = '', denominator = ''] = match ?? [];
    if (match === null || Number(numerator) >= Number(denominator)) return undefined;
    return { fraction: { numerator, denominator }, end: end + match[0].length };
  }

  #rangeAt(text: string, from: NumeralAt, sign: string): NumeralAt | undefined {
    const mark = rangeMark(text, from.end);
    if (
      mark === null ||
      (mark[0] === ' — ' && ITEM_BEFORE.test(text.slice(Math.max(0, from.end - 24), from.end)))
    )
      return undefined;
    let at = from.end + mark[0].length;
    if (sign !== '' && text.startsWith(sign, at)) at = skipSpaces(text, at + sign.length);
    const below = from.numeral.negative && /[~～〜] ?$/.test(mark[0]) && MINUS.at(text, at); // -5~-2
    if (below) at++;
    if (classAt(text, at) !== DIGIT) return undefined;
    const read = this.#numeralAt(text, at);
    const to = read && { ...read, numeral: { ...read.numeral, negative: below } };
    if (to === undefined || valueOf(to.numeral) <= valueOf(from.numeral)) return undefined;
    if (/^0\d/.test(from.numeral.whole) || /^[-–/:]\d/.test(text.slice(to.end, to.end + 2))) return undefined;
    return to;
  }

  #magnitudeAt(
    text: string,
    from: number,
    sign: string,
  ): { value: NonNullable<Quantity['magnitude']>; end: number } | undefined {
    const at = skipSpaces(text, from);
    const literal = (sign === '' ? this.#magnitudes : this.#moneyMagnitudes).at(text, at);
    if (literal === undefined) return undefined;
    const end = at + literal.written.length;
    // 5 M€.
    const attached =
      at === from ||
      literal.written.length > 1 ||
      this.#currencyAt(text, skipSpaces(text, end)) !== undefined;
    const parted =
      sign !== '' && /^[A-Z]$/.test(literal.written) && AFTER_MAGNITUDE.test(text.slice(end, end + 2));
    return attached || parted ? { value: literal.value, end } : undefined;
  }
}

/** 1234567 A is a number of a file. */
function isOfCode({ quantity: { number }, end }: QuantityAt, unit: string, at: number): boolean {
  return at > end && /^[A-Z]$/.test(unit) && !number.grouped && number.whole.length > LONGEST_PLAIN;
}

const LONGEST_PLAIN = 4; // digits that stand without a mark of groups
const SHORT = /^\p{Ll}{2,4}$/u;

/** $20/mo. is as good as $20/mo: a short word may have its stop. */
function withStop([written, said]: readonly [string, string]): [string, string][] {
  return SHORT.test(written)
    ? [
        [written, said],
        [`${written}.`, said],
      ]
    : [[written, said]];
}

/** 79 A.D is no current. */
function isInitial(text: string, at: number): boolean {
  return isCapitalAt(text, at) && text[at + 1] === '.' && isCapitalAt(text, at + 2);
}
