// Patterns in written forms: literals, `{n}` (a number), `\d` (one digit) and `\d{5}` (five digits). They
// are no regular expressions. A tree of all patterns of a table is walked from a place of the text. A digit
// may be a literal of one pattern and `\d` of another, so both branches are walked. The walk ends after 400
// steps from one place, so the time is linear. A pattern that would need more steps there does not match.
import { isDigitAt, isWordAt } from '../normalize/characters.js';
import { type NumberFormat, type Numeral, readNumeral } from '../normalize/numerals.js';
import type { TableClass } from './schema.js';

/** Classes, besides units and patterns, whose written forms may be patterns. */
export const PATTERN_CLASSES = [
  'short-forms',
  'before-number',
  'per',
  'letters',
  'zones',
  'address-words',
] as const satisfies readonly TableClass[];

type Step =
  | { readonly kind: 'character'; readonly character: string }
  | { readonly kind: 'space' }
  | { readonly kind: 'digit' }
  | { readonly kind: 'number' };

export interface Pattern {
  readonly steps: readonly Step[];
  /** Written with the prefix `id:`. */
  readonly isIdentifier: boolean;
}

const IDENTIFIER = 'id:';
const LONGEST = 100; // steps
const MOST_NUMBERS = 4;
const ALLOWED = 'a pattern holds literals, {n} for a number, \\d for a digit and \\d{5} for five digits';
const SPACES = /[ \u00A0\u2009\u202F]/;
const MOST_SPACES = 3; // in place of one
const MOST_WALKED = 400; // steps from one place of the text

