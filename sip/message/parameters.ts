// Parameters of a header value or of a URI: names without regard to case, in
// the order they came in. Where a name comes twice the first one counts.
import { CHARACTERS, isEscapedWell, type Scanner, unescaped, unquoted } from './scanner.js';

type Pair = readonly [name: string, value: string | undefined];

const { GEN_VALUE, URI_PARAM } = CHARACTERS;

export class Parameters {
  static readonly none = new Parameters([]);
  readonly #pairs: readonly Pair[];

  constructor(pairs: readonly Pair[]) {
    this.#pairs = pairs;
  }

  has(name: string): boolean {
    return this.#find(name) !== undefined;
  }

  /** Without quotes; '' for a parameter without a value, undefined where there is no such parameter. */
  get(name: string): string | undefined {
    const pair = this.#find(name);
    return pair === undefined ? undefined : unquoted(pair[1] ?? '');
  }

  names(): string[] {
    return this.#pairs.map(([name]) => name);
  }

  /** With this one set to a value, in its place or behind the others. */
  with(name: string, value: string): Parameters {
    const found = this.#find(name);
    if (found === undefined) return new Parameters([...this.#pairs, [name, value]]);
    return new Parameters(this.#pairs.map((pair) => (pair === found ? [pair[0], value] : pair)));
  }

  /** As on the wire, each with its `;`. */
  toString(): string {
    let text = '';
    for (const [name, value] of this.#pairs) text += value === undefined ? `;${name}` : `;${name}=${value}`;
    return text;
  }

  #find(name: string): Pair | undefined {
    for (const pair of this.#pairs) {
      if (pair[0] === name || (pair[0].length === name.length && pair[0].toLowerCase() === name)) return pair;
    }
    return undefined;
  }
}

/** `;name=value` of a header, up to the end of the value. Undefined where it is not well-formed. */
export function headerParameters(scanner: Scanner): Parameters | undefined {
  if (scanner.space().done) return Parameters.none;
  const pairs: Pair[] = [];
  while (!scanner.space().done) {
    if (!scanner.take(';')) return undefined;
    const name = scanner.space().token();
    if (name === '') return undefined;
    if (!scanner.space().take('=')) {
      pairs.push([name, undefined]);
      continue;
    }
    const value = scanner.space().quoted() ?? scanner.run(GEN_VALUE);
    if (value === '') return undefined;
    pairs.push([name, value]);
  }
  return new Parameters(pairs);
}

/** `;name=value` of a URI, as far as they go; escapes are resolved. */
export function uriParameters(scanner: Scanner): Parameters | undefined {
  if (scanner.next !== 0x3b) return Parameters.none;
  const pairs: Pair[] = [];
  while (scanner.take(';')) {
    const name = scanner.run(URI_PARAM);
    const value = scanner.take('=') ? scanner.run(URI_PARAM) : undefined;
    if (name === '' || value === '' || !isEscapedWell(name + (value ?? ''))) return undefined;
    pairs.push([unescaped(name), value === undefined ? undefined : unescaped(value)]);
  }
  return new Parameters(pairs);
}
