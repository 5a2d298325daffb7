// Reads the tokens, quoted strings and parameters of header values and URIs from left to right. Every
// step advances or fails, so the time is linear in the length of the value.
const TOKEN = table("-.!%*_+`'~", true);
const USER_INFO = table("-_.!~*'()%&=+$,;?/:", true);
const URI_PARAM = table("-_.!~*'()%[]/:&+$", true);
const URI_HEADER = table("-_.!~*'()%[]/?:+$", true);
const HOST = table('-._', true);
const GEN_VALUE = table("-.!%*_+`'~[]:", true); // a token or a host, IPv6 with or without brackets
const ADDRESS = table('.:abcdefABCDEF', false);
const DIGIT = table('', false);

/** Character classes by their names in RFC 3261, section 25. */
export const CHARACTERS = { TOKEN, USER_INFO, URI_PARAM, URI_HEADER, HOST, GEN_VALUE, ADDRESS, DIGIT };

const SPACE = 0x20;
const TAB = 0x09;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

function table(others: string, letters: boolean): Uint8Array {
  const allowed = new Uint8Array(128);
  const alphabet = letters ? 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ' : '';
  for (const character of `0123456789${alphabet}${others}`) allowed[character.charCodeAt(0)] = 1;
  return allowed;
}

export class Scanner {
  readonly text: string;
  at: number;

  constructor(text: string, at = 0) {
    this.text = text;
    this.at = at;
  }

  get done(): boolean {
    return this.at >= this.text.length;
  }

  /** The character that is next, as its code; NaN at the end. */
  get next(): number {
    return this.text.charCodeAt(this.at);
  }

  /** Skips white space. */
  space(): this {
    while (this.next === SPACE || this.next === TAB) this.at++;
    return this;
  }

  /** Consumes this character (a string of length one) if it is next. */
  take(character: string): boolean {
    if (this.next !== character.charCodeAt(0)) return false;
    this.at++;
    return true;
  }

  /** Consumes the longest run of allowed characters; '' if there is none. */
  run(allowed: Uint8Array): string {
    const start = this.at;
    const { text } = this;
    let at = start;
    while (at < text.length && allowed[text.charCodeAt(at)] === 1) at++;
    this.at = at;
    return text.slice(start, at);
  }

  token(): string {
    return this.run(TOKEN);
  }

  /**
   * Consumes a quoted string and returns it with its quotes; undefined, without moving, if there is no
   * complete one.
   */
  quoted(): string | undefined {
    if (this.next !== QUOTE) return undefined;
    for (let at = this.at + 1; at < this.text.length; at++) {
      const code = this.text.charCodeAt(at);
      if (code === BACKSLASH) at++;
      else if (code === QUOTE) {
        const found = this.text.slice(this.at, at + 1);
        this.at = at + 1;
        return found;
      }
    }
    return undefined;
  }
}

export function isToken(text: string): boolean {
  const scanner = new Scanner(text);
  return scanner.token() !== '' && scanner.done;
}

/** Removes quotes and backslash escapes; text without quotes is returned unchanged. */
export function unquoted(text: string): string {
  if (!text.startsWith('"')) return text;
  const inner = text.slice(1, -1);
  return inner.includes('\\') ? inner.replace(/\\([^])/g, '$1') : inner;
}

/** Writes the text as a quoted string. */
export function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** Resolves escapes (`%41` → `A`); text that is not valid UTF-8 afterwards stays unchanged. */
export function unescaped(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** True if every `%` is followed by two hexadecimal digits. */
export function isEscapedWell(text: string): boolean {
  return !text.includes('%') || !/%(?![0-9a-fA-F]{2})/.test(text);
}

/** Parses a number of at most `most` that consists of digits only; leading zeros are legal. */
export function wholeNumber(digits: string, most: number): number | undefined {
  if (!/^\d+$/.test(digits)) return undefined;
  const number = Number(digits);
  return number <= most ? number : undefined;
}

type Pair = readonly [name: string, value: string | undefined];

/** Parameters in the order received. Names are case-insensitive; the first of several equal names counts. */
export class Parameters {
  static readonly none = new Parameters([]);
  readonly #pairs: readonly Pair[];

  constructor(pairs: readonly Pair[]) {
    this.#pairs = pairs;
  }

  has(name: string): boolean {
    return this.#find(name) !== undefined;
  }

  /** Value without quotes; '' for a parameter without a value, undefined if the parameter is missing. */
  get(name: string): string | undefined {
    const pair = this.#find(name);
    return pair === undefined ? undefined : unquoted(pair[1] ?? '');
  }

  names(): string[] {
    return this.#pairs.map(([name]) => name);
  }

  /** Returns a copy with this parameter replaced, or appended if missing. */
  with(name: string, value: string): Parameters {
    const found = this.#find(name);
    if (found === undefined) return new Parameters([...this.#pairs, [name, value]]);
    return new Parameters(this.#pairs.map((pair) => (pair === found ? [pair[0], value] : pair)));
  }

  /** Wire form: each parameter with its leading `;`. */
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

/** Parses `;name=value` pairs up to the end of a header value. Undefined if malformed. */
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

/** Parses the `;name=value` pairs of a URI and resolves their escapes. Undefined if malformed. */
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
