// Asks the Russian recognisers of numbers by how many digits there are and by what stands behind them. Most
// numbers are nothing special, so only those recognisers are asked that know the character behind the digits.
import type { Reading, Recogniser } from '../reading.js';

/**
 * A recogniser, the fewest and most digits for which it is asked, the first character behind them (or behind
 * them and a space), and all that has to stand there.
 */
export type DigitRule = readonly [
  recognise: Recogniser,
  fewest: number,
  most: number,
  next: RegExp,
  behind: RegExp,
];

const LONGEST_BEHIND = 14; // units that decide whether to ask

export function byDigits(rules: readonly DigitRule[]): Recogniser {
  const byNext = new Map<string, readonly DigitRule[]>();
  return (reading) => {
    if (!reading.isFresh) return undefined;
    const { text, runEnd } = reading;
    const next = (text[runEnd] === ' ' ? text[runEnd + 1] : text[runEnd]) ?? '';
    let asked = byNext.get(next);
    if (asked === undefined) byNext.set(next, (asked = rules.filter((rule) => rule[3].test(next))));
    offerAll(asked, reading);
    return undefined;
  };
}

function offerAll(asked: readonly DigitRule[], reading: Reading): void {
  const { text, at, runEnd } = reading;
  const behind = text.slice(runEnd, runEnd + LONGEST_BEHIND);
  const digits = runEnd - at;
  for (const [recognise, fewest, most, , expected] of asked) {
    if (digits < fewest || digits > most || !expected.test(behind)) continue;
    const found = recognise(reading);
    if (found !== undefined) reading.offer(found);
  }
}
