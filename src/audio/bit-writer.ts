// Numbers of any width into bytes, the highest bit first.
export class BitWriter {
  readonly #bytes: Uint8Array;
  #length = 0;
  /** Bits that do not fill a byte yet: the lowest `#pending` of `#bits`. */
  #bits = 0;
  #pending = 0;

  /** @param capacity bytes; writing beyond is a mistake of the caller and is lost. */
  constructor(capacity: number) {
    this.#bytes = new Uint8Array(capacity);
  }

  /** Whole bytes so far. */
  get length(): number {
    return this.#length;
  }

  /** The lowest `width` bits of `value`; at most 24. */
  put(value: number, width: number): void {
    this.#bits = (this.#bits << width) | (value & ((1 << width) - 1));
    this.#pending += width;
    while (this.#pending >= 8) {
      this.#pending -= 8;
      this.#bytes[this.#length++] = (this.#bits >>> this.#pending) & 0xff;
    }
    this.#bits &= (1 << this.#pending) - 1;
  }

  /** `zeros` zeros and a one. */
  putUnary(zeros: number): void {
    let left = zeros;
    for (; left >= 16; left -= 16) this.put(0, 16);
    this.put(1, left + 1);
  }

  /** Fills the last byte up with zeros. */
  align(): void {
    if (this.#pending > 0) this.put(0, 8 - this.#pending);
  }

  /** What was written, without the bits of a byte that is not full; valid until the next `clear`. */
  written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
    this.#bits = 0;
    this.#pending = 0;
  }
}