/** True for a written form that is to be read as a pattern. */
export function isPattern(written: string): boolean {
  return written.startsWith(IDENTIFIER) || /\{|\\/.test(written);
}

/** The pattern, or a sentence about the mistake in it. */
export function parsePattern(written: string): Pattern | string {
  const isIdentifier = written.startsWith(IDENTIFIER);
  const steps: Step[] = [];
  for (let at = isIdentifier ? IDENTIFIER.length : 0; at < written.length;) {
    const [taken, count, step] = stepAt(written, at);
    if (step === undefined) return `has "${taken}", but ${ALLOWED}`;
    if (count < 1 || steps.length + count > LONGEST) return `is longer than ${LONGEST} characters`;
    for (let one = 0; one < count; one++) steps.push(step);
    at += taken.length;
  }
  return problemOf(steps) ?? { steps, isIdentifier };
}

/** A sentence about the mistake in the spoken form of a pattern, if there is one. */
export function spokenProblem({ steps }: Pattern, said: string, hasManner: boolean): string | undefined {
  const numbers = steps.filter(({ kind }) => kind === 'number').length;
  const left = said.replaceAll('{n}', '').replaceAll('{d}', '');
  if (/[{}]/.test(left))
    return 'may hold {n} for a number and {d} for what the manner says, and no other braces';
  if (said.split('{n}').length - 1 > numbers) return `has more {n} than the pattern, which has ${numbers}`;
  if (hasManner) return said.includes('{d}') ? undefined : 'needs {d}, the place of what the manner says';
  return said.includes('{d}') ? 'has {d}, which needs a manner' : undefined;
}

/** The next part of a pattern, how often it counts, and its step; undefined where it is not allowed. */
function stepAt(written: string, at: number): [taken: string, count: number, step: Step | undefined] {
  const rest = written.slice(at, at + 6);
  if (rest.startsWith('{n}')) return ['{n}', 1, { kind: 'number' }];
  const [digits, count] = /^\\d(?:\{(\d{1,2})\})?/.exec(rest) ?? [];
  if (digits !== undefined) return [digits, count === undefined ? 1 : Number(count), { kind: 'digit' }];
  const escaped = /^\\[\\{}]/.exec(rest)?.[0];
  if (escaped !== undefined) return [escaped, 1, { kind: 'character', character: escaped.slice(1) }];
  const character = rest.slice(0, 1);
  if (/[\\{}]/.test(character)) return [rest, 1, undefined];
  const step: Step = SPACES.test(character)
    ? { kind: 'space' }
    : { kind: 'character', character: one(character) };
  return [character, 1, step];
}

function problemOf(steps: readonly Step[]): string | undefined {
  const figures = (step: Step | undefined) => step?.kind === 'digit' || step?.kind === 'number';
  if (!steps.some(({ kind }) => kind === 'character' || kind === 'digit')) {
    return 'needs a literal or \\d beside the number';
  }
  if (steps.filter(({ kind }) => kind === 'number').length > MOST_NUMBERS) {
    return `has more than ${MOST_NUMBERS} numbers`;
  }
  const isJoined = steps.some(
    (step, index) => step.kind === 'number' && (figures(steps[index - 1]) || figures(steps[index + 1])),
  );
  return isJoined ? 'has {n} beside another number or digit; a literal must stand between them' : undefined;
}

/** Curly and straight apostrophes are the same. */
function one(character: string): string {
  return character === '’' ? "'" : character;
}

export interface PatternMatch<T> {
  readonly end: number;
  readonly value: T;
  /** The numbers of `{n}`, in order. */
  readonly numbers: readonly Numeral[];
}

interface Node<T> {
  readonly characters: Map<string, Node<T>>;
  space?: Node<T>;
  digit?: Node<T>;
  number?: Node<T>;
  value?: T;
}

/** All patterns of a table. Of several that match at one place, the longest counts, then the more literal. */
export class PatternTable<T> {
  readonly #root: Node<T> = { characters: new Map() };
  readonly #format: NumberFormat;

  constructor(format: NumberFormat) {
    this.#format = format;
  }

  add({ steps }: Pattern, value: T): void {
    let node = this.#root;
    for (const step of steps) node = nextOf(node, step);
    node.value = value;
  }

  at(text: string, at: number): PatternMatch<T> | undefined {
    const walk = new Walk<T>(text, this.#format);
    walk.from(this.#root, at, []);
    return walk.best;
  }
}

function nextOf<T>(node: Node<T>, step: Step): Node<T> {
  const made: Node<T> = { characters: new Map() };
  switch (step.kind) {
    case 'character': {
      const known = node.characters.get(step.character);
      if (known === undefined) node.characters.set(step.character, made);
      return known ?? made;
    }
    case 'space':
      return (node.space ??= made);
    case 'digit':
      return (node.digit ??= made);
    case 'number':
      return (node.number ??= made);
  }
}

class Walk<T> {
  readonly #text: string;
  readonly #format: NumberFormat;
  best: PatternMatch<T> | undefined;
  #walked = 0;

  constructor(text: string, format: NumberFormat) {
    this.#text = text;
    this.#format = format;
  }

  from(node: Node<T>, at: number, numbers: readonly Numeral[]): void {
    if (this.#walked++ >= MOST_WALKED) return;
    const text = this.#text;
    const { value } = node;
    if (
      value !== undefined &&
      at > (this.best?.end ?? 0) &&
      !(isWordAt(text, at - 1) && isWordAt(text, at))
    ) {
      this.best = { end: at, value, numbers };
    }
    if (at >= text.length) return;
    const character = one(text.charAt(at));
    const literal = node.characters.get(character);
    if (literal !== undefined) this.from(literal, at + 1, numbers);
    if (node.space !== undefined && SPACES.test(character))
      this.from(node.space, this.#behindSpaces(at), numbers);
    if (!isDigitAt(text, at)) return;
    if (node.digit !== undefined) this.from(node.digit, at + 1, numbers);
    const read = node.number === undefined ? undefined : readNumeral(text, at, this.#format);
    if (node.number !== undefined && read !== undefined) {
      this.from(node.number, read.end, [...numbers, read.numeral]);
    }
  }

  #behindSpaces(at: number): number {
    let end = at + 1;
    while (end - at < MOST_SPACES && SPACES.test(this.#text.charAt(end))) end++;
    return end;
  }
}
