// Where to cut a sentence that is too long for one breath of a speech engine.
//
// After a clause mark is best, at a space between plain words good, between two words tolerable
// (Chinese and Japanese have no spaces), between two characters the last
// resort. Never inside a character of several code points, before a mark that belongs to what stands
// before it, or, as long as there is any other place, inside what is spoken as one thing: a number with its
// unit, a date, an amount, an address.
import { isInsideToken, mayCut, SpokenTokens } from './token-cut.js';

const CLAUSE_END = /[;:,、，；：—–](?=\s)|[、，；：](?=\S)|\s[—–](?=\s)/gu;
const SPACE = /\s+/gu;

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });
const wordsOf = new Intl.Segmenter('und', { granularity: 'word' });

const MOST_TRIES = 64; // words or characters that are looked at from the limit on

type Test = (text: string, cut: number) => boolean;

/**
 * Units of `text` to speak as one piece: at least 1, at most `maxLength`. `text` is longer than `maxLength`; what
 * follows the first `maxLength` units is looked at, but not cut. `language` is that of the text, if it is known.
 */
export function cutLongSentence(text: string, maxLength: number, language?: string): number {
  const earliest = Math.floor(maxLength / 3); // a clause shorter than this would sound chopped
  const tokens = new SpokenTokens(text, language);
  const isFree: Test = (all, cut) => mayCut(all, cut) && !tokens.isInside(cut);
  const isParted: Test = (all, cut) => isFree(all, cut) && !isInsideToken(all, cut);
  const isOutsideName: Test = (all, cut) => isParted(all, cut) && !isBetweenNames(all, cut);
  const isPlain: Test = (all, cut) => isParted(all, cut) && isBetweenPlainWords(all, cut);
  const lastFit = (cuts: readonly number[], from: number, fits: Test): number | undefined =>
    cuts.findLast((cut) => cut > from && cut <= maxLength && fits(text, cut));
  const spaces = placesOf(SPACE, text, 'start');
  return (
    lastFit(placesOf(CLAUSE_END, text, 'end'), earliest, isFree) ??
    lastFit(spaces, earliest, isPlain) ??
    lastFit(spaces, 0, isOutsideName) ??
    lastFit(spaces, 0, isParted) ??
    lastFit(spaces, 0, isFree) ??
    lastStart(wordsOf, text, maxLength, isFree) ??
    lastFit(spaces, 0, mayCut) ??
    lastStart(graphemes, text, maxLength, mayCut) ??
    withinGrapheme(text, maxLength)
  );
}

/** Words in small letters, and no number near: nothing of them is spoken as one thing. */
function isBetweenPlainWords(text: string, cut: number): boolean {
  const [before, after] = [text.slice(Math.max(0, cut - 20), cut), text.slice(cut, cut + 16)];
  if (/\p{N}/u.test(before + after) || !/[\p{Ll}\p{Lo}]{2}$/u.test(before)) return false;
  return /^\s+[\p{Ll}\p{Lo}]{2,}(?=[\s,;:!?]|\.\s|\.?$)/u.test(after);
}

/** Two words with capitals are mostly one name. */
function isBetweenNames(text: string, cut: number): boolean {
  return (
    /^\s*\p{Lu}/u.test(text.slice(cut, cut + 4)) &&
    /(?:^|\s)\p{Lu}[\p{L}.]*$/u.test(text.slice(Math.max(0, cut - 20), cut))
  );
}

function placesOf(pattern: RegExp, text: string, edge: 'start' | 'end'): number[] {
  return Array.from(text.matchAll(pattern), ({ index, 0: found }) =>
    edge === 'end' ? index + found.length : index,
  );
}

/** The last word or character to begin at a place that fits; only those near the limit are ever looked at. */
function lastStart(
  segmenter: Intl.Segmenter,
  text: string,
  maxLength: number,
  fits: Test,
): number | undefined {
  const segments = segmenter.segment(text);
  let cut = segments.containing(maxLength)?.index ?? 0;
  for (let tries = 1; cut > 0 && !fits(text, cut); tries++) {
    if (tries === MOST_TRIES) return undefined;
    cut = segments.containing(cut - 1)?.index ?? 0;
  }
  return cut > 0 ? cut : undefined;
}

/** A number or character longer than a whole piece: cut at a character if there is one, never in a surrogate pair. */
function withinGrapheme(text: string, maxLength: number): number {
  const pair = /[\uD800-\uDBFF]$/.test(text.slice(0, maxLength)) && maxLength > 1;
  return lastStart(graphemes, text, maxLength, () => true) ?? (pair ? maxLength - 1 : maxLength);
}
