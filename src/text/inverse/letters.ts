// Letters and digits that are named one by one, within addresses and spelled names.
import type { SpokenReading } from './spoken-reading.js';
import { WordTrie } from './word-trie.js';
import type { Listening } from './listening.js';

export interface Piece {
  readonly text: string;
  readonly end: number;
}

const LONGEST_LETTER = 3; // units, with accents of their own
const LETTER = /^\p{L}$/u;

export class Letters {
  readonly #names: WordTrie<string>;
  readonly #repeats: Listening['repeats'];

  constructor({ spelling, repeats }: Listening) {
    this.#names = new WordTrie<string>().addAll(spelling.letters);
    this.#repeats = repeats;
  }

  /** One letter, or one that is doubled; in small letters, as it was recognised. */
  letter(reading: SpokenReading, at: number): Piece | undefined {
    const named = this.#names.at(reading.tokens, at);
    if (named !== undefined) return { text: named.value, end: named.end };
    const key = reading.key(at);
    const times = Object.hasOwn(this.#repeats, key) ? this.#repeats[key] : undefined;
    if (times !== undefined) {
      const one = reading.isJoined(at + 1) ? this.#single(reading, at + 1) : undefined;
      return one && { text: one.text.repeat(times), end: one.end };
    }
    return this.#single(reading, at);
  }

  #single({ tokens }: SpokenReading, at: number): Piece | undefined {
    const text = tokens[at]?.text ?? '';
    if (text.length > LONGEST_LETTER) return undefined;
    const letter = text.normalize('NFC').toLowerCase();
    return LETTER.test(letter) ? { text: letter, end: at + 1 } : undefined;
  }
}

/** Digits of a name or address: ninety-nine, two oh; an article is none. */
export function figuresAt(reading: SpokenReading, at: number): Piece | undefined {
  const key = reading.key(at);
  if (reading.listening.zeros.has(key) && key.length > 1) return { text: '0', end: at + 1 };
  if (/^\d+$/.test(key)) return { text: key, end: at + 1 };
  const found = reading.number(at);
  if (found === undefined || found.isArticle || found.isLoose) return undefined;
  return { text: String(found.value), end: found.end };
}
