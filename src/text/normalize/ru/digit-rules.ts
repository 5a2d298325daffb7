// Asks the Russian recognisers of numbers by how many digits there are and by what stands behind them. Most
// numbers are nothing special, so only those recognisers are asked that know the character behind the digits.
import type { Row } from '../dispatch.js';
import type { Recogniser } from '../reading.js';

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

export function byDigits(rules: readonly DigitRule[]): readonly Row[] {
  return rules.map(([recognise, fewest, most, next, expected]) => ({
    knows: ({ isFresh, digits, behind }) =>
      isFresh && digits >= fewest && digits <= most && next.test(behind.replace(/^ /, '').slice(0, 1)),
    recognise: (reading) => {
      const { text, runEnd } = reading;
      return expected.test(text.slice(runEnd, runEnd + LONGEST_BEHIND)) ? recognise(reading) : undefined;
    },
  }));
}
