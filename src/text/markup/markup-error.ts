// Errors in an SSML document, with line and column.
import { ParleyError } from '../../errors.js';

export interface Place {
  /** From 1. */
  readonly line: number;
  /** From 1, in characters. */
  readonly column: number;
}

const LINE_BREAK = /\r\n|\r|\n/g;

/** Finds the places of offsets that come in order: all of them together cost one reading of the source. */
export class PlaceFinder {
  readonly #source: string;
  #offset = 0;
  #line = 1;
  #column = 1;

  constructor(source: string) {
    this.#source = source;
  }

  /** Line and column of an offset in UTF-16 units. Offsets must not decrease from call to call. */
  next(offset: number): Place {
    const passed = this.#source.slice(this.#offset, offset);
    let lineStart = 0;
    for (const { index, 0: mark } of passed.matchAll(LINE_BREAK)) {
      this.#line++;
      this.#column = 1;
      lineStart = index + mark.length;
    }
    for (const _ of passed.slice(lineStart)) this.#column++;
    this.#offset = offset;
    return { line: this.#line, column: this.#column };
  }
}

export function markupError(source: string, offset: number, what: string): ParleyError {
  const { line, column } = new PlaceFinder(source).next(offset);
  const message = `"text" is no SSML that can be spoken: line ${line}, column ${column}: ${what}`;
  return new ParleyError('INVALID_FIELD', message, { field: 'text' });
}
