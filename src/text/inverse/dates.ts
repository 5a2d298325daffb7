// Dates whose day is a cardinal number, and years that are said as plain numbers.
import type { SpokenReading, Written } from './spoken-reading.js';

const [FIRST_YEAR, LAST_YEAR] = [1000, 2099];
const LAST_DAY = 31;

interface Counted {
  readonly value: number;
  readonly end: number;
}

export function yearOfNumber(reading: SpokenReading, at: number): Counted | undefined {
  const found = reading.number(at);
  if (found === undefined || found.value < FIRST_YEAR || found.value > LAST_YEAR) return undefined;
  return { value: found.value, end: found.end };
}

interface CardinalDates {
  /** Word for the first, in small letters without accents, and how it is written. */
  readonly first: readonly [said: string, written: string];
  /** Between the parts, as written; '' if nothing is. */
  readonly between: string;
  /** Said between the parts. */
  readonly links: ReadonlySet<string>;
}

/** Le trois mars deux mille vingt-six, el tres de marzo de dos mil veintiséis. */
export function cardinalDate(reading: SpokenReading, at: number, dates: CardinalDates): Written | undefined {
  const day = dayAt(reading, at, dates);
  const from = day === undefined ? at : behindLink(reading, day.end, dates);
  if (from === undefined || (day !== undefined && !reading.isJoined(from))) return undefined;
  const month = reading.month(from);
  if (month === undefined) return undefined;
  const yearFrom = behindLink(reading, month.end, dates);
  const isYear = yearFrom !== undefined && reading.isJoined(yearFrom);
  const year = isYear ? yearOfNumber(reading, yearFrom) : undefined;
  if (day === undefined && year === undefined) return undefined;
  const parts = [
    day?.text,
    reading.monthName(month.value),
    year === undefined ? undefined : String(year.value),
  ];
  const text = parts.filter((part) => part !== undefined).join(` ${dates.between}`);
  return { end: year?.end ?? month.end, text, rule: 'date' };
}

function dayAt(
  reading: SpokenReading,
  at: number,
  { first: [said, written] }: CardinalDates,
): { readonly text: string; readonly end: number } | undefined {
  if (reading.key(at) === said) return { text: written, end: at + 1 };
  const found = reading.number(at);
  if (found === undefined || found.value < 1 || found.value > LAST_DAY || found.isArticle) return undefined;
  return { text: String(found.value), end: found.end };
}

/** Undefined where the link that the language needs is missing. */
function behindLink(reading: SpokenReading, at: number, { links }: CardinalDates): number | undefined {
  if (links.size === 0) return at;
  return reading.isNext(at, links) ? at + 1 : undefined;
}
