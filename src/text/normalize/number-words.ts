// Number words from the package n2words, kept so that a small number is asked for once.

const MOST_KEPT = 10_000; // numbers below this are kept
const LONGEST = 66; // digits that a cardinal may have; beyond, the words have no names

/** Remembers the words of small numbers; `words` says any whole number from its digits. */
export function keptWords(words: (digits: string) => string): (digits: string) => string {
  const kept: (string | undefined)[] = [];
  return (digits) => {
    if (digits.length > 4) return words(digits);
    const value = Number(digits);
    if (value >= MOST_KEPT) return words(digits);
    return (kept[value] ??= words(String(value)));
  };
}

/** Ordinals, kept in the same way; n2words has none below the first. */
export function keptOrdinals(words: (digits: string) => string, zeroth: string): (digits: string) => string {
  return keptWords((digits) => (/^0+$/.test(digits) ? zeroth : words(digits)));
}

export function isSayable(digits: string): boolean {
  return digits.length <= LONGEST;
}
