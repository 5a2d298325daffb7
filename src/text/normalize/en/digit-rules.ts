// Asks the English recognisers of numbers by the character behind the digits.
import type { Row } from '../dispatch.js';
import type { Recogniser } from '../reading.js';

/** A recogniser, and the characters directly behind the digits or behind a space for which it is asked. */
export type DigitRule = readonly [touching: RegExp, parted: RegExp, recognise: Recogniser];

/** A stop that ends the sentence is behind no decimals. */
export function bySign(rules: readonly DigitRule[]): readonly Row[] {
  return rules.map(([touching, parted, recognise]) => ({
    knows: ({ isFresh, behind }) => {
      if (!isFresh || behind === '' || /^\.(?!\d)/.test(behind)) return false;
      return behind.startsWith(' ') ? parted.test(behind.slice(-1)) : touching.test(behind.slice(0, 1));
    },
    recognise,
  }));
}
