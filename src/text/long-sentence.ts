// Where to cut a sentence that is too long for one breath of a speech engine.
//
// After a clause mark is best, at a space between plain words good, between two words tolerable
// (Chinese and Japanese have no spaces), between two characters the last
// resort. Never inside a number, a character of several code points, or before
// a mark that belongs to what stands before it.

const CLAUSE_END = /[;:,、，；：—–](?=\s)|[、，；：](?=\S)|\s[—–](?=\s)/gu;
const SPACE = /\s+/gu;
const INSIDE_NUMBER = /[\p{N}]$/u;
const NUMBER_GOES_ON = /^[\s.,:'’٫٬/-]?[\p{N}]/u;
const LONGEST_NAME = 24; // units of what stands before a year
const CLINGS = /^[\p{Pe}\p{Pf}\p{M}.!?…。！？、，；：,;:%‰°’]/u;

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });
const wordsOf = new Intl.Segmenter('und', { granularity: 'word' });

/**
 * Units of `text` to speak as one piece: at least 1, at most `maxLength`. `text` is longer than `maxLength`; what
 * follows the first `maxLength` units is looked at, but not cut.
 */
export function cutLongSentence(text: string, maxLength: number): number {
  const earliest = Math.floor(maxLength / 3); // a clause shorter than this would sound chopped
  const lastFit = (cuts: number[], from: number): number | undefined =>
    cuts.filter((cut) => cut > from && cut <= maxLength && mayCut(text, cut)).at(-1);
  return (
    lastFit(endsOf(CLAUSE_END, text), earliest) ??
    lastFit(
      startsOf(SPACE, text).filter((cut) => isBetweenPlainWords(text, cut)),
      earliest,
    ) ??
    lastFit(
      startsOf(SPACE, text).filter((cut) => !isWithinToken(text, cut)),
      0,
    ) ??
    lastFit(startsOf(SPACE, text), 0) ??
    lastFit(segmentStarts(wordsOf, text), 0) ??
    lastFit(segmentStarts(graphemes, text), 0) ??
    withinGrapheme(text, maxLength)
  );
}

// A number and its unit, a short form and its name, the two sides of a sign, Louis XIV, [a link](…).
const CLINGS_BACK = /[\p{N}\p{Sc}.%°#§+=<>×÷/~–—-]$/u;
const CLINGS_ON = /^\s*(?:[\p{Sc}%°+=<>×÷/~–—-]|[IVXLC]+(?![\p{L}\p{N}]))/u;

const LEADS_TO_NUMBER = /(?:\p{Lu}\p{L}*|\p{L}{3}|\p{N}\s?\p{L}{1,2}\.?)$/u;

// "ст. метро", "т. е."; "5-го мая"
const SHORT_FORM = /(?:^|\s)\p{Ll}{1,4}\.$|\p{N}-\p{L}{1,3}$/u;
const MEASURE = /\p{N}\s?(?:\p{L}{1,5}\.?\s){0,2}\p{L}{1,5}\.?$/u;

/** "3,2 млн руб.", "2h 30min", "XVII в.", "+7 (495) 123": a unit goes on with another, a numeral with its century. */
function isMeasured(before: string, rest: string): boolean {
  if (MEASURE.test(before) && /^\s*(?:\p{L}{1,5}\.|\p{N})/u.test(rest)) return true;
  if (before.endsWith(')') && /^\s*\p{N}/u.test(rest)) return true;
  return /[IVXLC]$/.test(before) && /^\s*вв?\./u.test(rest);
}

/** Words in small letters, and no number near: nothing of them is spoken as one thing. */
function isBetweenPlainWords(text: string, cut: number): boolean {
  const [before, after] = [text.slice(Math.max(0, cut - 20), cut), text.slice(cut, cut + 16)];
  if (/\p{N}/u.test(before + after) || !/[\p{Ll}\p{Lo}]{2}$/u.test(before)) return false;
  return /^\s+[\p{Ll}\p{Lo}]{2,}(?=[\s,;:!?]|\.\s|\.?$)/u.test(after) && !isWithinToken(text, cut);
}

/** What is spoken as one thing is cut only where nothing else can be. */
function isWithinToken(text: string, cut: number): boolean {
  const before = text.slice(Math.max(0, cut - 200), cut);
  if (before.lastIndexOf('[') > before.lastIndexOf(']')) return true;
  // "January 15", "page 3", "2h 30", but "… to us | 10 minutes"
  if (/^\s*\p{N}/u.test(text.slice(cut, cut + 4)) && LEADS_TO_NUMBER.test(before.slice(-24))) return true;
  if (/\p{N}(?:st|nd|rd|th)(?: of)?$/u.test(before.slice(-12))) return true; // the 4th of July
  const [near, rest] = [before.slice(-32), text.slice(cut, cut + 12)];
  return CLINGS_BACK.test(near) || CLINGS_ON.test(rest) || SHORT_FORM.test(near) || isMeasured(near, rest);
}

function endsOf(pattern: RegExp, text: string): number[] {
  return Array.from(text.matchAll(pattern), (match) => match.index + match[0].length);
}

function startsOf(pattern: RegExp, text: string): number[] {
  return Array.from(text.matchAll(pattern), (match) => match.index);
}

function segmentStarts(segmenter: Intl.Segmenter, text: string): number[] {
  return Array.from(segmenter.segment(text), (segment) => segment.index);
}

function mayCut(text: string, cut: number): boolean {
  const rest = text.slice(cut);
  if (CLINGS.test(rest)) return false;
  const before = text.slice(Math.max(0, cut - LONGEST_NAME), cut);
  if (/\p{N},$/u.test(before) && /^\s\p{N}/u.test(rest)) return false; // January 15, 2024
  if (/\p{Lu}\p{L}+\.?,$/u.test(before) && /^\s\p{N}{4}(?!\p{N})/u.test(rest)) return false; // July, 1776
  return !(INSIDE_NUMBER.test(before) && NUMBER_GOES_ON.test(rest));
}

/** A number or character longer than a whole piece: cut at a character if there is one, never in a surrogate pair. */
function withinGrapheme(text: string, maxLength: number): number {
  const character = segmentStarts(graphemes, text).filter((cut) => cut > 0 && cut <= maxLength);
  const pair = /[\uD800-\uDBFF]$/.test(text.slice(0, maxLength)) && maxLength > 1;
  return character.at(-1) ?? (pair ? maxLength - 1 : maxLength);
}
