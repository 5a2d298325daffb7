// Chooses the place to cut a sentence that exceeds the length limit of a speech engine.
// The order of preference is: after a clause mark, at a space between plain words, between two words
// (Chinese and Japanese have no spaces), between two characters.
// A cut never splits a character of several code points and never stands before a closing mark.
// It splits a number with its unit, a date, an amount or an address only if no other place exists.
// The normaliser of the text's language decides which tokens belong together.
import { isOpen, isQuoted } from './clause-end.js';
import { identifyLanguage } from './language.js';
import { languageOf } from './normalize/languages.js';
import { spokenForm, windowForm } from './spoken-form.js';

const INSIDE_NUMBER = /[\p{N}]$/u;
const NUMBER_GOES_ON = /^[\s.,:'’٫٬/-]?[\p{N}]/u;
const LONGEST_NAME = 24; // units of what stands before a year
const LONGEST_STREET = 48; // units of a house and its street
const CLINGS = /^[\p{Pe}\p{Pf}\p{M}.!?…。！？、，；：,;:%‰°’]/u;

/** No punctuation is cut off what it belongs to, and no number is cut. */
function mayCut(text: string, cut: number): boolean {
  if (isDigit(text, cut - 1) && isDigit(text, cut)) return false;
  const rest = text.slice(cut, cut + LONGEST_NAME);
  if (CLINGS.test(rest)) return false;
  const before = text.slice(Math.max(0, cut - LONGEST_NAME), cut);
  if (before.endsWith(',') && isInList(text, cut, before, rest)) return false;
  if (/[:：]$/u.test(before) && /^\s?[\p{N}+(#*]/u.test(rest)) return false; // PIN: 1234
  if (/\p{N}[：，]$/u.test(before) && /^\p{N}/u.test(rest)) return false; // １５：３０
  return !(INSIDE_NUMBER.test(before) && NUMBER_GOES_ON.test(rest));
}

function isDigit(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0x30 && unit <= 0x39;
}

/** The comma is one of a date or an address. */
function isInList(text: string, cut: number, before: string, rest: string): boolean {
  if (/\p{N},$/u.test(before) && /^\s\p{N}/u.test(rest)) return true; // January 15, 2024
  if (/\p{Lu}\p{L}+\.?,$/u.test(before) && /^\s\p{N}{1,5}(?!\p{N})/u.test(rest)) return true; // July, 1776
  if (/^\s[A-Z]{2}\s\p{N}{5}(?!\p{N})/u.test(rest)) return true; // Austin, TX 78701
  if (!/^\s\p{Lu}\p{L}/u.test(rest)) return false;
  const street = text.slice(Math.max(0, cut - LONGEST_STREET), cut);
  // 12 Main St, Austin.
  return /(?<![\p{N}.,])\p{N}{1,5}\s(?:\p{Lu}[\p{L}.]*\s){1,3}\p{Lu}[\p{L}.]*,$/u.test(street);
}

// A number and its unit, a short form and its name, the two sides of a sign, Louis XIV, [a link](…).
const CLINGS_BACK = /(?:[\p{N}\p{Sc}.%°ºª#§+=<>×÷/~–—-]|\p{N}[만억조천백십万億兆亿萬千百])$/u;
const CLINGS_ON = /^\s*(?:[\p{Sc}%°+=<>×÷/~–—-]|[IVXLC]+(?![\p{L}\p{N}]))/u;
const LEADS_TO_NUMBER = /(?:\p{Lu}\p{L}*|\p{L}{3}|\p{N}\s?\p{L}{1,2}\.?)$/u;

/** True if the cut would part a number, a sign or a short form from the text that belongs to it. */
function isInsideToken(text: string, cut: number): boolean {
  const before = text.slice(Math.max(0, cut - 200), cut);
  if (before.lastIndexOf('[') > before.lastIndexOf(']')) return true;
  // "January 15", "page 3", "2h 30", but "… to us | 10 minutes"
  if (/^\s*\p{N}/u.test(text.slice(cut, cut + 4)) && LEADS_TO_NUMBER.test(before.slice(-24))) return true;
  if (/\p{N}(?:st|nd|rd|th)(?: of)?$/u.test(before.slice(-12))) return true; // the 4th of July
  return CLINGS_BACK.test(before.slice(-4)) || CLINGS_ON.test(text.slice(cut, cut + 12));
}

const NEAR = 40; // units around a cut in which a sign of a token is looked for
const TELLING = /[\p{N}\p{Sc}.@/%°§#&|`\\<]/u; // most tokens that need normalising hold one of these

/**
 * The tokens of a text as the rules of its language read it; they are asked only where a cut may fall into
 * one.
 */
class SpokenTokens {
  readonly #text: string;
  readonly #language: string | undefined;
  #spans: readonly { readonly start: number; readonly end: number }[] | undefined;

  constructor(text: string, language: string | undefined) {
    this.#text = text;
    this.#language = language;
  }

  isInside(cut: number): boolean {
    if (!TELLING.test(this.#text.slice(Math.max(0, cut - NEAR), cut + NEAR))) return false;
    this.#spans ??= this.#read();
    return this.#spans.some(({ start, end }) => start < cut && cut < end);
  }

  /** True if neither the text after the cut nor what may still come changes a word before it. */
  readsAlone(cut: number): boolean {
    const [text, ahead] = [this.#text.slice(0, cut), this.#text.slice(cut)];
    return windowForm({ text, ahead, isComplete: false }, { language: this.#tag }) !== 'wait';
  }

  #read(): readonly { readonly start: number; readonly end: number }[] {
    return spokenForm(this.#text, { language: this.#tag }).replacements;
  }

  get #tag(): string {
    const tag = this.#language ?? identifyLanguage(this.#text).language;
    return languageOf(tag) === undefined ? 'en' : tag;
  }
}

const CLAUSE_END = /(?:[:,、，；：—–]|(?<!&#?[a-z\d]{2,8});)(?=\s)|[、，；：](?=\S)|\s[—–](?=\s)/giu;
const SPACE = /\s+/gu;

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });
const wordsOf = new Intl.Segmenter('und', { granularity: 'word' });

const MOST_TRIES = 64; // words or characters that are looked at from the limit on

type Test = (text: string, cut: number) => boolean;

/**
 * Units of `text` to speak as one piece: at least 1, at most `maxLength`. `text` is longer than `maxLength`;
 * what follows the first `maxLength` units is looked at, but not cut. `language` is that of the text, if it
 * is known.
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

/**
 * True if the cut parts no number, name of a date, address or other token that is spoken as one thing, and
 * what follows changes no word before it.
 */
export function isFreeCut(text: string, cut: number, language?: string): boolean {
  const tokens = new SpokenTokens(text, language);
  return mayCut(text, cut) && !tokens.isInside(cut) && tokens.readsAlone(cut);
}

const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/u;
const PARTICLE_END = /[はがをにでともへ]$/u;
const CONTENT_WORD = /^[\p{Script=Han}\p{Script=Katakana}]/u;
const CHINESE_TAIL = /^[的了着著过過地得们們吗嗎呢吧]/u;

/**
 * Units of a beginning of `text` to speak before the rest is known: at least half of `maxLength`, at most all
 * of it. It ends between two plain words, outside of brackets and quotations; undefined if there is no such
 * place.
 */
export function cutPhrase(text: string, maxLength: number, language?: string): number | undefined {
  const tokens = new SpokenTokens(text, language);
  const isFree = (cut: number) =>
    mayCut(text, cut) &&
    !tokens.isInside(cut) &&
    !isInsideToken(text, cut) &&
    !isOpen(text.slice(0, cut)) &&
    !isQuoted(text.slice(0, cut));
  const spaces = placesOf(SPACE, text, 'start').filter((cut) => isBetweenPlainWords(text, cut));
  const words = spaces.length > 0 ? spaces : denseBounds(text);
  return words.findLast((cut) => cut >= maxLength / 2 && cut <= maxLength && isFree(cut));
}

/** Places between two words of Chinese, and before a word of Japanese that follows a particle. */
function denseBounds(text: string): number[] {
  const isJapanese = KANA.test(text);
  return Array.from(wordsOf.segment(text), ({ index }) => index).filter((cut) => {
    const [before, after] = [text.slice(0, cut), text.slice(cut)];
    if (isJapanese) return PARTICLE_END.test(before) && CONTENT_WORD.test(after);
    return /\p{Script=Han}$/u.test(before) && /^\p{Script=Han}/u.test(after) && !CHINESE_TAIL.test(after);
  });
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

/**
 * A number or character longer than a whole piece: cut at a character if there is one, never in a surrogate
 * pair.
 */
function withinGrapheme(text: string, maxLength: number): number {
  const pair = /[\uD800-\uDBFF]$/.test(text.slice(0, maxLength)) && maxLength > 1;
  return lastStart(graphemes, text, maxLength, () => true) ?? (pair ? maxLength - 1 : maxLength);
}
