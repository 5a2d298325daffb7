// The text while it is read: where the scan stands and what is around it.
import { classAt, DIGIT, IDEOGRAPH, isWordAt, LETTER, SPACE } from './characters.js';
import type { Numeral } from './numerals.js';
import type { ClockPart, Currency, Fraction, Noun, Quantity, WrittenDate, WrittenTime } from './quantity.js';

/** Kind of a recognised token. Clients see it as the reason for a spoken form. */
export type Rule =
  | 'abbreviation'
  | 'acronym'
  | 'address'
  | 'cardinal'
  | 'code'
  | 'currency'
  | 'date'
  | 'decade'
  | 'decimal'
  | 'digits'
  | 'duration'
  | 'email'
  | 'emoji'
  | 'file'
  | 'fraction'
  | 'handle'
  | 'hashtag'
  | 'identifier'
  | 'ip-address'
  | 'lexicon'
  | 'markdown'
  | 'math'
  | 'measure'
  | 'ordinal'
  | 'percent'
  | 'punctuation'
  | 'range'
  | 'roman'
  | 'say-as'
  | 'score'
  | 'sub'
  | 'symbol'
  | 'telephone'
  | 'time'
  | 'url'
  | 'version'
  | 'year'
  | 'zone';

interface Kinds {
  /** A plain number, a range of two, or a number with a magnitude or fraction. */
  readonly count: { readonly quantity: Quantity };
  /** Four digits. `isSure`: a word before them says that they are a year. */
  readonly year: { readonly digits: string; readonly isSure: boolean };
  readonly money: { readonly quantity: Quantity; readonly currency: Currency };
  readonly measure: { readonly quantity: Quantity; readonly unit: Noun };
  /** The number of a 5-km run. */
  readonly attribute: { readonly numeral: Numeral; readonly unit: string };
  /** 1/2, 3/4 cup */
  readonly fraction: { readonly fraction: Fraction; readonly unit: Noun | undefined };
  /** 5 €/kg: a token and the phrase for each unit behind a stroke. */
  readonly rate: { readonly of: Token; readonly per: string };
  /** ±2: a sign that is no part of the number. */
  readonly signed: { readonly sign: string; readonly of: Token };
  readonly date: { readonly date: WrittenDate };
  readonly time: { readonly time: WrittenTime };
  /** 2024-01-15T14:30 */
  readonly moment: { readonly date: WrittenDate; readonly time: WrittenTime };
  /** 2h 30m */
  readonly duration: { readonly parts: readonly ClockPart[] };
  readonly telephone: { readonly groups: readonly string[]; readonly isInternational: boolean };
  /** Said figure by figure, with a pause between two groups. */
  readonly digits: { readonly groups: readonly string[] };
  /** `mark` is what stands behind the digits. */
  readonly ordinal: { readonly digits: string; readonly mark: string };
  readonly decade: { readonly digits: string };
  readonly score: { readonly home: Numeral; readonly guest: Numeral };
  /** A number that counts nothing. */
  readonly number: { readonly numeral: Numeral };
  /** v2.1-beta3: `before` and `point` are words, `stage` is a word or letters. */
  readonly version: {
    readonly before: string;
    readonly parts: readonly string[];
    readonly point: string;
    readonly stage: string;
    readonly build: string;
  };
  /** Words of several parts, which its recogniser puts together. */
  readonly composed: { readonly words: () => string | undefined };
  /** 5%-6%: two tokens of one type. */
  readonly range: { readonly from: Token; readonly to: Token };
  /** John 3:16-18: digits; `book` is its name as it is said. */
  readonly verse: {
    readonly book: string;
    readonly chapter: string;
    readonly first: string;
    readonly last: string | undefined;
  };
}

/** A token that a recogniser has found, and its neighbours. */
export type Token = {
  [Type in keyof Kinds]: Kinds[Type] & { readonly type: Type; readonly around: Around };
}[keyof Kinds];

interface Tagged {
  /** Offset of the first unit behind the token. */
  readonly end: number;
  readonly rule: Rule;
  /** The words hang on those before them, as a particle does: a space that was written there is not kept. */
  readonly clings?: true;
  /** Words or marks near the token prove what it is. */
  readonly isCertain?: true;
  /** The candidate that is taken if the language has no words for this one. */
  readonly otherwise?: (() => Candidate | undefined) | undefined;
}

