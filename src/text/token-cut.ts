// Whether a place of a text lies inside something that is spoken as one thing. What the rules of the text's language
// read as one token is asked of them; what stands next to a token and hangs on it is known here.
import { identifyLanguage } from './language.js';
import { languageOf } from './normalize/languages.js';
import { normalize } from './normalize/normalize.js';

const INSIDE_NUMBER = /[\p{N}]$/u;
const NUMBER_GOES_ON = /^[\s.,:'’٫٬/-]?[\p{N}]/u;
const LONGEST_NAME = 24; // units of what stands before a year
const LONGEST_STREET = 48; // units of a house and its street
const CLINGS = /^[\p{Pe}\p{Pf}\p{M}.!?…。！？、，；：,;:%‰°’]/u;

/** No punctuation is cut off what it belongs to, and no number is cut. */
export function mayCut(text: string, cut: number): boolean {
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
  return /(?<![\p{N}.,])\p{N}{1,5}\s(?:\p{Lu}[\p{L}.]*\s){1,3}\p{Lu}[\p{L}.]*,$/u.test(street); // 12 Main St, Austin
}

// A number and its unit, a short form and its name, the two sides of a sign, Louis XIV, [a link](…).
const CLINGS_BACK = /(?:[\p{N}\p{Sc}.%°ºª#§+=<>×÷/~–—-]|\p{N}[만억조천백십万億兆亿萬千百])$/u;
const CLINGS_ON = /^\s*(?:[\p{Sc}%°+=<>×÷/~–—-]|[IVXLC]+(?![\p{L}\p{N}]))/u;
const LEADS_TO_NUMBER = /(?:\p{Lu}\p{L}*|\p{L}{3}|\p{N}\s?\p{L}{1,2}\.?)$/u;

/** What hangs on a number, a sign or a short form. */
export function isInsideToken(text: string, cut: number): boolean {
  const before = text.slice(Math.max(0, cut - 200), cut);
  if (before.lastIndexOf('[') > before.lastIndexOf(']')) return true;
  // "January 15", "page 3", "2h 30", but "… to us | 10 minutes"
  if (/^\s*\p{N}/u.test(text.slice(cut, cut + 4)) && LEADS_TO_NUMBER.test(before.slice(-24))) return true;
  if (/\p{N}(?:st|nd|rd|th)(?: of)?$/u.test(before.slice(-12))) return true; // the 4th of July
  return CLINGS_BACK.test(before.slice(-4)) || CLINGS_ON.test(text.slice(cut, cut + 12));
}

const NEAR = 40; // units around a cut in which a sign of a token is looked for
const TELLING = /[\p{N}\p{Sc}.@/%°§#&|`\\<]/u; // what reads otherwise than it is written mostly has one of these

/** The tokens of a text as the rules of its language read it; they are asked only where a cut may fall into one. */
export class SpokenTokens {
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

  #read(): readonly { readonly start: number; readonly end: number }[] {
    const tag = this.#language ?? identifyLanguage(this.#text).language;
    const language = languageOf(tag) ?? languageOf('en');
    return language === undefined ? [] : normalize(this.#text, language).replacements;
  }
}
