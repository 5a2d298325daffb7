// Reads factors, multiples and scores in Spanish and Portuguese.
// Examples: 1920 × 1080, 10x de R$ 59,90, Betis 3-1 Celta. A score is not a range.
import type { Speech } from '../language.js';
import type { Noun } from '../quantity.js';
import type { Gender } from './amounts.js';
import { LiteralTable } from '../literals.js';
import { type NumberFormat, type Numeral, numeralOf, readNumeral } from '../numerals.js';
import { type Around, type Found, NOWHERE, type Reading, type Recogniser } from '../reading.js';

const FACTOR = /(\d{1,6}(?:[.,]\d{1,3})?)( ?)[x×X]\2(?=\d)/y;
const LAST_FACTOR = /(\d{1,6}(?:[.,]\d{1,3})?)(?!\d|[.,]\d)/y;
const UNIT = / ?(cm|mm|m|km|px|mmHg|kg|g|mg|ml|L|l|W|V|GB|TB|MB|MP)(?![\p{L}\p{N}²³/])/uy;
const MOST = 4; // factors
const GOALS = 20; // maximum for a team in one game

interface ProductWords {
  readonly numbers: NumberFormat;
  readonly units: Readonly<Record<string, Noun>>;
  readonly decimal: (numeral: Numeral) => string;
  /** Between factors, and between those of a sum that goes on with its result. */
  readonly by: string;
  readonly ofSum: string;
  /** True if two numbers are the result of a game. The default is never. */
  readonly isGame?: (around: Around) => boolean;
  readonly score: Speech['score'];
}

export function product(words: ProductWords): Recogniser {
  return (reading) => {
    const { factors, end } = factorsAt(reading);
    if (factors.length < 2) return undefined;
    const around = reading.around(end);
    const [home = '', guest = ''] = factors;
    const small =
      factors.length === 2 && [home, guest].every((goals) => /^\d+$/.test(goals) && Number(goals) < GOALS);
    const say = (factor: string): string => words.decimal(numeralIn(factor, words.numbers));
    if (small && words.isGame?.(around) === true)
      return { end, spoken: words.score(say(home), say(guest)), rule: 'score' };
    if (home === '0') return undefined;
    const isSum = /^ ?=/.test(reading.text.slice(end, end + 2));
    const spoken = factors.map(say).join(` ${isSum ? words.ofSum : words.by} `);
    return withUnit(reading, { end, spoken, rule: 'math' }, words.units);
  };
}

function factorsAt(reading: Reading): { factors: readonly string[]; end: number } {
  const factors: string[] = [];
  let end = reading.at;
  for (let count = 0; count < MOST; count++) {
    const match = reading.match(FACTOR, end);
    if (match === undefined || /^0\d/.test(match[1] ?? '')) break;
    factors.push(match[1] ?? '');
    end += match[0].length;
  }
  const last = reading.match(LAST_FACTOR, end);
  return last === undefined || factors.length === 0
    ? { factors: [], end }
    : { factors: [...factors, last[1] ?? ''], end: end + last[0].length };
}

/** The unit behind the last factor; other letters make it a name. */
function withUnit(reading: Reading, found: Found, units: Readonly<Record<string, Noun>>): Found | undefined {
  const match = reading.match(UNIT, found.end);
  const noun = units[match?.[1] ?? ''];
  if (match !== undefined && noun !== undefined) {
    return {
      end: found.end + match[0].length,
      spoken: `${found.spoken} ${noun.forms[1] ?? ''}`,
      rule: 'measure',
    };
  }
  return /[\p{L}²³]/u.test(reading.text[found.end] ?? ' ') ? undefined : found;
}

function numeralIn(written: string, numbers: NumberFormat): Numeral {
  return readNumeral(written, 0, numbers)?.numeral ?? numeralOf(written);
}

const ATTACHED = /\d{1,3}(?:[.,]\d{1,2})?[x×](?![\p{L}\p{N}]| ?\d)/uy;
const APART = /\d{1,3} x(?= (?:de|sem|com|sin|con) )/y;

export function timesOver(
  noun: Noun,
  numbers: NumberFormat,
  per: Readonly<Record<string, string>>,
  { measure }: Pick<Speech, 'measure'>,
): Recogniser {
  const rates = new LiteralTable(Object.entries(per));
  return (reading) => {
    const { text, at } = reading;
    if (text[at] === '0') return undefined;
    const match = reading.match(ATTACHED) ?? reading.match(APART);
    const number = match && readNumeral(text, at, numbers);
    if (match === undefined || number === undefined) return undefined;
    const end = at + match[0].length;
    const spoken = measure({ number: number.numeral }, noun, reading.around(end));
    const rate = text[end] === '/' ? rates.at(text, end + 1) : undefined;
    if (rate === undefined) return { end, spoken, rule: 'measure' };
    return { end: end + 1 + rate.written.length, spoken: `${spoken} ${rate.value}`, rule: 'measure' };
  };
}

