// How packets come to the far end where the descriptions alone do not say it:
// ICE finds the way, DTLS brings the keys, or both, or neither.
import type { ParleyError } from '../../src/errors.js';
import type { DtlsKeys } from '../../src/media/dtls-addon.js';
import type { DtlsCertificate } from '../../src/media/dtls-certificate.js';
import { type HandshakeTerms, sameAssociation } from '../../src/media/handshake-terms.js';
import { type IceComponent, IceLite } from '../../src/media/ice-lite.js';
import type { SrtpKeys } from '../../src/media/media-addon.js';
import { MediaHandshake } from '../../src/media/media-handshake.js';
import type { MediaSocket } from '../../src/media/media-socket.js';
import type { Time } from '../../src/time.js';
import type { AgreedAudio, AgreedKeys } from '../sdp/agreed-audio.js';
import type { AgreedIce } from '../sdp/ice-parameters.js';
import type { CryptoSuite } from '../sdp/media-keys.js';

export interface MediaPathOptions {
  /** Its `onForeign` is taken. */
  readonly socket: MediaSocket;
  /** Without it no DTLS was offered or accepted, and no ICE. */
  readonly certificate: DtlsCertificate | undefined;
  readonly time: Time;
  /** Once for each association. */
  readonly onKeys: (keys: DtlsKeys) => void;
  readonly onFailed: (error: ParleyError) => void;
  /** The far end ended the association, and has not begun another one in 5 s. */
  readonly onLeft: () => void;
  /** The far end is reached there from now on. */
  readonly onFound: (address: string, port: number, component: IceComponent) => void;
}

const LEFT_MS = 5000; // for the BYE that says the same, or the offer of another association

export class MediaPath {
  readonly #options: MediaPathOptions;
  #terms: HandshakeTerms | undefined;
  #handshake: MediaHandshake | undefined;
  #keys: DtlsKeys | undefined;
  /** Where there is no handshake that does it. */
  #ice: IceLite | undefined;
  #callOffLeft = () => {};

  constructor(options: MediaPathOptions) {
    this.#options = options;
  }

  /** Keys of the association that goes on under this agreement. */
  keysFor(agreed: AgreedAudio): DtlsKeys | undefined {
    const terms = termsOf(agreed);
    if (terms === undefined || this.#terms === undefined || this.#handshake?.secured !== true)
      return undefined;
    return sameAssociation(this.#terms, terms) ? this.#keys : undefined;
  }

  /** After the socket has learned of it. */
  follow(agreed: AgreedAudio): void {
    const terms = termsOf(agreed);
    this.#callOffLeft();
    if (terms === undefined) {
      this.#endHandshake();
      return this.#useIce(agreed.ice);
    }
    this.#ice = undefined;
    this.#keys = this.keysFor(agreed);
    this.#terms = terms;
    if (this.#handshake === undefined) this.#handshake = this.#begin(terms);
    else this.#handshake.renegotiate(terms);
  }

  /** Before the socket is. Idempotent. */
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
      onClosed: () => (this.#callOffLeft = time.after(LEFT_MS, onLeft)),
    });
  }

  #endHandshake(): void {
    this.#callOffLeft();
    this.#handshake?.close();
    this.#handshake = this.#keys = this.#terms = undefined;
  }

  #useIce(credentials: AgreedIce | undefined): void {
    const { socket, time, onFound: onNominated } = this.#options;
    if (credentials === undefined) {
      this.#ice = undefined;
      socket.onForeign = undefined;
      return;
    }
    if (this.#ice !== undefined) return this.#ice.restart(credentials);
    const send = (data: Uint8Array, address: string, port: number, component: IceComponent) =>
      void socket.sendForeign(data, address, port, component === 2);
    const ice = new IceLite({ credentials, time, send, onNominated });
    this.#ice = ice;
    socket.onForeign = () => {
      for (const { data, address, port, rtcpPort } of socket.takeForeign()) {
        ice.receive(data, address, port, rtcpPort ? 2 : 1);
      }
    };
    socket.onForeign();
  }
}

function termsOf({ keys, ice }: AgreedAudio): HandshakeTerms | undefined {
  if (keys.kind !== 'dtls') return undefined;
  const { setup, fingerprints, tlsId } = keys;
  return { setup, fingerprints, tlsId, ice };
}

// Keys as a description carries them, and as the media plane takes them.

/** Of one call: what we encrypt with, and what we believe. */
export interface CallKeys {
  /** Undefined: plain RTP. */
  readonly send: SrtpKeys | undefined;
  readonly receive: SrtpKeys | 'plain';
}

/** Undefined where the descriptions alone do not bring keys: a handshake will. */
export function keysInDescriptions(agreed: AgreedKeys): CallKeys | undefined {
  if (agreed.kind === 'none') return { send: undefined, receive: 'plain' };
  if (agreed.kind === 'dtls') return undefined;
  const { suite, send, receive, mkiBytes } = agreed;
  return { send: srtpKeys(suite, send), receive: { ...srtpKeys(suite, receive), mkiBytes } };
}

/** Master key and salt stand one after the other (RFC 4568 section 6.1; RFC 7714 section 14.1 for GCM). */
export function srtpKeys(profile: CryptoSuite, master: Uint8Array): SrtpKeys {
  const saltBytes = profile.startsWith('AEAD') ? 12 : 14;
  const at = master.length - saltBytes;
  return { profile, key: master.subarray(0, at), salt: master.subarray(at) };
}

/** The same text for the same keys, never for a log. */
export function identityOf(keys: SrtpKeys | undefined): string {
  if (keys === undefined) return 'plain';
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
  return `${keys.profile} ${hex(keys.key)} ${hex(keys.salt)}`;
}
