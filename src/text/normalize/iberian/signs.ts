// Lengths, minutes and scales that only a mark shows: 55", 3'45", 1:50.000; days of hashtags.
import type { Speech } from '../language.js';
import type { Noun } from '../quantity.js';
import { readNumeral, withoutZeros, type NumberFormat, numeralOf } from '../numerals.js';
import { NOWHERE, type Reading, type Recogniser } from '../reading.js';

const INCHES = /(?:(?:(\d{1,2}) )?(\d{1,2})\/(\d{1,2})|\d{1,3}(?:[.,]\d{1,2})?)["”″](?![\p{L}\d])/uy;
const LONGEST_QUOTE = 80; // units in which a quote may have been opened

/** An even number of such marks stands before: none of them is open. */
function opensNoQuote(reading: Reading): boolean {
  const before = reading.text.slice(Math.max(0, reading.at - LONGEST_QUOTE), reading.at);
  return !/[“„]/.test(before) && (before.match(/"/g)?.length ?? 0) % 2 === 0;
}

/** 55", 6,1", 1/2", 2 1/2". */
export function inches(
  noun: Noun,
  numbers: NumberFormat,
  { measure, fractionOf }: Pick<Speech, 'measure' | 'fractionOf'>,
): Recogniser {
  return (reading) => {
    const match = reading.match(INCHES);
    if (match === undefined || !opensNoQuote(reading)) return undefined;
    const [written, whole, numerator, denominator] = match;
    const end = reading.at + written.length;
    const number = readNumeral(reading.text, reading.at, numbers)?.numeral;
    if (number === undefined || Number(denominator ?? '1') === 0) return undefined;
    if (numerator === undefined || denominator === undefined)
      return { end, spoken: measure({ number }, noun, NOWHERE), rule: 'measure' };
    const fraction = { numerator, denominator };
    const spoken =
      whole === undefined
        ? fractionOf?.(fraction, noun, NOWHERE)
        : measure({ number: numeralOf(whole), fraction }, noun, NOWHERE);
    return spoken === undefined ? undefined : { end, spoken, rule: 'measure' };
  };
}

const MINUTES_AND_SECONDS = /(\d{1,3})['’′] ?(\d{1,2})(?:''|’’|["”″])(?![\p{L}\d])/uy;

/** 3'45'': minutes and seconds. */
export function minutesAndSeconds({ duration }: Pick<Speech, 'duration'>): Recogniser {
  return (reading) => {
    const match = reading.match(MINUTES_AND_SECONDS);
    if (match === undefined) return undefined;
    const [written, minutes = '', seconds = ''] = match;
    const end = reading.at + written.length;
    const parts = [
      [withoutZeros(minutes), 'min'],
      [withoutZeros(seconds), 's'],
    ] as const;
    return { end, spoken: duration(parts, reading.around(end)), rule: 'duration' };
  };
}

const SCALE = /1:(\d{1,3}(?:[. ]\d{3}){1,2}|\d{4,7})(?![\d:]|[.,]\d)/y;

/** 1:50.000 of a map. */
export function scale({ number, score }: Pick<Speech, 'number' | 'score'>): Recogniser {
  return (reading) => {
    const match = reading.match(SCALE);
    if (match === undefined) return undefined;
    const [from, to] = ['1', (match[1] ?? '').replace(/\D/g, '')].map((digits) =>
      number(numeralOf(digits), NOWHERE),
    );
    return { end: reading.at + match[0].length, spoken: score(from ?? '', to ?? ''), rule: 'score' };
  };
}

const DAY_HASHTAG = /#(\d{1,2})([A-Z])(?![\p{L}\p{N}_])/uy;

/** #8M, #25A: a day and the first letter of its month. */
export function dayHashtag(cardinal: (digits: string) => string): Recogniser {
  return (reading) => {
    const match = reading.match(DAY_HASHTAG);
    if (match === undefined) return undefined;
    const [written, day = '', month = ''] = match;
    const spoken = `hashtag ${cardinal(day)} ${month}`;
    return { end: reading.at + written.length, spoken, rule: 'hashtag' };
  };
}

const AMOUNT_BEHIND = /^ ?(?:[A-Z]{0,3}\p{Sc} ?)?\d/u;
const WORD_BEFORE = /(?:\(|(?<!\p{L})(\p{L}\p{Ll}{2,24}) )$/u;

/**
 * Niños < 4 años, (< 6 meses), tiene ≥ 65 años: behind words these signs relate no two values. `names` are
 * the signs before a number; `noNouns` are words in -s that are no plural nouns.
 */
export function amountRelation(
  names: Readonly<Record<string, string>>,
  noNouns: ReadonlySet<string>,
): Recogniser {
  return ({ text, at }) => {
    const sign = text[at] ?? '';
    const name = names[sign];
    if (name === undefined || !AMOUNT_BEHIND.test(text.slice(at + 1, at + 7))) return undefined;
    const before = WORD_BEFORE.exec(text.slice(Math.max(0, at - 26), at));
    if (before === null) return undefined;
    const noun = before[1] ?? '';
    if (!/[<>]/.test(sign) || noun === '')
      return { end: at + 1, spoken: name, rule: 'math', isCertain: true };
    if (!noun.endsWith('s') || noNouns.has(noun)) return undefined; // vigencia > 6 meses
    return { end: at + 1, spoken: `de ${name}`, rule: 'math', isCertain: true };
  };
}
