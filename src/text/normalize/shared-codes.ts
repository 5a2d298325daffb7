// Makes recognisers for codes that several languages write alike: commits, telephone keys, and the currency
// pair of a rate (EUR/USD 1,08). Each language supplies its own words.
import { isDigitAt, isWordAt, WORD_UNIT } from './characters.js';
import type { Speech } from './language.js';
import type { Currency } from './quantity.js';
import type { Reading, Recogniser } from './reading.js';

const LONGEST_LEAD = 60; // units before a key or code that may tell what it is
const BEHIND_KEY = /^["”'»]?(?:[\s.,;:!?)]|$)/u;

/** The keys # and * where the words before them tell of keys. */
export function telephoneKeys(names: Readonly<Record<string, string>>, before: RegExp): Recogniser {
  return ({ text, at }) => {
    const spoken = names[text[at] ?? ''];
    if (spoken === undefined || isWordAt(text, at + 1) || !/[\s«"“'(]/.test(text[at - 1] ?? ''))
      return undefined;
    if (!BEHIND_KEY.test(text.slice(at + 1, at + 3))) return undefined;
    if (!before.test(text.slice(Math.max(0, at - LONGEST_LEAD), at))) return undefined;
    return { end: at + 1, spoken, rule: 'symbol' };
  };
}

const GROUPS =
  /\d{2,8}(?:-\d{3,8}){1,3}(?![\p{L}\d-])|\d{3} \d{3}(?: \d{3})?(?![\p{L}\d]| ?\p{Ll}{3,}|,\d)/uy;

/** Il codice è 482 913, commande 2024-00158: groups of figures behind the words that end with `before`. */
export function keyedGroups(before: RegExp, digits: (digits: string) => string): Recogniser {
  return (reading) => {
    const { text, at } = reading;
    const match = reading.isFresh ? reading.match(GROUPS) : undefined;
    if (match === undefined || !before.test(text.slice(Math.max(0, at - LONGEST_LEAD), at))) return undefined;
    const spoken = match[0].split(/[- ]/).map(digits).join(', ');
    return { end: at + match[0].length, spoken, rule: 'digits' };
  };
}

const TYPE = /(\d{3})-(\d{1,3})(?![\p{L}\p{N}]|-\d)/uy;
const PLANE = /^(?:boeing|airbus|boeings|боинг\p{L}{0,2}|эйрбас\p{L}{0,2}|аэробус\p{L}{0,2})$/u;

/** Boeing 737-800: no range. */
export function planeType(number: (digits: string) => string): Recogniser {
  return (reading) => {
    const match = reading.match(TYPE);
    if (match === undefined || !PLANE.test(reading.around(reading.at).previousWord)) return undefined;
    const spoken = `${number(match[1] ?? '')} ${number(match[2] ?? '')}`;
    return { end: reading.at + match[0].length, spoken, rule: 'identifier' };
  };
}

const EDITION = /(\d{3,6})(?:-(\d{1,3}))?:((?:19|20)\d\d)(?![\p{L}\p{N}]|[:.,/-]\d)/uy;
const STANDARD = /(?:^|[\s(/])(?:ISO|IEC|EN|DIN|UNI|NF|BS|CEI|ÖNORM|SN|ASTM|IEEE|ANSI|OHSAS)[\s/-]$/u;
const LONGEST_NAME = 8; // units of the name of a standard before its number

/**
 * ISO 9001:2015, EN 1090-2:2018: the year of a standard's edition; the number is said by `number`, and so is
 * its part.
 */
export function standard(number: (digits: string) => string, year: (digits: string) => string): Recogniser {
  return (reading) => {
    const { text, at } = reading;
    const match = reading.isFresh ? reading.match(EDITION) : undefined;
    if (match === undefined || !STANDARD.test(text.slice(Math.max(0, at - LONGEST_NAME), at)))
      return undefined;
    const [written, digits = '', part, edition = ''] = match;
    const name = part === undefined ? number(digits) : `${number(digits)} ${number(part)}`;
    return { end: at + written.length, spoken: `${name}, ${year(edition)}`, rule: 'identifier' };
  };
}

const HASH = /(?=[a-f]{0,39}\d)(?=\d{0,39}[a-f])[\da-f]{6,40}(?![\p{L}\p{N}])/uy;
const FEWEST_RUNS = 4; // minimum of runs of letters and of digits; a word with a number has fewer

/** Commit 3f2a9bc: character by character. */
export function commitHash({ letters, digits }: Pick<Speech, 'letters' | 'digits'>): Recogniser {
  return (reading) => {
    const written = reading.isFresh ? reading.match(HASH)?.[0] : undefined;
    const runs = written?.match(/[a-f]+|\d+/g) ?? [];
    if (written === undefined || runs.length < FEWEST_RUNS) return undefined;
    const spoken = runs.map((run) => (/\d/.test(run) ? digits(run) : letters(run))).join(' ');
    return { end: reading.at + written.length, spoken, rule: 'identifier' };
  };
}

const TWO_LETTERS = /[A-Z]\/[A-Z](?![\p{L}\p{N}/])/uy;

/** An A/B test, the P/E ratio: letters of one name. */
export function letterPair({ letters }: Pick<Speech, 'letters'>): Recogniser {
  return (reading) => {
    if (reading.text[reading.at + 1] !== '/') return undefined;
    const written = reading.match(TWO_LETTERS)?.[0];
    if (written === undefined) return undefined;
    return { end: reading.at + written.length, spoken: letters(written.replace('/', '')), rule: 'acronym' };
  };
}

/** True if a number stands behind the word that begins here and its stop: Joh 3, Gen. 1. */
export function isBeforeDigit({ text, runEnd }: Reading): boolean {
  const at = text[runEnd] === '.' ? runEnd + 1 : runEnd;
  return text[at] === ' ' && isDigitAt(text, at + 1);
}

const PAIR = new RegExp(String.raw`([A-Z]{3})/([A-Z]{3})(?!${WORD_UNIT}|/)`, 'uy');

/** Their names, of a currency its first form, with what is said between them. */
export function currencyPair(
  currencies: Readonly<Record<string, Currency | string>>,
  between = ' ',
): Recogniser {
  return (reading) => {
    const { text, at, runEnd } = reading;
    if (text[runEnd] !== '/' || runEnd - at !== 3 || !reading.isFresh) return undefined;
    const match = reading.match(PAIR);
    const [first, second] = [nameOf(currencies[match?.[1] ?? '']), nameOf(currencies[match?.[2] ?? ''])];
    if (match === undefined || first === undefined || second === undefined) return undefined;
    return { end: at + match[0].length, spoken: `${first}${between}${second}`, rule: 'currency' };
  };
}

function nameOf(currency: Currency | string | undefined): string | undefined {
  return typeof currency === 'string' ? currency : currency?.forms[0];
}
