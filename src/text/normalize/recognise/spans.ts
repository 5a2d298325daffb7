// Numbers that reach from one to another, or up from one: 80-60 km/h, 24+ hrs, 1,2,3.
import { CharacterSet } from '../../character-set.js';
import { classAt, IDEOGRAPH, isDigitAt, isWordAt } from '../characters.js';
import { behind } from '../dispatch.js';
import type { Language } from '../language.js';
import type { Noun, Quantity } from '../quantity.js';
import { LiteralTable } from '../literals.js';
import { isSayable } from '../number-words.js';
import { type NumeralAt, numeralOf, readNumeral, valueOf } from '../numerals.js';
import {
  Around,
  composed,
  type Found,
  NOWHERE,
  type Reading,
  skipSpaces,
  type TypedFound,
} from '../reading.js';

const MARK = /[-–~～〜](?=\d)/y;
const SIZES = /((?:X{0,3}S|M|L))[-–](M|X{0,4}L)(?![\p{L}\p{N}-])/uy;
const LIST = /\d{1,2}(?:,\d{1,2}){2,15}(?![\p{L}\p{N}%‰°]|[.,]\d)/uy;
const PLUS = /\+ ?/y;
/** Behind the sign something is added, and nothing is counted. */
const SUM = /^ ?[-+=<>×*/]/;
/** Counted things behind which no space stands. */
const COUNTERS =
  /(?:个?(?:小时|小時|月|星期)|個?(?:小時|月)|分钟|分鐘|天|年|岁|歲|人|名|次|件|家|位|台|時間|か月|ヶ月|カ月|週間|日|分|歳|回|個|社)(?=[\p{P}\s]|\p{Script=Hiragana}|\p{Script=Han}|$)/uy;
/** Measured by these, a range that falls is no score. */
const MEASURED =
  /^ ?(?:米|公里|公斤|千克|克|元|度|升|吨|厘米|毫米|円|メートル|キロ|グラム|미터|킬로|그램|원)/u;
/** 10-8 h is a time of day. */
const CLOCK_UNITS: ReadonlySet<string> = new Set(['h', 'H', 'h.', 'ч', 'ч.']);

const CUTS = new CharacterSet('-–/.,:+');

interface Span {
  readonly quantity: Quantity;
  readonly end: number;
}

export class Spans {
  readonly #language: Language;
  readonly #units: LiteralTable<Noun>;

  constructor(language: Language) {
    this.#language = language;
    this.#units = LiteralTable.of(language.writing.units);
  }

  /** S–XXL: sizes of clothes. */
  readonly atLetter = behind(/[-–]/, (reading) => {
    const match = reading.match(SIZES);
    if (match === undefined) return undefined;
    const { speech } = this.#language;
    const [written, from = '', to = ''] = match;
    const end = reading.at + written.length;
    const [first, last] = [speech.letters(from), speech.letters(to)];
    return { end, spoken: speech.range(first, last, reading.around(end)), rule: 'range', isCertain: true };
  });

  readonly atDigit = behind(/^(?:[-–~～〜., ]\d|\+)/, (reading) => {
    const { text, at, runEnd } = reading;
    if (CUTS.at(text, at - 1)) return undefined;
    const list = text[runEnd] === ',' ? this.#list(reading) : undefined;
    if (list !== undefined) return list;
    const read = this.#numeral(text, at);
    const isOpen = read !== undefined && text[read.end] === '+';
    return read && (isOpen ? this.#open(reading, read) : this.#falling(reading, read));
  });

  /** 1,2,3: more than one comma is no decimal mark. */
  #list(reading: Reading): TypedFound | undefined {
    const match = reading.match(LIST);
    const parts = match?.[0].split(',') ?? [];
    if (match === undefined || parts.some((part) => /^0\d/.test(part))) return undefined;
    const { speech } = this.#language;
    return composed(reading.at + match[0].length, 'cardinal', () =>
      parts.map((part) => speech.number(numeralOf(part), NOWHERE)).join(','),
    );
  }

