// Two currencies of a rate: EUR/USD 1,08.
import { WORD_UNIT } from './characters.js';
import type { Currency } from './language.js';
import type { Recogniser } from './reading.js';

const PAIR = new RegExp(String.raw`([A-Z]{3})/([A-Z]{3})(?!${WORD_UNIT}|/)`, 'uy');

/** Their names, of a currency its first form, with what is said between them. */
export function currencyPair(
  currencies: Readonly<Record<string, Currency | string>>,
  between = ' ',
): Recogniser {
  return (reading) => {
    const { text, at, runEnd } = reading;
    if (text[runEnd] !== '/' || runEnd - at !== 3 || !reading.isFresh) return undefined;
    const match = reading.match(PAIR);
    const [first, second] = [nameOf(currencies[match?.[1] ?? '']), nameOf(currencies[match?.[2] ?? ''])];
    if (match === undefined || first === undefined || second === undefined) return undefined;
    return { end: at + match[0].length, spoken: `${first}${between}${second}`, rule: 'currency' };
  };
}

function nameOf(currency: Currency | string | undefined): string | undefined {
  return typeof currency === 'string' ? currency : currency?.forms[0];
}
