// Greek letters that stand alone, as science writes them: π, β-Blocker, α.

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
