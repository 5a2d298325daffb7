// Supplies random bytes for tags, branches, identifiers and keys from a pool: a call needs a dozen
// small pieces, and each system call costs more than the bytes. No byte is used twice.
import { randomFillSync } from 'node:crypto';

const POOL_BYTES = 4096;

export class RandomPool {
  readonly #fill: (bytes: Uint8Array) => void;
  readonly #pool = new Uint8Array(POOL_BYTES);
  #at = POOL_BYTES;

  /** `fill` is the system's generator; tests pass another. */
  constructor(fill: (bytes: Uint8Array) => void = randomFillSync) {
    this.#fill = fill;
  }

  /** Returns that many unpredictable bytes in a buffer of the caller's own. */
  readonly bytes = (count: number): Buffer => {
    const taken = Buffer.alloc(count);
    if (count > POOL_BYTES) {
      this.#fill(taken);
      return taken;
    }
    if (this.#at + count > POOL_BYTES) {
      this.#fill(this.#pool);
      this.#at = 0;
    }
    taken.set(this.#pool.subarray(this.#at, this.#at + count));
    this.#pool.fill(0, this.#at, (this.#at += count)); // a key remains only with its owner
    return taken;
  };
}
