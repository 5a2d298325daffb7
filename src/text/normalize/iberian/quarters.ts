// Parts of a year as banks write them: 3T24, 2S2023, T3 2024; and short months with a dash: mar-jun 2024.
import type { Speech } from '../language.js';
import type { Around, Found, Reading, Recogniser } from '../reading.js';
import { fullYear } from './dates.js';

export interface PartsOfYear {
  readonly quarter: string;
  readonly half: string;
  /** First to fourth. */
  readonly ordinals: readonly string[];
  readonly cardinal: (digits: string) => string;
}

const NUMBER_FIRST = /([1-4])([TQS]) ?((?:20)?[0-4]\d)(?![\p{L}\d]|[.,/-]\d)/uy;
const LETTER_FIRST = /([TQS])([1-4])[ -]?(20[0-4]\d)(?![\p{L}\d]|[.,/-]\d)/uy;

function sayPart(words: PartsOfYear, letter: string, digit: string, year: string): string | undefined {
  const half = letter === 'S';
  if (half && Number(digit) > 2) return undefined;
  const name = half ? words.half : words.quarter;
  return `${words.ordinals[Number(digit) - 1] ?? ''} ${name} de ${words.cardinal(fullYear(year))}`;
}

/** 3T24, 2S2023. */
export function partOfYear(words: PartsOfYear): Recogniser {
  return (reading) => {
    const match = reading.isFresh ? reading.match(NUMBER_FIRST) : undefined;
    const [written = '', digit = '', letter = '', year = ''] = match ?? [];
    const spoken = match && sayPart(words, letter, digit, year);
    return spoken === undefined ? undefined : { end: reading.at + written.length, spoken, rule: 'date' };
  };
}

/** T3 2024. */
export function letteredPartOfYear(words: PartsOfYear): Recogniser {
  return (reading) => {
    if (!/[1-4]/.test(reading.text[reading.runEnd] ?? '')) return undefined;
    const match = reading.match(LETTER_FIRST);
    const [written = '', letter = '', digit = '', year = ''] = match ?? [];
    const spoken = match && sayPart(words, letter, digit, year);
    return spoken === undefined ? undefined : { end: reading.at + written.length, spoken, rule: 'date' };
  };
}

const MONTHS =
  /(\p{L}{3,4})\.?[-–/](\p{L}{3,4})(?:\.(?= ?(?:de )?\d))?(?: (?:de )?((?:19|20)\d\d))?(?![\p{L}\d-]|[.,]\d)/uy;

/** Mar-jun 2024, ene./mar. */
export function monthRange(
  months: readonly (readonly string[])[],
  { date, range }: Pick<Speech, 'date' | 'range'>,
): Recogniser {
  const byName = new Map<string, number>();
  for (const [index, names] of months.entries())
    for (const name of names) byName.set(name.replace('.', ''), index + 1);
  const say = (month: number | undefined, around: Around, year?: string): string | undefined =>
    month === undefined ? undefined : date({ month, style: 'name', ...(year && { year }) }, around);
  return (reading: Reading): Found | undefined => {
    const { text, runEnd } = reading;
    if (!/[-–/.]/.test(text[runEnd] ?? '') || runEnd - reading.at > 4) return undefined;
    const match = reading.match(MONTHS);
    const [written = '', first = '', last = '', year] = match ?? [];
    if (match === undefined || first.toLowerCase() === last.toLowerCase()) return undefined;
    const end = reading.at + written.length;
    const around = reading.around(end);
    const [from, to] = [
      say(byName.get(first.toLowerCase()), around),
      say(byName.get(last.toLowerCase()), around, year),
    ];
    if (from === undefined || to === undefined) return undefined;
    return { end, spoken: range(from, to, around), rule: 'date' };
  };
}
