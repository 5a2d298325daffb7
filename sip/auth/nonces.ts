// Issues nonces that the server recognises without storing them: a time, random bytes and a keyed hash
// over both. Only the use counts are stored, within bounds, so that no answer is accepted twice.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Time } from '../../src/time.js';

const RANDOM_BYTES = 8;
const TIME_BYTES = 6;
const MAC_BYTES = 16;
const WINDOW = 32; // counts that may arrive out of order, as requests over UDP do

interface NonceOptions {
  readonly time: Time;
  /** Secret key of at least 32 bytes. */
  readonly secret: Uint8Array;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly lifetimeMs: number;
  /** Maximum number of stored counts. */
  readonly mostCounted: number;
}

interface Count {
  readonly issuedMs: number;
  highest: number;
  /** Bit n is set if the count `highest - n` was seen. */
  seen: number;
}

export class Nonces {
  readonly #options: NonceOptions;
  readonly #counts = new Map<string, Count>();
  /** Nonces issued up to this time without a stored count are treated as stale. */
  #forgottenMs = -1;

  constructor(options: NonceOptions) {
    this.#options = options;
  }

  /** Number of stored counts. */
  get counted(): number {
    return this.#counts.size;
  }

  /** Issues a nonce that is valid only for this bearer (an address). */
  issue(bearer: string): string {
    const head = Buffer.alloc(TIME_BYTES + RANDOM_BYTES);
    head.writeUIntBE(this.#nowMs(), 0, TIME_BYTES);
    head.set(this.#options.randomBytes(RANDOM_BYTES), TIME_BYTES);
    return Buffer.concat([head, this.#mac(head, bearer)]).toString('base64url');
  }

  /** Call this before computing with the nonce; `use` counts it when the answer was right. */
  check(nonce: string, bearer: string): 'fresh' | 'stale' | 'foreign' {
    const bytes = Buffer.from(nonce, 'base64url');
    if (bytes.length !== TIME_BYTES + RANDOM_BYTES + MAC_BYTES) return 'foreign';
    const head = bytes.subarray(0, TIME_BYTES + RANDOM_BYTES);
    if (!timingSafeEqual(bytes.subarray(head.length), this.#mac(head, bearer))) return 'foreign';
    const issuedMs = head.readUIntBE(0, TIME_BYTES);
    if (this.#nowMs() - issuedMs > this.#options.lifetimeMs) return 'stale';
    return issuedMs <= this.#forgottenMs && !this.#counts.has(keyOf(bytes)) ? 'stale' : 'fresh';
  }

  /** Counts one use of a fresh nonce: false if this count was used before or is too old. */
  use(nonce: string, count: number): boolean {
    const bytes = Buffer.from(nonce, 'base64url');
    const key = keyOf(bytes);
    const known = this.#counts.get(key) ?? { issuedMs: bytes.readUIntBE(0, TIME_BYTES), highest: 0, seen: 0 };
    if (!advance(known, count)) return false;
    this.#counts.set(key, known);
    this.#makeRoom();
    return true;
  }

  #makeRoom(): void {
    if (this.#counts.size <= this.#options.mostCounted) return;
    const [oldest] = this.#counts;
    if (oldest === undefined) return;
    this.#counts.delete(oldest[0]);
    this.#forgottenMs = Math.max(this.#forgottenMs, oldest[1].issuedMs);
  }

  #nowMs(): number {
    return Math.max(0, Math.floor(this.#options.time.now()));
  }

  #mac(head: Uint8Array, bearer: string): Buffer {
    return createHmac('sha256', this.#options.secret)
      .update(head)
      .update(bearer)
      .digest()
      .subarray(0, MAC_BYTES);
  }
}

/** Different base64url spellings may denote the same bytes, so the bytes are the key. */
function keyOf(bytes: Buffer): string {
  return bytes.toString('base64url');
}

function advance(state: Count, count: number): boolean {
  if (!Number.isInteger(count) || count < 1) return false;
  const ahead = count - state.highest;
  if (ahead > 0) {
    state.seen = ahead >= WINDOW ? 1 : ((state.seen << ahead) | 1) >>> 0;
    state.highest = count;
    return true;
  }
  const bit = -ahead >= WINDOW ? 0 : (1 << -ahead) >>> 0;
  if (bit === 0 || (state.seen & bit) !== 0) return false;
  state.seen = (state.seen | bit) >>> 0;
  return true;
}
