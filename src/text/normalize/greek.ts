// Names Greek letters (π, β-Blocker) and English months, for languages in whose texts they may stand.
const LETTERS = 'αβγδεζηθικλμνξοπρστυφχψω';
const CAPITALS = 'ΓΔΘΛΠΣΦΨΩ'; // the others look like Latin letters
const SMALL = 'γδθλπσφψω';

/** Their names, from alpha to omega, as short forms of a language. */
export function greekLetters(list: string): Readonly<Record<string, string>> {
  const names = list.trim().split(/\s+/);
  const small = Array.from(LETTERS, (letter, index): [string, string] => [letter, names[index] ?? letter]);
  const known = Object.fromEntries(small);
  const capital = Array.from(CAPITALS, (letter, index): [string, string] => [
    letter,
    known[SMALL[index] ?? ''] ?? letter,
  ]);
  return Object.fromEntries([...small, ...capital]);
}

const NAMES =
  'January Jan, February Feb, March Mar, April Apr, May, June Jun, July Jul, August Aug, September Sept Sep, October Oct, November Nov, December Dec';

/** With the name that is said when a month stands alone, such as 一月. */
export function englishMonths(said: (month: number) => string): readonly (readonly string[])[] {
  return NAMES.split(', ').map((names, index) => [
    said(index + 1),
    ...names.split(' ').flatMap((name) => (name.length > 4 || name === 'May' ? [name] : [name, `${name}.`])),
  ]);
}

export const ENGLISH_DATES = {
  named: ['month-day', 'day-month'],
  dayMark: 'st|nd|rd|th',
  between: ',? ',
} as const;
