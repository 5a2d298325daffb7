// Finds texts that repeat themselves without end, the most common failure of small speech models.

const LONGEST_UNIT = 8; // tokens that are repeated together
const LEAST_REPEATS = 4;
/** Least tokens of all repeats: "five five five five" is a telephone number. */
const LEAST_TOKENS = 8;

/** Tokens to keep of a text whose end repeats itself: up to the first of the repeats. Otherwise all. */
export function lengthWithoutLoop(tokens: readonly number[]): number {
  for (let unit = 1; unit <= LONGEST_UNIT; unit++) {
    const repeats = repeatsAtEnd(tokens, unit);
    if (repeats >= LEAST_REPEATS && repeats * unit >= LEAST_TOKENS)
      return tokens.length - unit * (repeats - 1);
  }
  return tokens.length;
}

/** Tokens to keep of a text without the second of two equal units at its end, and without the later ones. */
export function lengthWithoutRepeats(tokens: readonly number[]): number {
  for (let unit = 1; unit <= LONGEST_UNIT; unit++) {
    const repeats = repeatsAtEnd(tokens, unit);
    if (repeats > 1) return tokens.length - unit * (repeats - 1);
  }
  return tokens.length;
}

/** How often the last tokens stand at the end one after the other. */
function repeatsAtEnd(tokens: readonly number[], unit: number): number {
  let equal = 0;
  for (let at = tokens.length - unit - 1; at >= 0 && tokens[at] === tokens[at + unit]; at--) equal++;
  return tokens.length < unit ? 0 : 1 + Math.floor(equal / unit);
}