const PAIR = /(\d{1,2})[-–](\d{1,2})(?![\p{L}\d/–-]|[.,:º°ª%]\d?)/uy;
const PAIR_AT_STOP = /(\d{1,2})[-–](\d{1,2})(?=[.,:;)](?!\d))/y;
const TEAM_BEFORE = /\p{Lu}[\p{L}.]* $/u;
const TEAM_BEHIND = /^ \p{Lu}\p{Ll}/u;

export function score({ number, score: say }: Pick<Speech, 'number' | 'score'>): Recogniser {
  return (reading) => {
    const { text, at } = reading;
    if (/[-–.,:/#]/.test(text[at - 1] ?? '')) return undefined;
    const match = reading.match(PAIR) ?? reading.match(PAIR_AT_STOP);
    if (match === undefined) return undefined;
    const [written, home = '', guest = ''] = match;
    if (/^0\d/.test(home) || /^0\d/.test(guest)) return undefined;
    const end = at + written.length;
    const teams =
      TEAM_BEFORE.test(text.slice(Math.max(0, at - 24), at)) && TEAM_BEHIND.test(text.slice(end, end + 3));
    if (!teams && Number(home) < Number(guest)) return undefined;
    const [first = '', second = ''] = [home, guest].map((digits) => number(numeralOf(digits), NOWHERE));
    return { end, spoken: say(first, second), rule: 'score' };
  };
}

interface OrderWords {
  readonly unit: Noun;
  readonly count: (digits: string, gender: Gender) => string;
  readonly genderOf: (noun: string) => Gender;
  /** Words, in small letters, that are no things: 3 x de, 2 x al día. */
  readonly noThings: ReadonlySet<string>;
  readonly speech: Pick<Speech, 'measure'>;
}

const THING_BEHIND = /(\d{1,3}) ?([x×X]) (\p{L}[\p{L}’'-]{2,24})/uy;
const ITEM_BEFORE = /(?:^|[\n:;,(+•]\s?|[-–*|] |(?<!\p{L})[yoe] )$/u;
const IN_FORMULA = /[=×√+]/;
const FACTORS = 24; // units around a product in which a sign tells of a formula

/** 2 × pizza grande, 1 × sudadera: things of an order; the noun stays as it is written. */
export function thingsOrdered({ unit, count, genderOf, noThings, speech }: OrderWords): Recogniser {
  return (reading) => {
    const match = reading.match(THING_BEHIND);
    const [written = '', digits = '', sign, noun = ''] = match ?? [];
    if (match === undefined || digits.startsWith('0') || noThings.has(noun.toLowerCase())) return undefined;
    const { text, at } = reading;
    const behind = text.slice(at + written.length, at + written.length + FACTORS);
    const before = text.slice(Math.max(0, at - FACTORS), at);
    if (/=[^=]*$/.test(before) || /^[^.,;]*=|^ [×x] /.test(behind) || IN_FORMULA.test(before.slice(-3)))
      return undefined;
    if (sign !== '×' && !ITEM_BEFORE.test(before)) return undefined;
    const end = at + written.length - noun.length - 1;
    const isNamed = digits === '1' || (noun.endsWith('s') && /^\p{Ll}/u.test(noun));
    if (isNamed) return { end, spoken: count(digits, genderOf(noun)), rule: 'measure' };
    return {
      end,
      spoken: `${speech.measure({ number: numeralOf(digits) }, unit, NOWHERE)} de`,
      rule: 'measure',
    };
  };
}

const NUMBER_BEHIND = /[x×X] ?(\d{1,3})(?=$|[,.;:)!?|](?!\d)|\n| [–—(|-]| [yeo] )/uy;
const NOUN_BEFORE = /\p{L}{3,}\)? ?$/u;
const COUNTED_BEFORE = /\d[\d.,]* (?:\p{L}+ ){0,2}\p{L}+\)? ?$/u;

/** Pizza × 2: how many of a thing. */
export function numberOrdered({ unit, speech }: Pick<OrderWords, 'unit' | 'speech'>): Recogniser {
  return (reading) => {
    const match = reading.match(NUMBER_BEHIND);
    const [written = '', digits = ''] = match ?? [];
    const before = reading.text.slice(Math.max(0, reading.at - FACTORS), reading.at);
    if (match === undefined || digits.startsWith('0') || !NOUN_BEFORE.test(before)) return undefined;
    if (COUNTED_BEFORE.test(before) || IN_FORMULA.test(before)) return undefined;
    const spoken = `, ${speech.measure({ number: numeralOf(digits) }, unit, NOWHERE)}`;
    return { end: reading.at + written.length, spoken, rule: 'measure', clings: true, isCertain: true };
  };
}
