// Reads a header value from left to right, once: every step moves on or says no,
// so that a value of any length costs time in proportion to it.

const TOKEN = table("-.!%*_+`'~", true);
const USER_INFO = table("-_.!~*'()%&=+$,;?/:", true);
const URI_PARAM = table("-_.!~*'()%[]/:&+$", true);
const URI_HEADER = table("-_.!~*'()%[]/?:+$", true);
const HOST = table('-._', true);
const GEN_VALUE = table("-.!%*_+`'~[]:", true); // a token or a host, IPv6 with or without brackets
const ADDRESS = table('.:abcdefABCDEF', false);
const DIGIT = table('', false);

/** Which characters may follow each other; the names are those of RFC 3261, section 25. */
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

  /** Passes white space. */
  space(): this {
    while (this.next === SPACE || this.next === TAB) this.at++;
    return this;
  }

  /** Passes this one character (given as a string of one) if it is next. */
  take(character: string): boolean {
    if (this.next !== character.charCodeAt(0)) return false;
    this.at++;
    return true;
  }

  /** Everything of one of these characters that follows; '' where there is none. */
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

  /** A quoted string with its quotes; undefined, and nowhere moved, where none begins or none ends. */
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

/** What stands between the quotes, or the text itself where there are none. */
export function unquoted(text: string): string {
  if (!text.startsWith('"')) return text;
  const inner = text.slice(1, -1);
  return inner.includes('\\') ? inner.replace(/\\([^])/g, '$1') : inner;
}

/** As a quoted string, whatever it holds. */
export function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** `%41` → `A`; what is not UTF-8 stays as it is. */
export function unescaped(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Whether every `%` begins an escape of two hexadecimal digits. */
export function isEscapedWell(text: string): boolean {
  return !text.includes('%') || !/%(?![0-9a-fA-F]{2})/.test(text);
}
