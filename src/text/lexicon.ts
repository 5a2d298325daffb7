// Pronunciation lexicon: words and their spoken forms, from the server's configuration or a request.
//
// A text is cut into words and signs. From the beginning of each, the longest
// entry is looked up word by word in a tree, so the time does not depend on how
// many entries there are, and an entry never begins or ends within a word.
import { hash } from 'node:crypto';
import type { Claim } from './normalize/normalize.js';

export interface LexiconEntry {
  /** As it is written; may be several words. */
  readonly word: string;
  /** The spoken form. It is not normalised any further. */
  readonly say: string;
  /** `exact` where absent. */
  readonly case?: 'exact' | 'ignore';
  /** BCP 47 tag of the only language that it counts in; its region is left out of account. */
  readonly language?: string;
}

// "n't" is part of its word, and the mark between two parts of a name such as acme_v2; other apostrophes stand between
// words: Anna's, l'URSS.
const TOKEN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー])(?:[\p{L}\p{M}\p{N}]|(?<=[\p{L}\p{M}\p{N}])_+(?=[\p{L}\p{N}])))+(?:['’][tT](?![\p{L}\p{M}\p{N}]))?|\s+|[^\s]/gu;

interface Node {
  /** Spoken forms of the entry that ends at this node, by primary language tag; '' matches any language. */
  says?: Map<string, string>;
  next?: Map<string, Node>;
}

interface Token {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

export class Lexicon {
  readonly #exact: Node = {};
  readonly #ignoring: Node = {};
  readonly size: number;
  /** Another one where any entry is another. */
  readonly id: string;

  /** Entries that were checked: none is empty, no two are for the same. */
  constructor(entries: readonly LexiconEntry[]) {
    for (const entry of entries) this.#add(entry);
    this.size = entries.length;
    this.id = hash('sha256', JSON.stringify(entries), 'hex');
  }

  /** The words of a text that have an entry, in order; of several entries the longest, and of two as long the exact one. */
  claims(text: string, language: string): Claim[] {
    if (this.size === 0) return [];
    const tokens = tokensOf(text);
    const found: Claim[] = [];
    for (let at = 0; at < tokens.length;) {
      const match = this.#longest(tokens, at, primaryOf(language));
      if (match === undefined) {
        at++;
        continue;
      }
      const [first, last] = [tokens[at], tokens[match.after - 1]];
      if (first !== undefined && last !== undefined) {
        found.push({ start: first.start, end: last.end, spoken: match.say, rule: 'lexicon' });
      }
      at = match.after;
    }
    return found;
  }

  #longest(
    tokens: readonly Token[],
    at: number,
    language: string,
  ): { say: string; after: number } | undefined {
    const exact = walk(this.#exact, tokens, at, language, keyOf);
    const ignoring = walk(this.#ignoring, tokens, at, language, looseKeyOf);
    if (exact === undefined || ignoring === undefined) return exact ?? ignoring;
    return ignoring.after > exact.after ? ignoring : exact;
  }

  #add({ word, say, case: rule = 'exact', language }: LexiconEntry): void {
    const key = rule === 'exact' ? keyOf : looseKeyOf;
    let node = rule === 'exact' ? this.#exact : this.#ignoring;
    for (const { text } of tokensOf(word.trim())) {
      node.next ??= new Map();
      const next = node.next.get(key(text)) ?? {};
      node.next.set(key(text), next);
      node = next;
    }
    node.says ??= new Map();
    node.says.set(language === undefined ? '' : primaryOf(language), say.trim());
  }
}

/** Identity of an entry. Two entries with the same key are duplicates. */
export function entryKey({ word, case: rule = 'exact', language = '' }: LexiconEntry): string {
  const key = rule === 'exact' ? keyOf : looseKeyOf;
  const words = tokensOf(word.trim()).map(({ text }) => key(text));
  return JSON.stringify([rule, primaryOf(language), words]);
}

function walk(
  root: Node,
  tokens: readonly Token[],
  at: number,
  language: string,
  key: (token: string) => string,
): { say: string; after: number } | undefined {
  let found: { say: string; after: number } | undefined;
  let node: Node | undefined = root;
  for (let index = at; node?.next !== undefined; index++) {
    const token: Token | undefined = tokens[index];
    node = token === undefined ? undefined : node.next.get(key(token.text));
    const say = node?.says?.get(language) ?? node?.says?.get('');
    if (say !== undefined) found = { say, after: index + 1 };
  }
  return found;
}

function tokensOf(text: string): Token[] {
  return Array.from(text.matchAll(TOKEN), ({ 0: token, index }) => ({
    text: token,
    start: index,
    end: index + token.length,
  }));
}

/** The same letters, however they are composed; white space of any kind. */
function keyOf(token: string): string {
  if (/^\s/.test(token)) return ' ';
  return token === '’' ? "'" : token.normalize('NFC').replace('’', "'");
}

function looseKeyOf(token: string): string {
  return keyOf(token).toLowerCase();
}

function primaryOf(tag: string): string {
  return tag.toLowerCase().split(/[-_]/, 1)[0] ?? '';
}
