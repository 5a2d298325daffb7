// Reads sums and formulas that are written without spaces: 120-45=75, 3×10^8, 4x - 7, Ca²⁺, 1:25,000.
import { CharacterSet } from '../../character-set.js';
import { WORD_UNIT } from '../characters.js';
import { beginning, behind, type Row } from '../dispatch.js';
import type { Language } from '../language.js';
import type { Noun } from '../quantity.js';
import { LiteralTable } from '../literals.js';
import { numeralOf, plainDigits, readNumeral, withoutZeros } from '../numerals.js';
import {
  Around,
  type Candidate,
  composed,
  type Found,
  NOWHERE,
  type Reading,
  skipSpaces,
  type TypedFound,
} from '../reading.js';

const SUM = /\d{1,12}(?:[.,]\d{1,6})?(?: ?[-−–+×÷*/] ?\d{1,12}(?:[.,]\d{1,6})?){1,8}(?= ?={1,2} ?[-−\d?？])/y;
const DATED = /^(?:\d{4}-\d{1,2}-\d{1,2}|\d{1,2}\/\d{1,2}\/\d{4})$/;
const MARKS = /\d+(?:[.,]\d+)?|[-−–+×÷*/]/g;
const SUMMAND = /\d+\/\d+|\d+(?:[.,]\d+)?|[-−–+×÷*/]/g; // 1/2 + 1/4
const SCIENTIFIC =
  /(\d{1,6}(?:[.,]\d{1,6})?) ?[×xX·*⋅] ?10(?:\^\{?([-−]?)(\d{1,3})\}?|(⁻?)([⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}))(?![\d^])/y;
