// Bytes that come in pieces, as one base64 text in pieces: what does not fill a
// group of three bytes waits for the next piece, so that no padding stands
// inside.
const GROUP = 3;

export class Base64Pieces {
  #rest: Uint8Array = new Uint8Array(0);

  push(bytes: Uint8Array): string {
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const whole = all.length - (all.length % GROUP);
    this.#rest = all.slice(whole);
    return base64(all.subarray(0, whole));
  }

  /** The last of it, padded. */
  end(): string {
    const rest = this.#rest;
    this.#rest = new Uint8Array(0);
    return base64(rest);
  }
}

export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
