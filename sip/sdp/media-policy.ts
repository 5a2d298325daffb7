// What this server wants of the media of a call, and where it has its end.
import type { AudioCodecName } from './audio-format.js';
import type { CryptoSuite } from './crypto-attribute.js';
import type { Fingerprint } from './dtls-parameters.js';

export type Keying = 'sdes' | 'dtls';
export type Security = 'require' | 'prefer' | 'off';

export interface MediaPolicy {
  /** The first of them that the peer has, too, is spoken. */
  readonly codecs: readonly AudioCodecName[];
  /** Milliseconds of sound in a packet where the peer asks for nothing. */
  readonly packetTimeMs: number;
  readonly telephoneEvents: boolean;
  readonly comfortNoise: boolean;
  readonly rtcpMux: boolean;
  /** SRTP: never without, wherever the peer can, or never. */
  readonly security: Security;
  /** Ways to agree on keys, the preferred one first. An offer of ours has the first one, or all if it allows plain RTP. */
  readonly keyings: readonly Keying[];
  /** Suites for SDES, the preferred one first. An offer of ours has the first two. */
  readonly suites: readonly CryptoSuite[];
  /** Our own offers have ICE, too, for browsers; absent: only answers to offers that have it. */
  readonly offerIce?: boolean;
}

export interface LocalEnd {
  /** The addresses to tell the peer, public ones where the server stands behind NAT. At least one. */
  readonly ip4?: string;
  readonly ip6?: string;
  readonly port: number;
  readonly rtcpPort: number;
  /** Of the certificate for DTLS; none where there is no DTLS. */
  readonly fingerprints: readonly Fingerprint[];
  /** Checks of ICE are answered there (RFC 8445 section 2.5); absent: ICE in an offer is passed over. */
  readonly ice?: boolean;
}

/** The end's address of a family, or undefined. */
export function addressOf(end: LocalEnd, family: 4 | 6): string | undefined {
  return family === 6 ? end.ip6 : end.ip4;
}

/**
 * Ways to agree on keys, the preferred one first, if none are configured. A key in a description is as secret as the
 * signalling, so SDES comes first over TLS alone.
 */
export function usualKeyings(overTls: boolean): readonly Keying[] {
  return overTls ? ['sdes', 'dtls'] : ['dtls', 'sdes'];
}
