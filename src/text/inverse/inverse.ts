// Turns recognised speech into written text, the inverse of normalisation: "four two oh seven" is 4207,
// "three dollars and fifty cents" is $3.50.
//
// The text is cut into words once and read from left to right. At each word all readers are asked. The one
// that reads furthest supplies the written form. Words that no reader knows stay as they were recognised.
// So do words that are not surely a number, date or name: "one of them", "no one", "a second opinion".
// No reader looks further than some dozens of words, so the time is linear.
//
// Number words, months, currencies, units and signs are those of the normaliser's `Language`. A language
// adds a `Listening`, with the words that are never said for written text ("oh", "half past"), and its
// readers of dates and times. To add one, write its file, add one line to `inverse-languages.ts`, and add
// `test/text/inverse/xx.cases.tsv`.
import type { Rule } from '../normalize/reading.js';
import { anyDigits } from './digit-run.js';
import { type InverseLanguage, inverseLanguageOf } from './inverse-languages.js';
import { SpokenReading, type Written } from './spoken-reading.js';
import { tokensOf } from './spoken-tokens.js';

/** Words that were replaced by a written form. */
export interface Rewriting {
  /** In the recognised text. */
  readonly start: number;
  readonly end: number;
  readonly written: string;
  readonly rule: Rule;
}

interface WrittenForm {
  readonly text: string;
  /** In order, not overlapping. */
  readonly rewritings: readonly Rewriting[];
}

/** The written form of recognised speech; the text itself in a language that is not known. */
export function writtenForm(text: string, tag: string): WrittenForm {
  const language = inverseLanguageOf(tag);
  if (language === undefined || text === '') return { text, rewritings: [] };
  const reading = readingOf(text, language, tag);
  const rewritings: Rewriting[] = [];
  for (let at = 0; at < reading.tokens.length;) {
    const found = furthest(reading, language, at);
    if (found !== undefined) rewritings.push(placed(reading, at, found));
    at = found?.end ?? at + 1;
  }
  return { text: applied(text, rewritings), rewritings };
}

/**
 * The digits of an answer that consists of digits: "my PIN is four two oh seven, please". Undefined if the
 * text says anything else.
 */
export function spokenDigits(text: string, tag: string): string | undefined {
  const language = inverseLanguageOf(tag);
  if (language === undefined)
    return /^[\d\s.,-]*\d[\s.,-]*$/.test(text) ? text.replace(/\D/g, '') : undefined;
  const reading = readingOf(text, language, tag);
  let digits = '';
  for (let at = 0; at < reading.tokens.length;) {
    const found = digitsAt(reading, at);
    if (found === undefined && !language.listening.fillers.has(reading.key(at))) return undefined;
    if (found !== undefined) digits += found.text;
    at = found?.end ?? at + 1;
  }
  return digits === '' ? undefined : digits;
}

/** Digits, or a number of thousands: four thousand two hundred seven. */
function digitsAt(
  reading: SpokenReading,
  at: number,
): { readonly text: string; readonly end: number } | undefined {
  const key = reading.key(at);
  if (/^\d+$/.test(key)) return { text: key, end: at + 1 };
  const number = reading.number(at);
  const run = anyDigits(reading, at);
  if (number !== undefined && number.value >= 1000 && !number.isLoose) {
    return { text: String(number.value), end: number.end };
  }
  return run;
}

function readingOf(text: string, language: InverseLanguage, tag: string): SpokenReading {
  return new SpokenReading(tokensOf(text, language.listening.elides), language, tag.toLowerCase());
}

function furthest(reading: SpokenReading, { readers }: InverseLanguage, at: number): Written | undefined {
  let best: Written | undefined;
  for (const read of readers) {
    const found = read(reading, at);
    if (found !== undefined && found.end > (best?.end ?? at)) best = found;
  }
  return best;
}

function placed({ tokens }: SpokenReading, at: number, { end, text, rule }: Written): Rewriting {
  return { start: tokens[at]?.start ?? 0, end: tokens[end - 1]?.end ?? 0, written: text, rule };
}

function applied(text: string, rewritings: readonly Rewriting[]): string {
  let result = '';
  let at = 0;
  for (const { start, end, written } of rewritings) {
    result += text.slice(at, start) + written;
    at = end;
  }
  return result + text.slice(at);
}