/** A token and the words for it. Empty words: it is not spoken. */
export interface Found extends Tagged {
  readonly spoken: string;
  readonly token?: undefined;
}

/** A token whose words the language supplies once it is chosen. */
export interface TypedFound extends Tagged {
  readonly token: Token;
}

export type Candidate = Found | TypedFound;

/** The second candidate is taken if the language has no words for the first. */
export function either(first: TypedFound, second: () => Candidate | undefined): TypedFound {
  const { otherwise } = first;
  return { ...first, otherwise: otherwise === undefined ? second : () => otherwise() ?? second() };
}

/** Looks at one place of the text; undefined where its kind of token does not begin. */
export type Recogniser = (reading: Reading) => Candidate | undefined;

/** A candidate whose words its recogniser puts together once it is chosen. */
export function composed(end: number, rule: Rule, words: () => string | undefined): TypedFound {
  return { end, rule, token: { type: 'composed', words, around: NOWHERE } };
}

/** Marks the candidates of a recogniser that looks for proof around the token. */
export function certain(recognise: Recogniser): Recogniser {
  return (reading) => {
    const found = recognise(reading);
    return found === undefined ? undefined : { ...found, isCertain: true };
  };
}

const SHORT_STOP = /\.?[.:] ?$/;
const UNDERSCORE = 0x5f;
const WORD_LIMIT = 48; // units; longer words are not used as context

/** The words before a place; many recognisers ask for them at the same one. */
class Before {
  readonly #text: string;
  readonly #start: number;
  #word: string | undefined;
  #short: string | undefined;
  #second: string | undefined;
  #secondShort: string | undefined;

  constructor(text: string, start: number) {
    this.#text = text;
    this.#start = start;
  }

