// Holds a pronunciation lexicon: words and their spoken forms, from the server's configuration or a request.
//
// A text is folded to narrow characters, and cut into words and signs. From the beginning of each, the
// longest entry is looked up word by word in a tree, so the time does not depend on how many entries there
// are, and an entry never begins or ends within a word.
import { hash } from 'node:crypto';
import { type ErrorCode, ParleyError } from '../errors.js';
import { fold } from './normalize/characters.js';
import type { Claim } from './normalize/normalize.js';

export interface LexiconEntry {
  /** As it is written; may be several words. */
  readonly word: string;
  /** The spoken form. It is not normalised any further. */
  readonly say: string;
  /** `exact` where absent. */
  readonly case?: 'exact' | 'ignore' | undefined;
  /** BCP 47 tag of the only language that it counts in; its region is left out of account. */
  readonly language?: string | undefined;
}

// "n't" is part of its word, and the mark between two parts of a name such as acme_v2; other apostrophes
// stand between words: Anna's, l'URSS.
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

  /**
   * The words of a text that have an entry, in order; of several entries the longest, and of two as long the
   * exact one.
   */
  claims(text: string, language: string): Claim[] {
    if (this.size === 0) return [];
    const tokens = tokensOf(fold(text));
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
    for (const { text } of tokensOf(fold(word.trim()))) {
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
function entryKey({ word, case: rule = 'exact', language = '' }: LexiconEntry): string {
  const key = rule === 'exact' ? keyOf : looseKeyOf;
  const words = tokensOf(fold(word.trim())).map(({ text }) => key(text));
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

/** Equal for the same letters, however they are composed; white space of any kind. */
function keyOf(token: string): string {
  if (/^\s/.test(token)) return ' ';
  return token === '’' ? "'" : token.normalize('NFC').replace('’', "'");
}

function looseKeyOf(token: string): string {
  return keyOf(token).toLowerCase();
}

function primaryOf(tag: string): string {
  const [primary = ''] = tag.toLowerCase().split(/[-_]/, 1);
  return primary.length === 3 ? new Intl.Locale(primary).language : primary; // ISO 639-3: `deu` is `de`
}

const LONGEST_WORD = 100; // characters
const LONGEST_SAYING = 300;

const FIELDS = ['word', 'say', 'case', 'language'];
const LANGUAGE = /^[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8}){0,4}$/;

/** Source of the entries, and their maximum number. */
export interface LexiconSource {
  /** Name of the list in error messages: a field of the request, or a file. */
  readonly name: string;
  readonly mostEntries: number;
  readonly code: Extract<ErrorCode, 'INVALID_FIELD' | 'CONFIG_INVALID'>;
}

/**
 * Checks the entries of a file or a request one by one. Throws with the code of the source, naming entry and
 * field.
 */
export function readLexicon(value: unknown, source: LexiconSource): Lexicon {
  const { name, mostEntries } = source;
  if (!Array.isArray(value)) {
    throw refusal(source, name, 'must be a list of entries such as {"word": "SQL", "say": "sequel"}');
  }
  if (value.length > mostEntries) {
    throw refusal(source, name, `has ${value.length} entries, ${mostEntries} is the most`);
  }
  const known = new Map<string, number>();
  const entries = value.map((item: unknown, index) => {
    const entry = readEntry(item, `${name}[${index}]`, source);
    const key = entryKey(entry);
    const before = known.get(key);
    if (before !== undefined) {
      throw refusal(
        source,
        `${name}[${index}].word`,
        `is that of ${name}[${before}], too, with the same case and language`,
      );
    }
    known.set(key, index);
    return entry;
  });
  return new Lexicon(entries);
}

function readEntry(item: unknown, place: string, source: LexiconSource): LexiconEntry {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) {
    throw refusal(source, place, 'must be an object with "word" and "say"');
  }
  const fields = item as Readonly<Record<string, unknown>>;
  const stray = Object.keys(fields).find((field) => !FIELDS.includes(field));
  if (stray === 'phonemes' || stray === 'ipa') {
    throw refusal(
      source,
      `${place}.${stray}`,
      'is nothing that an engine here can speak; write in "say" how the word sounds',
    );
  }
  if (stray !== undefined) {
    throw refusal(
      source,
      `${place}.${stray.slice(0, 40)}`,
      `is no field of an entry, which has ${FIELDS.join(', ')}`,
    );
  }
  const { case: rule, language } = fields;
  if (rule !== undefined && rule !== 'exact' && rule !== 'ignore') {
    throw refusal(source, `${place}.case`, 'must be "exact" or "ignore"');
  }
  if (language !== undefined && (typeof language !== 'string' || !LANGUAGE.test(language))) {
    throw refusal(source, `${place}.language`, 'must be a language tag such as "en" or "fr-CA"');
  }
  const word = textOf(fields['word'], `${place}.word`, LONGEST_WORD, source);
  const say = textOf(fields['say'], `${place}.say`, LONGEST_SAYING, source);
  return {
    word,
    say,
    case: rule,
    language,
  };
}

function textOf(value: unknown, place: string, most: number, source: LexiconSource): string {
  const isText = typeof value === 'string' && value.length <= most && !/[\p{Cc}\p{Cs}]/u.test(value);
  if (isText && /[\p{L}\p{N}\p{S}]/u.test(value)) return value;
  throw refusal(
    source,
    place,
    `must be 1 to ${most} characters on one line, with a letter, a digit or a sign`,
  );
}

function refusal({ code }: LexiconSource, place: string, what: string): ParleyError {
  return new ParleyError(code, `"${place}" ${what}`, { field: place });
}
