// A table of written forms ("km/h", "z. B.", "Sept.") that is asked at a place of a text.
import { isWordAt } from './characters.js';

export interface Literal<T> {
  readonly written: string;
  readonly value: T;
}

export class LiteralTable<T> {
  /** By their first two characters; a form of one is by itself. */
  readonly #byFirst = new Map<string, Literal<T>[]>();

  /** A form with a space after a full stop is also found without it. */
  constructor(forms: Iterable<readonly [string, T]>) {
    for (const [written, value] of forms) {
      this.#add(written, value);
      if (written.includes('. ')) this.#add(written.replaceAll('. ', '.'), value);
    }
    for (const list of this.#byFirst.values()) list.sort((a, b) => b.written.length - a.written.length);
  }

  #add(written: string, value: T): void {
    const first = written.slice(0, 2);
    const list = this.#byFirst.get(first) ?? [];
    if (!list.some((literal) => literal.written === written)) list.push({ written, value });
    this.#byFirst.set(first, list);
  }

  /** The longest form that stands here as a whole word. */
  at(text: string, at: number): Literal<T> | undefined {
    return this.#longest(text, at, 2) ?? this.#longest(text, at, 1);
  }

  #longest(text: string, at: number, units: number): Literal<T> | undefined {
    const list = this.#byFirst.get(text.slice(at, at + units));
    if (list === undefined) return undefined;
    for (const literal of list) {
      if (text.startsWith(literal.written, at) && endsWord(text, at + literal.written.length)) return literal;
    }
    return undefined;
  }
}

function endsWord(text: string, end: number): boolean {
  return !(isWordAt(text, end - 1) && isWordAt(text, end));
}
