// Finds the longest known words at a place. The spaces and hyphens between words are not kept: "percent" is
// "per cent", and "zwei und zwanzig" is one word, too.
import { keyOf, type Place, type Token } from './spoken-tokens.js';

interface Node<T> {
  readonly next: Map<number, Node<T>>;
  value?: T;
}

interface Match<T> {
  readonly value: T;
  readonly end: Place;
}

/** True if the words may end within a word: the next part of a compound begins there. */
type EndsWithin = (key: string, offset: number) => boolean;

export class WordTrie<T> {
  readonly #root: Node<T> = { next: new Map() };

  /** The first value of the same words stays. */
  add(words: string, value: T): this {
    let node = this.#root;
    const key = joinedKey(words);
    for (let at = 0; at < key.length; at++) {
      const unit = key.charCodeAt(at);
      let next = node.next.get(unit);
      if (next === undefined) node.next.set(unit, (next = { next: new Map() }));
      node = next;
    }
    if (node !== this.#root) node.value ??= value;
    return this;
  }

  addAll(list: Readonly<Record<string, T>>): this {
    for (const [words, value] of Object.entries(list)) this.add(words, value);
    return this;
  }

  /** The time is bounded by the longest words that are known. */
  longest(tokens: readonly Token[], from: Place, endsWithin?: EndsWithin): Match<T> | undefined {
    let best: Match<T> | undefined;
    let node: Node<T> | undefined = this.#root;
    let { token, offset } = from;
    for (;;) {
      const key = tokens[token]?.key ?? '';
      while (offset < key.length) {
        node = node.next.get(key.charCodeAt(offset++));
        if (node === undefined) return best;
        if (node.value === undefined || offset === key.length) continue;
        if (endsWithin?.(key, offset) === true) best = { value: node.value, end: { token, offset } };
      }
      token++;
      offset = 0;
      if (node.value !== undefined) best = { value: node.value, end: { token, offset } };
      if (tokens[token]?.gap !== 'plain') return best;
    }
  }

  /** The longest words from the beginning of a token to the end of one: its value and the token behind. */
  at(tokens: readonly Token[], token: number): { readonly value: T; readonly end: number } | undefined {
    const found = this.longest(tokens, { token, offset: 0 });
    return found && { value: found.value, end: found.end.token };
  }
}

/** The key of words without what stands between them. */
export function joinedKey(words: string): string {
  return keyOf(words.replace(/[\s-]+/g, ''));
}
