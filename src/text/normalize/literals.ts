// A table of written forms ("km/h", "z. B.", "Sept.") that is asked at a place of a text.
import { isWordAt } from './characters.js';

interface Literal<T> {
  readonly written: string;
  readonly value: T;
}

const kept = new WeakMap<object, LiteralTable<object>>();

export class LiteralTable<T> {
  /** Keyed by the codes of their first two units; a form of one is by itself. */
  readonly #byFirst = new Map<number, Literal<T>[]>();
  readonly #beginnings: Beginnings;
  readonly #firsts: ReadonlySet<string>;

  /** A form with a space after a full stop is also found without it. */
  constructor(forms: Iterable<readonly [string, T]>) {
    for (const [written, value] of forms) {
      this.#add(written, value);
      if (written.includes('. ')) this.#add(written.replaceAll('. ', '.'), value);
    }
    const lists = [...this.#byFirst.values()];
    for (const list of lists) list.sort((a, b) => b.written.length - a.written.length);
    const all = lists.flat().map(({ written }) => written);
    this.#beginnings = new Beginnings(all);
    this.#firsts = new Set(all.map((written) => written.slice(0, 1)));
  }

  /** The table of a record, built once. */
  static of<T extends object>(forms: Readonly<Record<string, T>>): LiteralTable<T> {
    const known = kept.get(forms) as LiteralTable<T> | undefined;
    const table = known ?? new LiteralTable(Object.entries(forms));
    if (known === undefined) kept.set(forms, table);
    return table;
  }

  /** True if one of the forms begins with the character. */
  beginsWith(character: string): boolean {
    return this.#firsts.has(character);
  }

  #add(written: string, value: T): void {
    const first = keyAt(written, 0, written.length);
    const list = this.#byFirst.get(first) ?? [];
    if (!list.some((literal) => literal.written === written)) list.push({ written, value });
    this.#byFirst.set(first, list);
  }

  /** The longest form that stands here as a whole word. */
  at(text: string, at: number): Literal<T> | undefined {
    if (!this.#beginnings.at(text, at)) return undefined;
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

function keyAt(text: string, at: number, units: number): number {
  const first = text.charCodeAt(at);
  return units > 1 && at + 1 < text.length ? first * 0x10000 + text.charCodeAt(at + 1) : first;
}

function endsWord(text: string, end: number): boolean {
  return !(isWordAt(text, end - 1) && isWordAt(text, end));
}

const SLOTS = 4096; // a power of two

/**
 * Filter over the first two characters of a set of words. It rejects most places of a text without a look-up.
 */
export class Beginnings {
  readonly #slots = new Uint8Array(SLOTS);

  constructor(words: Iterable<string>) {
    for (const word of words)
      this.#slots[slotOf(word.charCodeAt(0), word.length > 1 ? word.charCodeAt(1) : 0)] = 1;
  }

  /** For words that may also be written in capitals. */
  static ofAnyCase(words: Iterable<string>): Beginnings {
    return new Beginnings(
      Array.from(words).flatMap((word) => {
        const [first, second] = [bothCases(word.slice(0, 1)), bothCases(word.slice(1, 2))];
        return first.flatMap((one) => second.map((two) => one + two));
      }),
    );
  }

  /** False if certainly none of the words is at this offset. */
  at(text: string, at: number): boolean {
    if (at >= text.length) return false;
    const first = text.charCodeAt(at);
    if (this.#slots[slotOf(first, 0)] === 1) return true;
    return at + 1 < text.length && this.#slots[slotOf(first, text.charCodeAt(at + 1))] === 1;
  }
}

/** Words that begin with other letters seldom have the same. */
function slotOf(first: number, second: number): number {
  return (first * 31 + second) & (SLOTS - 1);
}

function bothCases(character: string): readonly string[] {
  return [...new Set([character, character.toLowerCase(), character.toUpperCase()])];
}
