// E-mail and web addresses that are read out: john dot smith at example dot com.
import type { Language } from '../normalize/language.js';
import { figuresAt, type Letters, type Piece } from './letters.js';
import type { Listening } from './listening.js';
import type { SpokenReading, Written } from './spoken-reading.js';
import { WordTrie } from './word-trie.js';

const MOST_PIECES = 24;
const MOST_LABEL_WORDS = 3;
/** Ends of names that are no words of prose. */
const ENDS = new Set(
  'com org net edu gov io ai info biz app dev uk eu fr ch tv cloud shop online'.split(' '),
);
/** Ends that are words in some language; they count behind a dot that is none. */
const WORD_ENDS = new Set('de es it at us me co ca au be nl pt se'.split(' '));
const SCHEME = /^https?$/;
const WITHIN_HOST = new Set(['-', '.']);
const WITHIN_PATH = new Set(['/', '-', '_', '.', '?', '=', '&', '#', '~', '%', '+']);
const WITHIN_LOCAL = new Set(['.', '-', '_', '+']);

export class Addresses {
  readonly #signs = new WordTrie<string>();
  readonly #letters: Letters;

  constructor({ symbols }: Language, { addresses }: Listening, letters: Letters) {
    this.#letters = letters;
    for (const [words, sign] of Object.entries(addresses.signs)) this.#signs.add(words, sign);
    for (const [sign, words] of Object.entries(symbols.inAddress)) this.#signs.add(words, sign);
    for (const words of addresses.at) this.#signs.add(words, '@');
  }

  address(reading: SpokenReading, at: number): Written | undefined {
    return this.#mail(reading, at) ?? this.#web(reading, at);
  }

  #mail(reading: SpokenReading, at: number): Written | undefined {
    const local = this.#local(reading, at);
    const sign = local && this.#sign(reading, local.end);
    if (local === undefined || sign?.text !== '@') return undefined;
    const { addresses } = reading.listening;
    const isWord = local.end === at + 1 && /^\p{L}{2,}$/u.test(local.text);
    if (isWord && addresses.isAtInProse && addresses.notLocal.has(reading.key(at))) return undefined;
    const domain = this.#domain(reading, sign.end);
    return domain && { end: domain.end, text: `${local.text}@${domain.text}`, rule: 'email' };
  }

  /** One word, or words that signs join; behind "my email is" words without signs, too. */
  #local(reading: SpokenReading, at: number): Piece | undefined {
    const chain = this.#chain(reading, at, WITHIN_LOCAL);
    if (chain === undefined || this.#sign(reading, chain.end)?.text === '@') return chain;
    const { before, outside } = reading.listening.addresses;
    const isStated = before.has(reading.key(at - 1)) && !outside.has(reading.key(at));
    return isStated ? this.#words(reading, at) : undefined;
  }

  /** Labels and dots; the words before the first dot are one label: my company dot com. */
  #domain(reading: SpokenReading, at: number): Piece | undefined {
    const first = reading.isJoined(at) ? this.#words(reading, at) : undefined;
    const rest = first && this.#rest(reading, first, WITHIN_HOST);
    return rest?.text.includes('.') === true ? rest : undefined;
  }

  /** Up to three words before a sign, as one. */
  #words(reading: SpokenReading, at: number): Piece | undefined {
    let [text, end] = ['', at];
    for (let count = 0; count < MOST_LABEL_WORDS; count++) {
      if (text !== '' && (!reading.isJoined(end) || this.#sign(reading, end) !== undefined)) break;
      const piece = this.#piece(reading, end);
      if (piece === undefined) break;
      text += piece.text;
      end = piece.end;
    }
    return text === '' ? undefined : { text, end };
  }

  #web(reading: SpokenReading, at: number): Written | undefined {
    const scheme = this.#scheme(reading, at);
    const first = this.#piece(reading, scheme?.end ?? at);
    if (first === undefined) return undefined;
    const isMarked = scheme !== undefined || first.text === 'www';
    if (!isMarked && this.#isOutside(reading, at, first)) return undefined;
    const host = this.#rest(reading, first, WITHIN_HOST);
    if (host === undefined || !host.text.includes('.') || !(isMarked || isKnownEnd(reading, host)))
      return undefined;
    const path =
      this.#sign(reading, host.end)?.text === '/' ? this.#rest(reading, host, WITHIN_PATH) : undefined;
    const found = path ?? host;
    return { end: found.end, text: (scheme?.text ?? '') + found.text, rule: 'url' };
  }

  #isOutside(reading: SpokenReading, at: number, first: Piece): boolean {
    const { outside } = reading.listening.addresses;
    const isWord = first.end === at + 1;
    return (isWord && (outside.has(reading.key(at)) || first.text.length < 2)) || /^\d/.test(first.text);
  }

  #scheme(reading: SpokenReading, at: number): Piece | undefined {
    const name = this.#piece(reading, at);
    if (name === undefined || !SCHEME.test(name.text)) return undefined;
    let end = name.end;
    for (const sign of [':', '/', '/']) {
      const found = this.#sign(reading, end);
      if (found?.text !== sign) return undefined;
      end = found.end;
    }
    return { text: `${name.text}://`, end };
  }

  /** Pieces that signs join. */
  #chain(reading: SpokenReading, at: number, signs: ReadonlySet<string>): Piece | undefined {
    const first = this.#piece(reading, at);
    return first && (this.#rest(reading, first, signs) ?? first);
  }

  /** Goes on from a piece; undefined where no sign with a piece behind it follows. */
  #rest(reading: SpokenReading, first: Piece, signs: ReadonlySet<string>): Piece | undefined {
    let { text, end } = first;
    for (let count = 0; count < MOST_PIECES; count++) {
      const sign = this.#sign(reading, end);
      if (sign === undefined || !signs.has(sign.text)) break;
      const piece = reading.isJoined(sign.end) ? this.#piece(reading, sign.end) : undefined;
      if (piece === undefined) break;
      text += sign.text + piece.text;
      end = piece.end;
    }
    return end === first.end ? undefined : { text, end };
  }

  #sign(reading: SpokenReading, at: number): Piece | undefined {
    const found = reading.isJoined(at) ? this.#signs.at(reading.tokens, at) : undefined;
    return found && { text: found.value, end: found.end };
  }

  /** A word with the digits behind it, or letters and digits that are named one by one. */
  #piece(reading: SpokenReading, at: number): Piece | undefined {
    let [text, end] = ['', at];
    for (let count = 0; count < MOST_PIECES; count++) {
      if (text !== '' && (!reading.isJoined(end) || this.#sign(reading, end) !== undefined)) break;
      const found = this.#letters.letter(reading, end) ?? figuresAt(reading, end);
      if (found === undefined) break;
      text += found.text;
      end = found.end;
    }
    if (text !== '') return { text, end };
    const word = reading.key(at);
    if (!/^[\p{L}\d]+$/u.test(word)) return undefined;
    const digits = reading.isJoined(at + 1) ? figuresAt(reading, at + 1) : undefined;
    return { text: word + (digits?.text ?? ''), end: digits?.end ?? at + 1 };
  }
}

/** The last label is an end of names; one that is a word of the language counts only where it was spelled. */
function isKnownEnd(reading: SpokenReading, { text, end }: Piece): boolean {
  const last = text.slice(text.lastIndexOf('.') + 1);
  if (ENDS.has(last)) return true;
  const isSpelled = reading.key(end - 1).length === 1;
  return WORD_ENDS.has(last) && (isSpelled || !reading.listening.addresses.isDotInProse);
}
