// Asks the English recognisers of numbers by the character behind the digits.
import { isDigitAt } from '../characters.js';
import type { Recogniser } from '../reading.js';

/** A recogniser, and the characters directly behind the digits or behind a space for which it is asked. */
export type DigitRule = readonly [touching: RegExp, parted: RegExp, recognise: Recogniser];

/** The first of the rules that knows the token. A stop that ends the sentence is behind no decimals. */
export function bySign(rules: readonly DigitRule[]): Recogniser {
  const known = new Map<string, readonly Recogniser[]>();
  return (reading) => {
    if (!reading.isFresh) return undefined;
    const { text, runEnd } = reading;
    const mark = text[runEnd] ?? '';
    if (mark === '' || (mark === '.' && !isDigitAt(text, runEnd + 1))) return undefined;
    const sign = mark === ' ' ? text.slice(runEnd, runEnd + 2) : mark;
    let asked = known.get(sign);
    if (asked === undefined) known.set(sign, (asked = askedBehind(rules, sign)));
    for (const recognise of asked) {
      const found = recognise(reading);
      if (found !== undefined) reading.offer(found);
    }
    return undefined;
  };
}

function askedBehind(rules: readonly DigitRule[], sign: string): readonly Recogniser[] {
  const parted = sign.startsWith(' ');
  const character = sign.slice(-1);
  return rules.filter((rule) => rule[parted ? 1 : 0].test(character)).map(([, , recognise]) => recognise);
}
