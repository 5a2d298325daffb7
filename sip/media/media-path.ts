// Establishes the way to the far end and the SRTP keys: from the descriptions alone, by ICE, by a DTLS
// handshake, or by both.
import type { ParleyError } from '../../src/errors.js';
import type { DtlsKeys, SrtpKeys } from '../../src/media/media-addon.js';
import type { DtlsCertificate } from '../../src/media/dtls-association.js';
import { type HandshakeTerms, MediaHandshake, sameAssociation } from '../../src/media/media-handshake.js';
import type { IceComponent, MediaSocket } from '../../src/media/media-socket.js';
import type { Time } from '../../src/time.js';
import type { AgreedAudio, AgreedKeys } from '../sdp/agreed-audio.js';
import type { AgreedIce } from '../sdp/ice-parameters.js';
import type { CryptoSuite } from '../sdp/media-keys.js';

interface MediaPathOptions {
  /** Its callbacks for ICE and DTLS are taken. */
  readonly socket: MediaSocket;
  /** Without it neither DTLS nor ICE was offered or accepted. */
  readonly certificate: DtlsCertificate | undefined;
  readonly time: Time;
  /** Called once for each association. */
  readonly onKeys: (keys: DtlsKeys) => void;
  readonly onFailed: (error: ParleyError) => void;
  /** The far end ended the association, and has begun no other in 5 s. */
  readonly onLeft: () => void;
  /** The far end is reached at this address from now on. */
  readonly onFound: (address: string, port: number, component: IceComponent) => void;
}

const LEFT_MS = 5000; // time for the far end's SIP BYE, or its offer of another association

export class MediaPath {
  readonly #options: MediaPathOptions;
  #terms: HandshakeTerms | undefined;
  #handshake: MediaHandshake | undefined;
  #keys: DtlsKeys | undefined;
  #cancelLeft = () => {};

  constructor(options: MediaPathOptions) {
    this.#options = options;
  }

  /** Keys of the association that this agreement continues. */
  keysFor(agreed: AgreedAudio): DtlsKeys | undefined {
    const terms = termsOf(agreed);
    if (terms === undefined || this.#terms === undefined || this.#handshake?.secured !== true)
      return undefined;
    return sameAssociation(this.#terms, terms) ? this.#keys : undefined;
  }

  /** Call it after the socket has learned of the agreement. */
  follow(agreed: AgreedAudio): void {
    const terms = termsOf(agreed);
    this.#cancelLeft();
    if (terms === undefined) {
      this.#endHandshake();
      return this.#useIce(agreed.ice);
    }
    this.#keys = this.keysFor(agreed);
    this.#terms = terms;
    if (this.#handshake === undefined) this.#handshake = this.#begin(terms);
    else this.#handshake.renegotiate(terms);
  }

  /** Call it before the socket is closed. Idempotent. */
  close(): void {
    this.#endHandshake();
    this.#useIce(undefined);
  }

  #begin(terms: HandshakeTerms): MediaHandshake | undefined {
    const { certificate, socket, time, onFailed, onFound, onLeft } = this.#options;
    if (certificate === undefined) return undefined;
    const onKeys = (keys: DtlsKeys) => {
      this.#keys = keys;
      this.#options.onKeys(keys);
    };
    return new MediaHandshake({
      ...terms,
      certificate,
      socket,
      time,
      onKeys,
      onFailed,
      onNominated: onFound,
      followIce: false,
      onClosed: () => (this.#cancelLeft = time.after(LEFT_MS, onLeft)),
    });
  }

  #endHandshake(): void {
    this.#cancelLeft();
    this.#handshake?.close();
    this.#handshake = this.#keys = this.#terms = undefined;
  }

  /** Without a handshake. Whether media may go to a nominated address is for `onFound` to say. */
  #useIce(credentials: AgreedIce | undefined): void {
    const { socket, onFound } = this.#options;
    socket.onNominated = credentials === undefined ? undefined : onFound;
    socket.ice(credentials, { follow: false });
  }
}

function termsOf({ keys, ice }: AgreedAudio): HandshakeTerms | undefined {
  if (keys.kind !== 'dtls') return undefined;
  const { setup, fingerprints, tlsId } = keys;
  return { setup, fingerprints, tlsId, ice };
}

/** Keys of one call: ours for sending, the peer's for receiving. */
export interface CallKeys {
  /** Undefined: plain RTP. */
  readonly send: SrtpKeys | undefined;
  readonly receive: SrtpKeys | 'plain';
}

/** Returns undefined if a DTLS handshake will bring the keys. */
export function keysInDescriptions(agreed: AgreedKeys): CallKeys | undefined {
  if (agreed.kind === 'none') return { send: undefined, receive: 'plain' };
  if (agreed.kind === 'dtls') return undefined;
  const { suite, send, receive, mkiBytes } = agreed;
  return { send: srtpKeys(suite, send), receive: { ...srtpKeys(suite, receive), mkiBytes } };
}

/** Splits the master key from its salt (RFC 4568 section 6.1; RFC 7714 section 14.1 for GCM). */
export function srtpKeys(profile: CryptoSuite, master: Uint8Array): SrtpKeys {
  const saltBytes = profile.startsWith('AEAD') ? 12 : 14;
  const at = master.length - saltBytes;
  return { profile, key: master.subarray(0, at), salt: master.subarray(at) };
}
