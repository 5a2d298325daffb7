// What our descriptions in one call have in common: who we are, payload types,
// keys, and the version, which grows only when something else has changed (RFC
// 3264 section 8): a peer that sees the same version need not read on.
import { keyBytes, type CryptoSuite } from './crypto-attribute.js';
import { PayloadNumbering } from './payload-numbering.js';
import { writeDescription, type Connection, type MediaDescription, type SessionDescription } from './session-description.js'; // prettier-ignore

/** So many bytes that nobody can foresee. */
export type RandomBytes = (count: number) => Uint8Array;

export class LocalSide {
  readonly numbering: PayloadNumbering;
  /** Names our DTLS association (RFC 8842 section 5.1): made once, as the certificate stays. */
  readonly tlsId: string;
  readonly #sessionId: string;
  readonly #random: RandomBytes;
  readonly #keys: Map<CryptoSuite, Uint8Array>;
  #version: number;
  #latest: string;

  /** With an original: its copy, which goes its own way, since one offer may have answers of several phones. */
  constructor(random: RandomBytes, original?: LocalSide) {
    this.#random = random;
    this.numbering = original?.numbering.copy() ?? new PayloadNumbering();
    this.tlsId = original?.tlsId ?? Buffer.from(random(15)).toString('hex');
    // Below 2^53, for peers that read it as a number of theirs.
    this.#sessionId = original === undefined ? sessionId(random) : original.#sessionId;
    this.#keys = new Map(original === undefined ? [] : original.#keys);
    this.#version = original === undefined ? 0 : original.#version;
    this.#latest = original === undefined ? '' : original.#latest;
  }

  /** Our key for a suite: the same through the call, so that re-offers do not restart SRTP. */
  keyFor(suite: CryptoSuite): Uint8Array {
    const key = this.#keys.get(suite) ?? this.#random(keyBytes(suite));
    this.#keys.set(suite, key);
    return key;
  }

  describe(connection: Connection, media: readonly MediaDescription[]): SessionDescription {
    const origin = { username: 'parley', sessionId: this.#sessionId, sessionVersion: '0', ...connection };
    const description = { origin, name: '-', connection, bandwidths: [], time: '0 0', attributes: [], media };
    const text = writeDescription(description);
    if (text !== this.#latest) this.#version++;
    this.#latest = text;
    return { ...description, origin: { ...origin, sessionVersion: String(this.#version) } };
  }
}

function sessionId(random: RandomBytes): string {
  return String(Buffer.from(random(6)).readUIntBE(0, 6));
}
