// The recognised text while it is read: its tokens, and the numbers that were found at them.
import type { Language } from '../normalize/language.js';
import type { Rule } from '../normalize/reading.js';
import type { Listening } from './listening.js';
import type { BelowThousand, NumberAt, NumberWords, OrdinalAt } from './number-words.js';
import type { Token } from './spoken-tokens.js';
import type { WordTrie } from './word-trie.js';

/** The written form of some words. */
export interface Written {
  /** Index of the token behind them. */
  readonly end: number;
  readonly text: string;
  readonly rule: Rule;
}

/** A number with its sign, decimals and scale word. */
export interface Quantity {
  readonly negative: boolean;
  readonly whole: number;
  /** Digits behind the decimal mark; '' if there are none. */
  readonly decimals: string;
  /** Million, thousand: as it was recognised. */
  readonly magnitude: string | undefined;
  readonly end: number;
  /** A whole number below ten without a sign. */
  readonly isSmall: boolean;
  readonly isArticle: boolean;
  readonly isLoose: boolean;
}

/** Reads one kind of token at a place; undefined where none begins. */
export type Reader = (reading: SpokenReading, at: number) => Written | undefined;

/** The words of one language, ready to be found. */
export interface Vocabulary {
  readonly language: Language;
  readonly listening: Listening;
  readonly numbers: NumberWords;
  /** 1 to 12 by their names. */
  readonly months: WordTrie<number>;
}

const MOST_DECIMALS = 20;

export class SpokenReading {
  readonly tokens: readonly Token[];
  readonly language: Language;
  readonly listening: Listening;
  /** BCP 47 tag that was asked for, in small letters. */
  readonly tag: string;
  readonly #words: Vocabulary;
  readonly #numbers: (NumberAt | null | undefined)[] = [];
  readonly #quantities: (Quantity | null | undefined)[] = [];
  readonly #below: (BelowThousand | null | undefined)[] = [];

  constructor(tokens: readonly Token[], words: Vocabulary, tag: string) {
    this.tokens = tokens;
    this.language = words.language;
    this.listening = words.listening;
    this.#words = words;
    this.tag = tag;
  }

  /** Key of a token; '' outside the text. */
  key(at: number): string {
    return this.tokens[at]?.key ?? '';
  }

  /** True if the token goes on from the one before it without a mark. */
  isJoined(at: number): boolean {
    return this.tokens[at]?.gap === 'plain';
  }

  /** True if the token belongs to the one before it and is one of the words. */
  isNext(at: number, words: ReadonlySet<string>): boolean {
    return this.isJoined(at) && words.has(this.key(at));
  }

  /** True if one of the words stands among the few tokens before this one. */
  hasBefore(at: number, words: ReadonlySet<string>, most: number): boolean {
    for (let back = 1; back <= most; back++) {
      if (words.has(this.key(at - back))) return true;
    }
    return false;
  }

  /** The word between the ends of a range that begins with the token `from`. */
  isRange(from: number, at: number): boolean {
    const { beforeRange, rangeEnds, rangeWords } = this.listening;
    if (!this.isJoined(at) || !this.isJoined(at + 1)) return false;
    if (rangeWords.has(this.key(at))) return true;
    return rangeEnds.has(this.key(at)) && beforeRange.has(this.key(from - 1));
  }

  /** Nothing that the number before could count stands here. */
  isClosed(at: number): boolean {
    return !this.isJoined(at) || this.listening.closing.has(this.key(at));
  }

  number(at: number): NumberAt | undefined {
    const known = this.#numbers[at];
    if (known !== undefined) return known ?? undefined;
    const found = at < this.tokens.length ? this.#words.numbers.number(this.tokens, at) : undefined;
    this.#numbers[at] = found ?? null;
    return found;
  }

  /** A number that goes on from the token before it. */
  nextNumber(at: number): NumberAt | undefined {
    return this.isJoined(at) ? this.number(at) : undefined;
  }

  /** A number below a thousand, whatever scale word follows it. */
  below(at: number): BelowThousand | undefined {
    const known = this.#below[at];
    if (known !== undefined) return known ?? undefined;
    const found = this.#words.numbers.below(this.tokens, at);
    this.#below[at] = found ?? null;
    return found;
  }

  ordinal(at: number): OrdinalAt | undefined {
    return this.#words.numbers.ordinal(this.tokens, at);
  }

  /** The number, 1 to 12, of a month's name. */
  month(at: number): { readonly value: number; readonly end: number } | undefined {
    return this.#words.months.at(this.tokens, at);
  }

  monthName(month: number): string {
    return this.language.writing.dates.months[month - 1]?.[0] ?? '';
  }

  quantity(at: number): Quantity | undefined {
    const known = this.#quantities[at];
    if (known !== undefined) return known ?? undefined;
    const found = this.#quantity(at);
    this.#quantities[at] = found ?? null;
    return found;
  }

  #quantity(at: number): Quantity | undefined {
    const { minus, money, points } = this.listening;
    const negative = minus.has(this.key(at)) && this.isJoined(at + 1) && !this.#isDifference(at);
    const number = this.number(negative ? at + 1 : at);
    if (number === undefined) return undefined;
    const { value, end, isArticle, isLoose, round } = number;
    const decimals =
      this.isNext(end, points) && (!isArticle || money.countsArticle) ? this.#decimals(end + 1) : undefined;
    if (decimals !== undefined) {
      const scale = this.#scaleBehind(decimals.end);
      return {
        negative,
        whole: value,
        decimals: decimals.digits,
        magnitude: scale?.text,
        end: decimals.end + (scale === undefined ? 0 : 1),
        isSmall: false,
        isArticle: false,
        isLoose: false,
      };
    }
    return {
      negative,
      whole: round?.coefficient ?? value,
      decimals: '',
      magnitude: round === undefined ? undefined : this.tokens[round.scale]?.text,
      end,
      isSmall: value < 10 && !negative,
      isArticle,
      isLoose,
    };
  }

  /** Ten minus five */
  #isDifference(at: number): boolean {
    return this.isJoined(at) && (this.number(at - 1) !== undefined || /\d$/.test(this.key(at - 1)));
  }

  /** Digits one by one; or zeros, and then a number below a thousand. */
  #decimals(at: number): { readonly digits: string; readonly end: number } | undefined {
    let digits = '';
    let end = at;
    while (digits.length < MOST_DECIMALS && this.isJoined(end)) {
      const isZero = this.listening.zeros.has(this.key(end));
      const number = isZero ? undefined : this.below(end);
      if (!isZero && number === undefined) break;
      if (number !== undefined && number.value > 9 && /[1-9]/.test(digits)) break;
      digits += isZero ? '0' : String(number?.value);
      end = number?.end ?? end + 1;
      if ((number?.value ?? 0) > 9) break;
    }
    return digits === '' ? undefined : { digits, end };
  }

  #scaleBehind(at: number): Token | undefined {
    if (!this.isJoined(at)) return undefined;
    return this.#words.numbers.isScale(this.key(at)) ? this.tokens[at] : undefined;
  }
}
