// Names and codes that are spelled: S M I T H; S as in Sierra, M as in Mike; Sierra Mike India; A B one two.
import type { Language } from '../normalize/language.js';
import { figuresAt, type Letters, type Piece } from './letters.js';
import type { Listening } from './listening.js';
import type { SpokenReading, Written } from './spoken-reading.js';
import { WordTrie } from './word-trie.js';

interface Item extends Piece {
  readonly kind: 'letter' | 'digits';
  /** The letter was told by a word, or doubled. */
  readonly isExplained: boolean;
  /** A lone word of the alphabet. */
  readonly isWord: boolean;
}

const MOST_ITEMS = 40;
const FEWEST_WORDS = 3; // of the alphabet, or letters in capitals
const FEWEST_LETTERS = 4; // of any other run
const CUE_WORDS = 5; // before the letters

export class Spelling {
  readonly #letters: Letters;
  readonly #like = new WordTrie<true>();
  readonly #acronyms: readonly ReadonlySet<string>[];

  constructor({ writing }: Language, { spelling }: Listening, letters: Letters) {
    this.#letters = letters;
    for (const words of spelling.like) this.#like.add(words, true);
    this.#acronyms = [writing.spelled, writing.read];
  }

  spelled(reading: SpokenReading, at: number): Written | undefined {
    if (this.#isWithin(reading, at)) return undefined;
    const items = this.#items(reading, at);
    if (!this.#isSure(reading, at, items)) return undefined;
    const text = items.map((item) => item.text).join('');
    const end = items.at(-1)?.end ?? at;
    if (!this.#isName(reading, at, items, text)) return { end, text: text.toUpperCase(), rule: 'acronym' };
    return { end, text: text.slice(0, 1).toUpperCase() + text.slice(1), rule: 'identifier' };
  }

  /** A word that ends here is spelled no further. */
  #isWithin(reading: SpokenReading, at: number): boolean {
    const isFollowing = reading.isJoined(at) && reading.key(at - 1).length === 1;
    return (
      isFollowing && this.#letters.letter(reading, at - 1) !== undefined && this.#isBare(reading, at - 1)
    );
  }

  #isBare(reading: SpokenReading, at: number): boolean {
    return !reading.listening.spelling.words.has(reading.key(at));
  }

  #items(reading: SpokenReading, at: number): readonly Item[] {
    const items: Item[] = [];
    let end = at;
    while (items.length < MOST_ITEMS) {
      const isFirst = items.length === 0;
      if (!isFirst && reading.tokens[end]?.gap === 'other') break;
      const item = this.#item(reading, end, items);
      if (item === undefined) break;
      items.push(item);
      end = item.end;
    }
    return items;
  }

  #item(reading: SpokenReading, at: number, before: readonly Item[]): Item | undefined {
    const letter = this.#letters.letter(reading, at);
    if (letter !== undefined) return this.#explained(reading, at, letter);
    if (reading.listening.spelling.alphabet.has(reading.key(at))) {
      const text = reading.key(at).slice(0, 1);
      return { kind: 'letter', text, end: at + 1, isExplained: true, isWord: true };
    }
    const letters = before.filter(({ kind }) => kind === 'letter').length;
    const figures = letters < 2 || !reading.isJoined(at) ? undefined : figuresAt(reading, at);
    return figures && { ...figures, kind: 'digits', isExplained: false, isWord: false };
  }

  /** S as in Sierra */
  #explained(reading: SpokenReading, at: number, letter: Piece): Item {
    const { gap } = reading.tokens[letter.end] ?? {};
    const like = gap === 'plain' || gap === 'comma' ? this.#like.at(reading.tokens, letter.end) : undefined;
    const word = like === undefined || !reading.isJoined(like.end) ? '' : reading.key(like.end);
    const first = reading.key(letter.end - 1);
    const isTold = like !== undefined && word.length > 1 && word.startsWith(first);
    const isDoubled = letter.end > at + 1;
    const end = isTold ? like.end + 1 : letter.end;
    return { kind: 'letter', text: letter.text, end, isExplained: isTold || isDoubled, isWord: false };
  }

  #isSure(reading: SpokenReading, at: number, items: readonly Item[]): boolean {
    const letters = items.filter(({ kind }) => kind === 'letter');
    const isWordFirst = reading.listening.spelling.words.has(reading.key(at)) && !items[0]?.isExplained;
    const count = letters.length - (isWordFirst && !this.#isCapital(reading, at) ? 1 : 0);
    const lone = letters.filter(({ isWord }) => isWord).length;
    if (lone > 0) return lone >= FEWEST_WORDS || (lone >= 2 && items.length > letters.length);
    if (letters.some(({ isExplained }) => isExplained)) return letters.length >= 2;
    if (items.length > letters.length) return letters.length >= 2 && count >= 2;
    const isCapital = items.every((item) => this.#isCapital(reading, item.end - 1));
    return (
      count >= FEWEST_LETTERS ||
      (isCapital && count >= FEWEST_WORDS) ||
      (count > 1 && this.#hasCue(reading, at))
    );
  }

  #isCapital({ tokens }: SpokenReading, at: number): boolean {
    return /^\p{Lu}$/u.test(tokens[at]?.text ?? '');
  }

  #hasCue(reading: SpokenReading, at: number): boolean {
    return reading.hasBefore(at, reading.listening.spelling.cues, CUE_WORDS);
  }

  /** A name begins with a capital; a code, and letters that are no word, are capitals. */
  #isName(reading: SpokenReading, at: number, items: readonly Item[], text: string): boolean {
    if (items.some(({ kind }) => kind === 'digits')) return false;
    if (this.#hasCue(reading, at) || items.some(({ isExplained }) => isExplained)) return true;
    if (this.#acronyms.some((known) => known.has(text.toUpperCase()))) return false;
    return items.length >= FEWEST_LETTERS && /[aeiouyäöü]/u.test(text.normalize('NFD'));
  }
}
