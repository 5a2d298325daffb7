// Computes CRC32C, the checksum with the Castagnoli polynomial that object stores state (RFC 3720, 12.1).

const POLYNOMIAL = 0x82f63b78; // reflected

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1;
  return value;
});

/** Has the methods of Node's `Hash` that a download uses. */
export class Crc32c {
  #value = 0xffffffff;

  update(bytes: Uint8Array): this {
    let value = this.#value;
    for (let at = 0; at < bytes.length; at++)
      value = (value >>> 8) ^ (TABLE[(value ^ (bytes[at] ?? 0)) & 0xff] ?? 0);
    this.#value = value;
    return this;
  }

  /** Eight digits, the most significant first. */
  digest(_encoding: 'hex'): string {
    return ((this.#value ^ 0xffffffff) >>> 0).toString(16).padStart(8, '0');
  }
}
