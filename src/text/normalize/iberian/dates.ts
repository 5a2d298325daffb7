// Dates in words: primero de enero de mil novecientos noventa; de 10 a 12 de junho.
import type { Speech, WrittenDate } from '../language.js';
import { withoutZeros } from '../numerals.js';
import type { Around } from '../reading.js';

export interface DateWords {
  readonly months: readonly string[];
  /** Primero, primeiro. */
  readonly first: string;
  readonly cardinal: (digits: string) => string;
  readonly rangeWord: (around: Around) => string;
}

/** 24 is 2024, 85 is 1985. */
export function fullYear(written: string): string {
  if (written.length !== 2) return withoutZeros(written);
  return Number(written) < 70 ? `20${written}` : `19${written}`;
}

/** 3.10.12, but not 22.02.22 nor what a word says to be a day. */
function isVersion({ text, start, end, previousWord }: Around): boolean {
  const known = /^(?:em|el|del|al|dia|día|desde|até|hasta)$/.test(previousWord);
  return !known && /^\d+\.[1-9]\d?\.\d\d$/.test(text.slice(start, end));
}

export class DatesInWords implements Pick<Speech, 'date'> {
  readonly #words: DateWords;

  constructor(words: DateWords) {
    this.#words = words;
  }

  readonly day = (day: string): string => (day === '1' ? this.#words.first : this.#words.cardinal(day));

  readonly dayOf = (day: string, month: number): string =>
    `${this.day(day)} de ${this.#words.months[month - 1] ?? ''}`;

  readonly date = ({ day, dayTo, month, year, style }: WrittenDate, around: Around): string | undefined => {
    const { months, cardinal, rangeWord } = this.#words;
    const name = month === undefined ? '' : (months[month - 1] ?? '');
    if (style === 'numeric' && year === undefined) return undefined;
    if (isVersion(around)) return undefined;
    const full = year === undefined ? '' : ` de ${cardinal(fullYear(year))}`;
    if (day === undefined) return `${name}${full}`;
    const range = dayTo === undefined ? '' : ` ${rangeWord(around)} ${cardinal(dayTo)}`;
    return `${range === '' ? this.day(day) : cardinal(day)}${range} de ${name}${full}`;
  };
}
