// A table of written forms ("km/h", "z. B.", "Sept.") that is asked at a place of a text.
import { isWordAt } from './characters.js';

export interface Literal<T> {
  readonly written: string;
  readonly value: T;
}

export class LiteralTable<T> {
  /** By the codes of their first two units; a form of one is by itself. */
  readonly #byFirst = new Map<number, Literal<T>[]>();

  /** A form with a space after a full stop is also found without it. */
  constructor(forms: Iterable<readonly [string, T]>) {
    for (const [written, value] of forms) {
      this.#add(written, value);
      if (written.includes('. ')) this.#add(written.replaceAll('. ', '.'), value);
    }
    for (const list of this.#byFirst.values()) list.sort((a, b) => b.written.length - a.written.length);
  }

  #add(written: string, value: T): void {
    const first = keyAt(written, 0, written.length);
    const list = this.#byFirst.get(first) ?? [];
    if (!list.some((literal) => literal.written === written)) list.push({ written, value });
    this.#byFirst.set(first, list);
  }

  /** The longest form that stands here as a whole word. */
  at(text: string, at: number): Literal<T> | undefined {
    return this.#longest(text, at, 2) ?? this.#longest(text, at, 1);
  }

  #longest(text: string, at: number, units: number): Literal<T> | undefined {
    const list = this.#byFirst.get(keyAt(text, at, units));
    if (list === undefined) return undefined;
    for (const literal of list) {
      if (text.startsWith(literal.written, at) && endsWord(text, at + literal.written.length)) return literal;
    }
    return undefined;
  }
}

/** How some words begin, in capitals or not: tells at most places of a text that none of them stands there. */
export class Beginnings {
  readonly #known = new Set<number>();

  constructor(words: Iterable<string>) {
    for (const word of words) {
      const [first, second] = [bothCases(word.slice(0, 1)), bothCases(word.slice(1, 2))];
      for (const one of first) for (const two of second) this.#known.add(keyAt(one + two, 0, word.length));
    }
  }

  /** Whether one of the words may stand here. */
  at(text: string, at: number): boolean {
    return this.#known.has(keyAt(text, at, 2)) || this.#known.has(keyAt(text, at, 1));
  }
}

function bothCases(character: string): readonly string[] {
  return [...new Set([character, character.toLowerCase(), character.toUpperCase()])];
}

/** Asked at nearly every token of a text: a number is found faster than two letters, which would have to be cut out. */
function keyAt(text: string, at: number, units: number): number {
  const first = text.charCodeAt(at);
  return units > 1 && at + 1 < text.length ? first * 0x10000 + text.charCodeAt(at + 1) : first;
}

function endsWord(text: string, end: number): boolean {
  return !(isWordAt(text, end - 1) && isWordAt(text, end));
}
