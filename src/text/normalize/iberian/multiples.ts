// How many times: 10x de R$ 59,90, 12x sem juros, 3x más rápido, 3x/día.
import type { Noun, Speech } from '../language.js';
import { LiteralTable } from '../literals.js';
import { readNumeral, type NumberFormat } from '../numerals.js';
import type { Recogniser } from '../reading.js';

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
    if (!reading.isFresh || !/[x×., ]/.test(text[reading.runEnd] ?? '') || text[at] === '0') return undefined;
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