  get word(): string {
    return (this.#word ??= wordBefore(this.#text, this.#start).toLowerCase());
  }

  get short(): string {
    if (this.#short !== undefined) return this.#short;
    const stop = this.#stop();
    const from = this.#start - stop;
    return (this.#short = stop === 0 ? this.word : wordBefore(this.#text, from).toLowerCase());
  }

  get second(): string {
    return (this.#second ??= secondBefore(this.#text, this.#start));
  }

  get secondShort(): string {
    if (this.#secondShort !== undefined) return this.#secondShort;
    const stop = this.#stop();
    return (this.#secondShort = stop === 0 ? this.second : secondBefore(this.#text, this.#start - stop));
  }

  /** Units of a stop or colon. */
  #stop(): number {
    const near = this.#text.slice(Math.max(0, this.#start - 3), this.#start);
    return near.includes('.') || near.includes(':') ? (SHORT_STOP.exec(near)?.[0].length ?? 0) : 0;
  }
}

/** One token and its neighbours, for grammar that depends on them. */
export class Around {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly #before: Before;

  constructor(text: string, start: number, end: number, before = new Before(text, start)) {
    this.text = text;
    this.start = start;
    this.end = end;
    this.#before = before;
  }

  /**
   * The word before the token, in small letters; '' at the beginning of the text or behind a sentence mark.
   */
  get previousWord(): string {
    return this.#before.word;
  }

  /**
   * That word, also before a stop or colon: the "tel" of "Tel. 4711" and "Tel.: 4711", the "pin" of "PIN:
   * 0815".
   */
  get previousShort(): string {
    return this.#before.short;
  }

  /** The second word before the token. */
  get secondPreviousWord(): string {
    return this.#before.second;
  }

  /** That word, also before a stop or colon: the "code" of "code is: 4711". */
  get secondPreviousShort(): string {
    return this.#before.secondShort;
  }

  /** The word behind the token, as written; '' if none follows directly. */
  get nextWord(): string {
    return wordAfter(this.text, this.end);
  }

  /** The second word behind the token, as written. */
  get secondNextWord(): string {
    const at = skipSpaces(this.text, this.end);
    const first = wordAfter(this.text, this.end);
    return first === '' ? '' : wordAfter(this.text, at + first.length);
  }

  /** The token at another place, with the same text. */
  upTo(end: number): Around {
    return new Around(this.text, this.start, end, this.#before);
  }
}

/** For words that have no neighbours. */
export const NOWHERE = new Around('', 0, 0);

export function wordBefore(text: string, start: number): string {
  let end = start;
  while (end > 0 && start - end < 3 && text[end - 1] === ' ') end--;
  let at = end;
  while (at > 0 && end - at < WORD_LIMIT && isLetterAt(text, at - 1)) at--;
  return text.slice(at, end);
}

function secondBefore(text: string, start: number): string {
  const first = wordBefore(text, start);
  return first === '' ? '' : wordBefore(text, text.lastIndexOf(first, start)).toLowerCase();
}

const PLAIN_WORD = /(?<![\d\p{L}] ?)\p{L}{3,24}:? $/u;

const NO_VALUE = /(?:(?<![\d²³°%\p{Sc}] ?)\p{L}{3,24}:? |[(,;:] ?)$/u;

/**
 * A sign stands behind a word that it compares with nothing: "free up ≥ 10 GB", "it takes ≈ 5 min", but not
 * "5 km ≈ 3 miles".
 */
export function isBehindWord(text: string, at: number): boolean {
  return (text[at] === '≈' ? NO_VALUE : PLAIN_WORD).test(text.slice(Math.max(0, at - 28), at));
}

export function wordAfter(text: string, from: number): string {
  const at = skipSpaces(text, from);
  let end = at;
  while (end - at < WORD_LIMIT && isLetterAt(text, end)) end++;
  return text.slice(at, end);
}

function isLetterAt(text: string, at: number): boolean {
  const found = classAt(text, at);
  if (found === LETTER || found === IDEOGRAPH) return true;
  const mark = text[at];
  return (mark === "'" || mark === '’') && isWordAt(text, at - 1) && isWordAt(text, at + 1);
}

/** Behind at most two spaces; a number and its unit stand no further apart. */
export function skipSpaces(text: string, from: number): number {
  let at = from;
  while (at - from < 2 && text[at] === ' ') at++;
  return at;
}

export class Reading {
  readonly text: string;
  /** Offset at which the token would begin. */
  at = 0;
  /** Class of the character at `at`. */
  kind = SPACE;
  /** End of the last token that was replaced by other words. The next token may begin there. */
  tokenEnd = -1;
  /** The words of that token. */
  tokenWords = '';
  #runAt = -1;
  #runEnd = 0;
  #beforeAt = -1;
  #before: Before | undefined;

  constructor(text: string) {
    this.text = text;
  }

  /** The word or number does not begin before this place. */
  get isFresh(): boolean {
    const { text, at } = this;
    if (at === this.tokenEnd) return true;
    if (isWordAt(text, at - 1)) return false;
    return text.charCodeAt(at - 1) !== UNDERSCORE || !isWordAt(text, at - 2); // acme_2 is one word
  }

  /** A piece between white space begins here; opening quotes and brackets may stand before it. */
  get startsChunk(): boolean {
    const before = classAt(this.text, this.at - 1);
    return before === SPACE || before === IDEOGRAPH || OPENING.includes(this.text[this.at - 1] ?? ' ');
  }

  /** Offset behind the letters, or the digits, that begin here. */
  get runEnd(): number {
    if (this.#runAt !== this.at) {
      this.#runAt = this.at;
      const kind = classAt(this.text, this.at) === DIGIT ? DIGIT : LETTER;
      let end = this.at + 1;
      while (end < this.text.length && classAt(this.text, end) === kind) end++;
      this.#runEnd = end;
    }
    return this.#runEnd;
  }

  /** Matches a sticky expression at `at`, the current offset by default. */
  match(pattern: RegExp, at = this.at): RegExpExecArray | undefined {
    pattern.lastIndex = at;
    return pattern.exec(this.text) ?? undefined;
  }

  around(end: number, start = this.at): Around {
    if (this.#before === undefined || this.#beforeAt !== start) {
      this.#beforeAt = start;
      this.#before = new Before(this.text, start);
    }
    return new Around(this.text, start, end, this.#before);
  }
}

const OPENING = '`<"\'“‘„«‹([{（「『【《〈*_~¿¡|>,;:，、；：';
