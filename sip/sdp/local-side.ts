// Keeps what our descriptions of one call share: identity, payload types, keys, ICE credentials and the
// version. The version grows only when something else has changed (RFC 3264 section 8), so a peer may ignore
// a description of the same version.
import { codecOf, type Encoding, keyOf } from './audio-format.js';
import type { AgreedIce, IceSecret } from './ice-parameters.js';
import { type CryptoSuite, keyBytes } from './media-keys.js';
import {
  type Attribute,
  type Connection,
  type MediaDescription,
  type SessionDescription,
  writeDescription,
} from './session-description.js';

/** Returns that many unpredictable bytes. */
export type RandomBytes = (count: number) => Uint8Array;

export class LocalSide {
  readonly numbering: PayloadNumbering;
  #tlsId: string;
  readonly #sessionId: string;
  readonly #random: RandomBytes;
  readonly #keys: Map<CryptoSuite, Uint8Array>;
  #ice: IceSecret | undefined;
  #version: number;
  #latest: string;

  /** With an original, makes an independent copy: one INVITE may be answered by several phones. */
  constructor(random: RandomBytes, original?: LocalSide) {
    this.#random = random;
    this.numbering = original?.numbering.copy() ?? new PayloadNumbering();
    this.#tlsId = original?.tlsId ?? tlsId(random);
    // Below 2^53, for peers that read it as a floating-point number.
    this.#sessionId = original === undefined ? sessionId(random) : original.#sessionId;
    this.#keys = new Map(original === undefined ? [] : original.#keys);
    this.#ice = original === undefined ? undefined : original.#ice;
    this.#version = original === undefined ? 0 : original.#version;
    this.#latest = original === undefined ? '' : original.#latest;
  }

  /** Names our DTLS association (RFC 8842 section 5.1). */
  get tlsId(): string {
    return this.#tlsId;
  }

  /** Another association follows. */
  renameTls(): void {
    this.#tlsId = tlsId(this.#random);
  }

  /** Our key for a suite: the same through the call, so that re-offers do not restart SRTP. */
  keyFor(suite: CryptoSuite): Uint8Array {
    const key = this.#keys.get(suite) ?? this.#random(keyBytes(suite));
    this.#keys.set(suite, key);
    return key;
  }

  /**
   * Our ICE credentials: the same through the call, but new if the peer restarts ICE (RFC 8839 section
   * 4.4.1).
   */
  iceFor(theirs: IceSecret | undefined, agreed: AgreedIce | undefined): IceSecret {
    const restarted =
      theirs !== undefined &&
      agreed !== undefined &&
      (theirs.ufrag !== agreed.remoteUfrag || theirs.pwd !== agreed.remotePwd);
    if (this.#ice === undefined || restarted) this.#ice = iceSecret(this.#random);
    return this.#ice;
  }

  describe(
    connection: Connection,
    media: readonly MediaDescription[],
    attributes: readonly Attribute[] = [],
  ): SessionDescription {
    const origin = { username: 'parley', sessionId: this.#sessionId, sessionVersion: '0', ...connection };
    const description = { origin, name: '-', connection, bandwidths: [], time: '0 0', attributes, media };
    const text = writeDescription(description);
    if (text !== this.#latest) this.#version++;
    this.#latest = text;
    return { ...description, origin: { ...origin, sessionVersion: String(this.#version) } };
  }
}

/** 48 and 144 random bits (RFC 8445 section 5.3 asks for 24 and 128). */
function iceSecret(random: RandomBytes): IceSecret {
  const text = (bytes: number) => Buffer.from(random(bytes)).toString('base64');
  return { ufrag: text(6), pwd: text(18) };
}

function tlsId(random: RandomBytes): string {
  return Buffer.from(random(15)).toString('base64'); // 20 characters, the minimum of RFC 8842 section 4
}

function sessionId(random: RandomBytes): string {
  return String(Buffer.from(random(6)).readUIntBE(0, 6));
}

// Assigns payload types. A payload type that was bound to an encoding never means another one in the same
// call (RFC 3264 section 8.3.2): packets of either meaning may still be under way.

const FIRST_DYNAMIC = 96;
const LAST_DYNAMIC = 127;
// Used when the dynamic payload types are exhausted. 64 to 95 would look like RTCP (RFC 5761 section 4).
const FIRST_SPARE = 35;
const LAST_SPARE = 63;

class PayloadNumbering {
  readonly #meanings = new Map<number, string>();
  readonly #latest = new Map<string, number>();

  /** An independent copy: one offer may be answered by several phones. */
  copy(): PayloadNumbering {
    const copy = new PayloadNumbering();
    for (const [number, key] of this.#meanings) copy.#meanings.set(number, key);
    for (const [key, number] of this.#latest) copy.#latest.set(key, number);
    return copy;
  }

  /** Payload type for an encoding: the preferred one (the offer's), the one it has had, or a new one. */
  assign(encoding: Encoding, preferred?: number): number {
    const key = keyOf(encoding);
    const first = preferred ?? this.#latest.get(key) ?? staticTypeOf(encoding);
    const number = [first, this.#latest.get(key), ...unbound(this.#meanings)].find(
      (candidate) => candidate !== undefined && (this.#meanings.get(candidate) ?? key) === key,
    );
    // If re-offers have used up all payload types, the peer gets the one that it names.
    const given = number ?? preferred ?? LAST_DYNAMIC;
    this.#meanings.set(given, key);
    this.#latest.set(key, given);
    return given;
  }
}

function staticTypeOf(encoding: Encoding): number | undefined {
  if (encoding.name === 'CN') return 13;
  return codecOf(encoding)?.staticPayloadType;
}

function* unbound(meanings: ReadonlyMap<number, string>): Generator<number> {
  for (let number = FIRST_DYNAMIC; number <= LAST_DYNAMIC; number++) if (!meanings.has(number)) yield number;
  for (let number = FIRST_SPARE; number <= LAST_SPARE; number++) if (!meanings.has(number)) yield number;
}