  /** 24+ hrs, 100+ people */
  #open(reading: Reading, read: NumeralAt): Found | undefined {
    const { text, at } = reading;
    const plus = reading.match(PLUS, read.end);
    if (plus === undefined) return undefined;
    const next = read.end + plus[0].length;
    const unit = this.#units.at(text, next);
    if (unit !== undefined) return this.#openMeasure(reading, read, next + unit.written.length, unit.value);
    const { speech } = this.#language;
    const counter = reading.match(COUNTERS, next)?.[0];
    if (counter !== undefined) {
      const whole = text.slice(at, read.end) + counter;
      const number = speech.count({ number: read.numeral }, new Around(whole, 0, read.end - at));
      return {
        end: next + counter.length,
        spoken: speech.atLeast(number, counter, NOWHERE),
        rule: 'measure',
      };
    }
    if (plus[0] !== '+ ' || !/^\p{Ll}{2}/u.test(text.slice(next, next + 2))) return undefined;
    const end = next - 1;
    const around = reading.around(end);
    const number = speech.count({ number: read.numeral }, around);
    return { end, spoken: speech.atLeast(number, '', around), rule: 'cardinal' };
  }

  #openMeasure(reading: Reading, { numeral }: NumeralAt, end: number, unit: Noun): Found | undefined {
    if (SUM.test(reading.text.slice(end, end + 2))) return undefined;
    const { speech } = this.#language;
    const around = reading.around(end);
    const measured = speech.measure({ number: numeral }, unit, around);
    const number = speech.number(numeral, around, unit);
    const noun = unit.forms.find((form) => form !== '' && measured.endsWith(form));
    const cut = measured.startsWith(number)
      ? number.length
      : measured.slice(0, -(noun?.length ?? measured.length)).trimEnd().length;
    if (cut === 0) return undefined;
    return {
      end,
      spoken: speech.atLeast(measured.slice(0, cut), measured.slice(cut), around),
      rule: 'measure',
    };
  }

  /** 80-60 km/h, 2000–1950 m; and 1950-2000 m, which are no years. */
  #falling(reading: Reading, from: NumeralAt): TypedFound | undefined {
    const span = this.#span(reading, from);
    if (span === undefined) return undefined;
    const { text } = reading;
    const next = skipSpaces(text, span.end);
    const unit = next - span.end <= 1 ? this.#units.at(text, next) : undefined;
    if (unit !== undefined && classAt(unit.written, 0) !== IDEOGRAPH) {
      const end = next + unit.written.length;
      if (CLOCK_UNITS.has(unit.written) || isWordAt(text, end)) return undefined;
      const token = { quantity: span.quantity, unit: unit.value, around: reading.around(end) };
      return { end, token: { type: 'measure', ...token }, rule: 'measure' };
    }
    if (!MEASURED.test(text.slice(span.end, span.end + 6))) return undefined;
    const around = reading.around(span.end);
    return { end: span.end, token: { type: 'count', quantity: span.quantity, around }, rule: 'range' };
  }

  #span(reading: Reading, from: NumeralAt): Span | undefined {
    const { text } = reading;
    const mark = reading.match(MARK, from.end);
    const to = mark && this.#numeral(text, from.end + mark[0].length);
    if (to === undefined || /^[-–/:,.]\d/.test(text.slice(to.end, to.end + 2))) return undefined;
    const falls = valueOf(to.numeral) < valueOf(from.numeral);
    if (!falls && !(isLikeYear(from) && isLikeYear(to))) return undefined;
    return { quantity: { number: from.numeral, to: to.numeral }, end: to.end };
  }

  #numeral(text: string, at: number): NumeralAt | undefined {
    if (!isDigitAt(text, at)) return undefined;
    const read = readNumeral(text, at, this.#language.writing.numbers);
    const sayable = read !== undefined && isSayable(read.numeral.whole) && !/^0\d/.test(read.numeral.whole);
    return sayable ? read : undefined;
  }
}

function isLikeYear({ numeral: { whole, grouped, decimals } }: NumeralAt): boolean {
  return !grouped && decimals === '' && /^(?:1\d|20)\d\d$/.test(whole);
}
