// Cuts what was recognised into words. Every word keeps its place in the text, and has a key that ignores
// capitals and accents.

/** Text between a word and the one before it. */
export type Gap =
  /** One space, a hyphen, or the apostrophe of an elision. */
  | 'plain'
  | 'comma'
  | 'stop'
  /** Anything else, a line break too; also at the beginning of the text. */
  | 'other';

export interface Token {
  /** As it was recognised. */
  readonly text: string;
  /** In small letters, without accents. */
  readonly key: string;
  readonly start: number;
  readonly end: number;
  readonly gap: Gap;
}

/** A place within the keys of the tokens. */
export interface Place {
  readonly token: number;
  readonly offset: number;
}

/** The halves of a day are one word however they are written: p.m., a. m. */
const WORD = /(?<![\p{L}\p{N}])[ap]\. ?m(?![\p{L}\p{N}])\.?|[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}\p{N}]+)*/giu;
const ELIDED = /^(?:[cdjlmnst]|qu)['’](?=\p{L})/iu;
const PLAIN = /^(?: {1,3}| ?[-‐‑] ?|['’])$/;
const COMMA = /^ ?, ?$/;
const STOP = /^\. ?$/;

export function tokensOf(text: string, elides: boolean): readonly Token[] {
  const tokens: Token[] = [];
  for (const { 0: word, index } of text.matchAll(WORD)) {
    const elided = elides ? (ELIDED.exec(word)?.[0].length ?? 0) : 0;
    if (elided > 0) push(tokens, text, index, index + elided - 1);
    push(tokens, text, index + elided, index + word.length);
  }
  return tokens;
}

function push(tokens: Token[], text: string, start: number, end: number): void {
  const written = text.slice(start, end);
  const before = tokens.at(-1);
  const gap = before === undefined ? 'other' : gapOf(text.slice(before.end, start));
  tokens.push({ text: written, key: keyOf(written), start, end, gap });
}

function gapOf(between: string): Gap {
  if (PLAIN.test(between)) return 'plain';
  if (COMMA.test(between)) return 'comma';
  return STOP.test(between) ? 'stop' : 'other';
}

/** "Dreißig" is dreissig, "p.m." is pm, "veintidós" is veintidos. */
export function keyOf(word: string): string {
  return word
    .toLowerCase()
    .normalize('NFD')
    .replace(/\p{M}+/gu, '')
    .replaceAll('ß', 'ss')
    .replaceAll('’', "'")
    .replace(/^([ap])\. ?m\.?$/, '$1m');
}