const EXPONENTIAL = /(\d{1,6})(?:[.,](\d{1,12}))?(?:e([-+−]?)|E([-+−]))(\d{1,3})(?![\p{L}\d]|[.,]\d)/uy;
const ION = new RegExp(
  String.raw`(?:[A-Z][a-z]?[₀-₉]{0,2}){1,6}([⁰¹²³⁴-⁹]?)([⁺⁻])(?!${WORD_UNIT}|[⁺⁻⁰¹²³⁴-⁹])`,
  'uy',
);
const ELEMENT = /[A-Z][a-z]?|[₀-₉]+/g;
const COEFFICIENT = /\d{1,4}(?:[.,]\d{1,3})?(?=[a-z](?![\p{L}\p{Nd}'’.])|π(?!\p{L}{3}|\p{Nd}))/uy;
const GREEK_VARIABLE = /(\p{Script=Greek})([A-Za-z]{1,2}|)(?![\p{L}\p{Nd}'’])/uy;
const INSTALMENTS = /(\d{1,3})[x×](?=\d{1,5}(?:[.,]\d{2})? ?[€$£])/y; // 24x55,79 €
const MOLECULES = /\d{1,3}(?=(?:[A-Z][a-z]?){0,4}[A-Z][a-z]?[₀-₉])/y;
const SUM_BEFORE = /[=+×÷(√] ?$|[\p{L}\p{N}²³)] [-−–] $|[²³][-−–]$/u;
const SUM_BEHIND = /^(?:[²³]|\^\d| ?[=+×÷<>≤≥] ?[\p{L}\p{N}(]| [-−–] \d|[-−–]\d)/u;
const SMALLEST_DIVISOR = 1000; // smaller ones may be the parts of a fraction
const GROUPED = /\d{1,3}(?:([. ])\d{3})(?:\1\d{3})*(?![\d:/-]|[., ]\d)/y;
const INCHES = /\d{1,3}(?:[.,]\d{1,2})?["″”](?![A-Za-z\d])/y;
const DOSE = /(\d{1,3}) ?[x×] ?(?=\d)/y;
/** Units of what is packed or taken, by their signs in any language; a length is the side of something. */
const DOSED = 'g kg mg µg mcg ml mL cl dl l L IU IE UI GB MB'.split(' ');
export const LONGEST_QUOTATION = 80; // units
const NEAR = 24; // units in which another sign shows that this is a formula
const SCALE = /(\d{1,3}) ?[:：] ?(\d{1,3}(?:([., \u00a0\u202f])\d{3})(?:\3\d{3}){0,2})(?![\d:]|[.,]\d)/y;

const CUTS = new CharacterSet('.,:/');

/** The rows, where the number does not go on from one before it. */
function uncut(rows: readonly Row[]): readonly Row[] {
  return rows.map(({ knows, recognise }) => ({
    knows,
    recognise: (reading) => (CUTS.at(reading.text, reading.at - 1) ? undefined : recognise(reading)),
  }));
}

const PORTIONS = /(\d{1,3}) ?[x×](?= ["“„«*]{0,2}\p{Lu}(?:[\p{Lu}\p{Ll}’']|-\p{L}))/uy;
const FORMULA = /[=+÷√^]/u;

/** Knows numbers that are joined by the signs of a sum. */
export class Arithmetic {
  readonly #language: Language;
  readonly #units: LiteralTable<Noun>;
  readonly #dosed: ReadonlySet<Noun | undefined>;

  constructor(language: Language) {
    this.#language = language;
    const { units } = language.writing;
    this.#units = LiteralTable.of(units);
    this.#dosed = new Set(DOSED.map((unit) => units[unit]));
  }

  readonly atDigit = uncut([
    behind(/^[. ]\d/, (reading) => this.#grouped(reading), 3),
    behind(/^ ?[x×]/, (reading) => this.#portions(reading), 3),
    behind(/^(?:["″”]|[.,]\d)/, (reading) => this.#inches(reading), 3),
    behind(/^ ?[x×]/, (reading) => this.#dose(reading), 3),
    behind(/^(?:[.,]\d| ?[×xX·*⋅])/, (reading) => this.#scientific(reading)),
    behind(/^(?:[.,]\d|[eE])/, (reading) => this.#exponential(reading), 6),
    behind(/^(?:[.,]\d| ?[-−–+×÷*/])/, (reading) => this.#sum(reading)),
    behind(/^(?:[.,]\d|[a-zπ])/, (reading) => this.#coefficient(reading), 4),
    behind(/^ ?[:：]/, (reading) => this.#scale(reading), 3),
    behind(/^[A-Z]/, (reading) => this.#molecules(reading), 3),
    behind(/^[x×]\d/, (reading) => this.#instalments(reading), 3),
  ]);

  readonly atLetter: readonly Row[] = [
    behind(/[⁺⁻⁰¹²³⁴-⁹₀-₉]/, (reading) => this.#ion(reading)),
    beginning(/\p{Script=Greek}/u, (reading) => this.#greekVariable(reading)),
    beginning(/x/, (reading) => this.#timesOrdered(reading)),
    {
      knows: ({ isFresh, first, behind: mark }) => isFresh && first === 'x' && mark === ' ',
      recognise: (reading) => this.#times(reading),
    },
  ];

  /** The minus of x²-4x+3 = 0: between two parts of a formula. */
  readonly atMark = beginning(/[-−–]/, ({ text, at }) => {
    const [before, behind] = [text.slice(Math.max(0, at - NEAR), at), text.slice(at + 1, at + 1 + NEAR)];
    const isPart =
      /(?:(?:^|[^\p{L}'’])\d{0,4}[a-z]|[²³)]) ?$/u.test(before) && /^ ?\d{0,4}[a-z(\d]/u.test(behind);
    if (!isPart || !/^ ?(?:\d|\(|[a-z](?![\p{L}'’]))/u.test(behind) || !/[=²³^√]/u.test(before + behind))
      return undefined;
    return {
      end: at + 1,
      spoken: this.#language.symbols.inMath['-'] ?? this.#language.symbols.minus,
      rule: 'math',
    };
  });

  /** 2 × Pizza, 3x Coke: so many of them. The sign is not said. */
  #portions(reading: Reading): Candidate | undefined {
    const match = reading.match(PORTIONS);
    if (match === undefined) return undefined;
    const { text, at } = reading;
    const end = at + match[0].length;
    const near = text.slice(Math.max(0, at - NEAR), at) + text.slice(end, end + NEAR);
    if (match[0].startsWith('0') || FORMULA.test(near)) return undefined;
    const quantity = { number: numeralOf(match[1] ?? '') };
    return { end, token: { type: 'count', quantity, around: reading.around(end) }, rule: 'cardinal' };
  }

  /** €94 x 4 nights: a letter in place of the sign, behind an amount and before a number. */
  #times({ text, at, tokenEnd }: Reading): Found | undefined {
    if (tokenEnd !== at - 1 || text[at - 1] !== ' ' || !/^x \p{Sc}?\d/u.test(text.slice(at, at + 4)))
      return undefined;
    const name = /[\p{N}\p{Sc}\p{L}%"″]/u.test(text[at - 2] ?? '') && this.#language.symbols.inMath['×'];
    return name ? { end: at + 1, spoken: name.trim(), rule: 'math' } : undefined;
  }

  /** 54 000 fans, 1.000.000: groups that the language itself does not write. */
  #grouped(reading: Reading): Candidate | undefined {
    const match = reading.match(GROUPED);
    const [written = '', mark = ''] = match ?? [];
    if (match === undefined || this.#language.writing.numbers.grouping.includes(mark)) return undefined;
    const { text, at } = reading;
    const end = at + written.length;
    const isCounted =
      mark === '.' || /^ ?(?:\p{Ll}|\p{Script=Han}|\p{Script=Hangul})/u.test(text.slice(end, end + 2));
    if (mark === '.' && written.split('.').length < 3) return undefined; // 1.000 may be a decimal
    if (!isCounted || /[\p{N}] $/u.test(text.slice(Math.max(0, at - 2), at))) return undefined;
    const quantity = { number: numeralOf(written.replace(/\D/g, '')) };
    const next = skipSpaces(text, end);
    const unit = this.#units.at(text, next);
    // No version ends with .000.
    const isProven = mark === '.' && written.endsWith('000') && !this.#isVersion(reading);
    const proof = isProven ? { isCertain: true as const } : {};
    if (unit === undefined)
      return {
        end,
        token: { type: 'count', quantity, around: reading.around(end) },
        rule: 'cardinal',
        ...proof,
      };
    const behind = next + unit.written.length;
    const token = { type: 'measure', quantity, unit: unit.value, around: reading.around(behind) } as const;
    return { end: behind, token, rule: 'measure', ...proof };
  }

  #isVersion(reading: Reading): boolean {
    const { symbols, writing } = this.#language;
    const { previousWord } = reading.around(reading.at);
    return previousWord === symbols.version.toLowerCase() || writing.softwareNames.has(previousWord);
  }

  /** 27" where no quotation is open that the mark would close. */
  #inches(reading: Reading): Candidate | undefined {
    const match = reading.match(INCHES);
    const unit = this.#language.writing.units['in.'];
    if (match === undefined || unit === undefined) return undefined;
    const { text, at } = reading;
    const isQuoted = isInQuotation(text.slice(Math.max(0, at - LONGEST_QUOTATION), at));
    const number = isQuoted ? undefined : readNumeral(text, at, this.#language.writing.numbers);
    if (number?.end !== at + match[0].length - 1) return undefined;
    const end = at + match[0].length;
    const quantity = { number: number.numeral };
    return { end, token: { type: 'measure', quantity, unit, around: reading.around(end) }, rule: 'measure' };
  }

  /** Two pizzas: "pizza x 2", "2 x pizza". */
  #timesOrdered({ text, at }: Reading): Found | undefined {
    const name = this.#language.symbols.inMath['×'];
    if (name === undefined || text[at - 1] !== ' ') return undefined;
    const [before, behind] = [text.slice(Math.max(0, at - 8), at), text.slice(at + 1, at + 8)];
    const isOrdered =
      (/\p{L}{3}[)”"»]? $/u.test(before) && /^ ?\d{1,2}(?=[,;.:!?)\n]|$)(?![.,:]\d)/.test(behind)) ||
      (/(?:^|[^\d.,:/]| )\d{1,2} $/.test(before) && /^ \p{L}\p{Ll}{2}/u.test(behind));
    const isPriced =
      /[\d\p{L}²³°)] $/u.test(before) &&
      /^ (?:\p{Sc} ?\d|\d{1,6}(?:[.,]\d{1,2})? ?\p{Sc})/u.test(text.slice(at + 1, at + 14));
    if (!isOrdered && !isPriced) return undefined;
    return { end: at + 1, spoken: /^\d/.test(behind) ? `${name} ` : name, rule: 'math' };
  }

  /** 6 x 750 ml: the amount is said as behind the words for how often. */
  #dose(reading: Reading): Found | undefined {
    const match = reading.match(DOSE);
    if (match === undefined) return undefined;
    const { text, at } = reading;
    const { speech, symbols, writing } = this.#language;
    const start = at + match[0].length;
    const read = readNumeral(text, start, writing.numbers);
    const unit = read && this.#units.at(text, skipSpaces(text, read.end));
    if (read === undefined || unit === undefined || !this.#dosed.has(unit.value)) return undefined;
    const end = skipSpaces(text, read.end) + unit.written.length;
    const often = numeralOf(withoutZeros(match[1] ?? ''));
    const name = symbols.inMath['×']?.trim() ?? '';
    if (text[end] === '/' || (speech.times === undefined && name === '')) return undefined;
    const lead = `${speech.times?.(often) ?? `${speech.number(often, NOWHERE)} ${name}`} `;
    const around = new Around(lead + text.slice(start, end), lead.length, lead.length + end - start);
    const spoken = lead + speech.measure({ number: read.numeral }, unit.value, around);
    return { end, spoken, rule: 'measure', isCertain: true };
  }

  #number(written: string): string {
    const { speech, writing } = this.#language;
    const read = readNumeral(written, 0, writing.numbers);
    if (read?.end === written.length) return speech.number(read.numeral, NOWHERE);
    const [whole = '', decimals = ''] = written.split(/[.,]/);
    return speech.number({ ...numeralOf(withoutZeros(whole)), decimals }, NOWHERE);
  }

  /** Before an equals sign 120-45 is no range and 500/2000 no year. */
  #sum(reading: Reading): TypedFound | undefined {
    const match = reading.match(SUM);
    if (match === undefined || DATED.test(match[0])) return undefined;
    const [written] = match;
    const end = reading.at + written.length;
    const [, denominator] = written.split('/').map(Number);
    if (/^\d+\/\d+$/.test(written)) {
      if ((denominator ?? 0) < SMALLEST_DIVISOR) return undefined;
      return composed(end, 'math', () => this.#operation(written, MARKS));
    }
    const pattern = /[-−–+]/.test(written) ? SUMMAND : MARKS;
    return { ...composed(end, 'math', () => this.#operation(written, pattern)), isCertain: true };
  }

  #operation(written: string, pattern: RegExp): string {
    const { symbols, speech } = this.#language;
    const words = Array.from(written.matchAll(pattern), ({ 0: part, index }) => {
      const [numerator = '', denominator] = part.length > 1 ? part.split('/') : [part];
      const around = new Around(written, index, index + part.length);
      if (denominator !== undefined) return speech.fraction({ numerator, denominator }, around) ?? part;
      return /\d/.test(part) ? this.#number(part) : (symbols.inMath[part.replace('–', '−')] ?? '').trim();
    });
    return words.join(' ');
  }

  /** 3×10^8 m/s */
  #scientific(reading: Reading): Found | undefined {
    const match = reading.match(SCIENTIFIC);
    if (match === undefined) return undefined;
    const [written, number = '', sign, digits, raisedSign, raised = ''] = match;
    if ((sign ?? raisedSign ?? '') !== '') return undefined;
    const exponent = digits ?? plainDigits(raised);
    const { timesPower, inMath } = this.#language.symbols;
    const spoken = this.#powerOfTen(this.#number(number), timesPower ?? inMath['×'], withoutZeros(exponent));
    const end = reading.at + written.length;
    if (spoken === undefined) return undefined;
    return this.#withUnit(reading, end, spoken) ?? { end, spoken, rule: 'math' };
  }

  /** 1e-4, 3.5e6; without a sign or decimals 1e6 may be a name, and 90e+3 is an ordinal in French. */
  #exponential(reading: Reading): Found | undefined {
    const match = reading.match(EXPONENTIAL);
    if (match === undefined) return undefined;
    const [written, whole = '', decimals = '', small, large = '', exponent = ''] = match;
    const sign = small ?? large;
    const isOrdinal = sign === '+' && /(?:^|\|)e(?:$|\|)/.test(this.#language.writing.ordinalMark);
    if (decimals === '' && (sign === '' || isOrdinal)) return undefined;
    const { speech, symbols } = this.#language;
    const number = speech.number({ ...numeralOf(withoutZeros(whole)), decimals }, NOWHERE);
    const power = (/[-−]/.test(sign) ? '-' : '') + withoutZeros(exponent);
    const spoken = this.#powerOfTen(number, symbols.inMath['×'], power);
    if (spoken === undefined) return undefined;
    const end = reading.at + written.length;
    return this.#withUnit(reading, end, spoken) ?? { end, spoken, rule: 'math' };
  }

  #powerOfTen(number: string, times: string | undefined, exponent: string): string | undefined {
    const { speech, unspaced } = this.#language;
    const power = speech.power(exponent);
    if (power === undefined || times === undefined) return undefined;
    const gap = unspaced === true || power.startsWith('의') ? '' : ' ';
    return `${number} ${times.trim()} ${this.#number('10')}${gap}${power.trim()}`;
  }

  /** The words of a formula in the place where a measure of ten has its number. */
  #withUnit(reading: Reading, from: number, words: string): Found | undefined {
    const next = skipSpaces(reading.text, from);
    const unit = next - from <= 1 ? this.#units.at(reading.text, next) : undefined;
    if (unit === undefined) return undefined;
    const { speech } = this.#language;
    const number = numeralOf('10');
    const [measure, ten] = [speech.measure({ number }, unit.value, NOWHERE), speech.number(number, NOWHERE)];
    if (!measure.includes(ten)) return next === from ? this.#counted(next, unit, words) : undefined;
    return { end: next + unit.written.length, spoken: measure.replace(ten, () => words), rule: 'math' };
  }

  /** 4×10^5개: a counter that takes another word for ten. */
  #counted(at: number, unit: { readonly written: string; readonly value: Noun }, words: string): Found {
    const [name = unit.written] = unit.value.forms;
    return { end: at + unit.written.length, spoken: `${words} ${name}`, rule: 'math' };
  }

  /** Ca²⁺, NO₃⁻: letters, the numbers below, the charge. */
  #ion(reading: Reading): Found | undefined {
    const match = reading.match(ION);
    if (match === undefined) return undefined;
    const [written, charge = '', sign = ''] = match;
    const { speech, symbols } = this.#language;
    const name = (symbol: string): string =>
      speech.element?.(symbol) ??
      (this.#language.unspaced === true ? symbol : speech.letters(symbol.toUpperCase()));
    const body = written.slice(0, written.length - charge.length - sign.length);
    const parts = (body.match(ELEMENT) ?? []).map((part) =>
      /[A-Z]/.test(part) ? name(part) : this.#number(plainDigits(part)),
    );
    if (charge !== '') parts.push(this.#number(plainDigits(charge)));
    parts.push(sign === '⁺' ? symbols.plus : symbols.minus);
    return {
      end: reading.at + written.length,
      spoken: parts.map((part) => part.trim()).join(' '),
      rule: 'math',
      isCertain: true,
    };
  }

  /** The 4 of y = 4x - 7; the letter is read by itself. */
  #coefficient(reading: Reading): Found | undefined {
    const match = reading.match(COEFFICIENT);
    if (match === undefined) return undefined;
    const { text, at } = reading;
    const end = at + match[0].length;
    const [before, behind] = [text.slice(Math.max(0, at - 4), at), text.slice(end + 1, end + 6)];
    if (/^e[-−]\d/.test(text.slice(end, end + 3))) return undefined; // 1e-4
    const isPi = text[end] === 'π';
    if (!isPi && !SUM_BEFORE.test(before) && !SUM_BEHIND.test(behind)) return undefined;
    const near = text.slice(Math.max(0, at - NEAR), at) + text.slice(end, end + NEAR);
    if (!isPi && !/[=^√]|(?<![cdkm]?m)[²³]/u.test(near)) return undefined;
    // 5m² is a measure.
    if (/[²³]/.test(text[end + 1] ?? '') && this.#units.at(text, end) !== undefined) return undefined;
    const number = this.#number(match[0]);
    const gap = /\p{Script=Hangul}$/u.test(number) ? ' ' : '';
    return { end, spoken: number + gap, rule: 'math', isCertain: true };
  }

  #instalments(reading: Reading): Found | undefined {
    const match = reading.match(INSTALMENTS);
    const name = this.#language.symbols.inMath['×'];
    if (match === undefined || name === undefined) return undefined;
    const spoken = this.#language.unspaced === true ? name : ` ${name} `;
    return {
      end: reading.at + match[0].length,
      spoken: this.#number(match[1] ?? '') + spoken,
      rule: 'math',
      isCertain: true,
    };
  }

  /** The 2 of 2H₂O */
  #molecules(reading: Reading): Found | undefined {
    const digits = reading.match(MOLECULES)?.[0];
    if (digits === undefined) return undefined;
    const gap = this.#language.unspaced === true ? '' : ' ';
    return {
      end: reading.at + digits.length,
      spoken: this.#number(digits) + gap,
      rule: 'math',
      isCertain: true,
    };
  }

  /** ΔT, 2πr */
  #greekVariable(reading: Reading): Found | undefined {
    const { text, at } = reading;
    const match = /\p{L}$/u.test(text.slice(Math.max(0, at - 1), at))
      ? undefined
      : reading.match(GREEK_VARIABLE);
    const [written = '', sign = '', letters = ''] = match ?? [];
    const { symbols, writing } = this.#language;
    const name = symbols.inMath[sign] ?? writing.abbreviations[sign];
    if (match === undefined || typeof name !== 'string' || (letters === '' && sign !== 'π')) return undefined;
    return {
      end: reading.at + written.length,
      spoken: `${name} ${letters}`.trimEnd(),
      rule: 'math',
      isCertain: true,
    };
  }

  /** 1:25,000 is a scale. */
  #scale(reading: Reading): Found | undefined {
    const match = reading.match(SCALE);
    if (match === undefined) return undefined;
    const [written, one = '', grouped = '', mark = ''] = match;
    if (mark !== ' ' && !this.#language.writing.numbers.grouping.includes(mark)) return undefined;
    const whole = grouped.replace(/\D/g, '');
    const { speech } = this.#language;
    const say = (digits: string): string => speech.number(numeralOf(digits), NOWHERE);
    const first = withoutZeros(one);
    const spoken = speech.ratio?.(first, whole) ?? speech.score(say(first), say(whole));
    return { end: reading.at + written.length, spoken, rule: 'score', isCertain: true };
  }
}

/** True if a quotation is open at the end of the text. A mark behind a digit outside of one means inches. */
export function isInQuotation(text: string): boolean {
  let isOpen = false;
  for (const [mark] of text.matchAll(/(?:\p{N} ?)?["“”„]/gu)) {
    if (isOpen || !/\p{N}/u.test(mark)) isOpen = !isOpen;
  }
  return isOpen;
}
