// Reads the pieces of a Moonshine model's tokenizer.bin, and joins pieces to texts.
//
//   entry: length, bytes      length: one byte b < 128, or two bytes b >= 128 and c: 128 c + b - 128
//
// The file has no header. The number of an entry is the id of its token. The three bytes of U+2581 stand for
// a space, and 256 entries hold the single bytes that other pieces lack.
import { readFile } from 'node:fs/promises';

const SPACE = '\u2581';
const SPACE_BYTES = Buffer.from(SPACE);
const MOST_BYTES = 16 * 1024 * 1024; // the largest published file has 250 kB

export class MoonshineTokenizer {
  readonly #pieces: readonly Buffer[];

  private constructor(pieces: readonly Buffer[]) {
    this.#pieces = pieces;
  }

  /** Rejects with an Error that names the file and its defect. */
  static async read(path: string, vocabulary: number): Promise<MoonshineTokenizer> {
    return MoonshineTokenizer.parse(await readFile(path), path, vocabulary);
  }

  /** Throws an Error that begins with the name of the file. */
  static parse(bytes: Buffer, name: string, vocabulary: number): MoonshineTokenizer {
    if (bytes.length > MOST_BYTES)
      throw new Error(`${name}: has ${bytes.length} bytes; at most ${MOST_BYTES} are allowed`);
    const pieces: Buffer[] = [];
    for (let at = 0; at < bytes.length;) {
      const first = bytes[at++] ?? 0;
      let length = first;
      if (first >= 128) {
        const second = bytes[at++];
        if (second === undefined) throw new Error(`${name}: the length of token ${pieces.length} is cut off`);
        length = 128 * second + first - 128;
      }
      if (at + length > bytes.length)
        throw new Error(`${name}: token ${pieces.length} is cut off: ${length} bytes were expected`);
      pieces.push(bytes.subarray(at, at + length));
      at += length;
    }
    if (pieces.length !== vocabulary)
      throw new Error(`${name}: has ${pieces.length} tokens, and the model has ${vocabulary}`);
    return new MoonshineTokenizer(pieces);
  }

  /** True if the token stands for no text, such as the end of the sequence. */
  isSilent(token: number): boolean {
    const piece = this.#pieces[token];
    if (piece === undefined || piece.length === 0) return true;
    return piece.length > 2 && piece[0] === 0x3c && piece.at(-1) === 0x3e;
  }

  /** The text without spaces around it, and without a character at its end whose last bytes are missing. */
  text(tokens: readonly number[]): string {
    return textOf(this.#bytes(tokens)).trim();
  }

  /**
   * UTF-16 units at the beginning of the text of all tokens that the first tokens determine: whole
   * characters and, in a language with spaces, whole words.
   */
  stableUnits(tokens: readonly number[], committed: number, hasSpaces: boolean): number {
    let sure = textOf(this.#bytes(tokens.slice(0, committed)));
    const next = tokens.slice(committed).find((token) => !this.isSilent(token));
    if (hasSpaces && !this.#beginsWord(next)) sure = sure.slice(0, Math.max(0, sure.lastIndexOf(' ')));
    sure = sure.trim();
    const text = this.text(tokens);
    let units = 0;
    while (units < sure.length && sure[units] === text[units]) units++;
    return units;
  }

  #beginsWord(token: number | undefined): boolean {
    const piece = token === undefined ? undefined : this.#pieces[token];
    return piece?.subarray(0, SPACE_BYTES.length).equals(SPACE_BYTES) === true;
  }

  #bytes(tokens: readonly number[]): Buffer {
    const pieces = tokens.filter((token) => !this.isSilent(token)).map((token) => this.#pieces[token]);
    return Buffer.concat(pieces.filter((piece) => piece !== undefined));
  }
}

function textOf(bytes: Buffer): string {
  return whole(bytes).toString('utf8').replaceAll(SPACE, ' ');
}

/** The bytes without a UTF-8 sequence at the end that is not complete. */
function whole(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue; // a later byte of a sequence
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}
