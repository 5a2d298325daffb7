// Two currencies of a rate: EUR/USD 1,08.
import { WORD_UNIT } from './characters.js';
import type { Currency } from './language.js';
import type { Recogniser } from './reading.js';

const PAIR = new RegExp(String.raw`([A-Z]{3})/([A-Z]{3})(?!${WORD_UNIT}|/)`, 'uy');

/** Their names, in the first form, with what is said between them. */
export function currencyPair(currencies: Readonly<Record<string, Currency>>, between: string): Recogniser {
  return (reading) => {
    const { text, at, runEnd } = reading;
    if (text[runEnd] !== '/' || runEnd - at !== 3 || !reading.isFresh) return undefined;
    const match = reading.match(PAIR);
    const [first, second] = [currencies[match?.[1] ?? ''], currencies[match?.[2] ?? '']];
    if (match === undefined || first === undefined || second === undefined) return undefined;
    const spoken = `${first.forms[0] ?? ''}${between}${second.forms[0] ?? ''}`;
    return { end: at + match[0].length, spoken, rule: 'currency' };
  };
}
