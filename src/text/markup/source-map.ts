// Maps spans of a text to the spans of the source text that they were made of.

/** UTF-16 units; `end` is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

interface Part {
  /** In the text. */
  readonly at: number;
  readonly length: number;
  readonly source: number;
  readonly sourceLength: number;
}

export class SourceMap {
  readonly #parts: Part[] = [];
  #length = 0;

  /** Units that the parts have so far. */
  get length(): number {
    return this.#length;
  }

  /** The next part of the text. One that is as long as its source stands there unit by unit. */
  add(length: number, source: number, sourceLength: number): void {
    if (length === 0) return;
    this.#parts.push({ at: this.#length, length, source, sourceLength });
    this.#length += length;
  }

  /** Appends the other map's parts with their source offsets unchanged. */
  append(other: SourceMap): void {
    for (const { length, source, sourceLength } of other.#parts) this.add(length, source, sourceLength);
  }

  /** The part of the source that a part of the text was made of. */
  span(start: number, end: number): Span {
    const first = this.#partAt(start);
    const last = this.#partAt(Math.max(start, end - 1));
    const from = first === undefined ? this.#sourceEnd() : edge(first, start, 'start');
    return {
      start: from,
      end: last === undefined ? this.#sourceEnd() : edge(last, Math.max(start, end - 1), 'end'),
    };
  }

  #partAt(offset: number): Part | undefined {
    let low = 0;
    let high = this.#parts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const { at, length } = this.#parts[middle] ?? { at: 0, length: 0 };
      if (at + length <= offset) low = middle + 1;
      else high = middle;
    }
    return this.#parts[low];
  }

  #sourceEnd(): number {
    const last = this.#parts.at(-1);
    return last === undefined ? 0 : last.source + last.sourceLength;
  }
}

function edge({ at, length, source, sourceLength }: Part, offset: number, which: 'start' | 'end'): number {
  if (length === sourceLength) return source + (offset - at) + (which === 'end' ? 1 : 0);
  return which === 'start' ? source : source + sourceLength;
}
