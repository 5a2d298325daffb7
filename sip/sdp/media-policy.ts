// What this server wants of the media of a call, and where it has its end.
import {
  type AudioCodec,
  type AudioCodecName,
  type AudioFormat,
  codecOf,
  isComfortNoise,
  isTelephoneEvent,
} from './audio-format.js';
import type { AudioSection } from './audio-section.js';
import type { CryptoAttribute, CryptoSuite, DtlsParameters, Fingerprint } from './media-keys.js';

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

// Which of the formats and keys in a section this server takes.

export interface FormatChoice {
  readonly codec: AudioCodec;
  readonly format: AudioFormat;
  readonly telephoneEvent: AudioFormat | undefined;
  readonly comfortNoise: AudioFormat | undefined;
}

/** By our order of preference, not the peer's; undefined where no codec is common. */
export function chooseFormats(section: AudioSection, policy: MediaPolicy): FormatChoice | undefined {
  for (const name of policy.codecs) {
    const format = section.formats.find((candidate) => codecOf(candidate)?.name === name);
    const codec = format === undefined ? undefined : codecOf(format);
    if (format !== undefined && codec !== undefined)
      return { codec, format, ...companions(section, codec, policy) };
  }
  return undefined;
}

/** Events and noise that go with a codec. */
export function companions(
  { formats }: Pick<AudioSection, 'formats'>,
  codec: AudioCodec,
  policy: MediaPolicy,
) {
  const events = formats.filter(isTelephoneEvent);
  // Events should run on the clock of the codec (RFC 4733 section 2.1), but some peers have only those of 8000.
  const fitting = events.find(({ clockRate }) => clockRate === codec.clockRate) ?? events[0];
  const noise = codec.clockRate === 8000 ? formats.find(isComfortNoise) : undefined;
  return {
    telephoneEvent: policy.telephoneEvents ? fitting : undefined,
    comfortNoise: policy.comfortNoise ? noise : undefined,
  };
}

export type KeyChoice =
  | { readonly kind: 'none' }
  | { readonly kind: 'sdes'; readonly theirs: CryptoAttribute }
  | { readonly kind: 'dtls'; readonly theirs: DtlsParameters };

/** How the section will be secured, or why it cannot be taken. Keys in a plain section count (RFC 8643). */
export function chooseKeys(
  section: AudioSection,
  policy: MediaPolicy,
  end: LocalEnd,
  current: CryptoSuite | undefined,
): KeyChoice | string {
  const { secured } = section.profile;
  if (policy.security === 'off') {
    return secured === 'no' ? { kind: 'none' } : 'it wants SRTP, which is switched off here';
  }
  for (const keying of policy.keyings) {
    if (keying === 'dtls' && section.dtls !== undefined && end.fingerprints.length > 0) {
      return { kind: 'dtls', theirs: section.dtls };
    }
    const theirs =
      keying === 'sdes' && secured !== 'dtls' ? chooseCrypto(section, policy, current) : undefined;
    if (theirs !== undefined) return { kind: 'sdes', theirs };
  }
  if (secured !== 'no') return 'it offers no keys for SRTP that can be used here';
  return policy.security === 'prefer' ? { kind: 'none' } : 'it has no SRTP, which is demanded here';
}

// The offer lists its suites by preference (RFC 4568 section 7.1.2); a running call keeps its own.
function chooseCrypto({ cryptos }: AudioSection, policy: MediaPolicy, current: CryptoSuite | undefined) {
  const usable = cryptos.filter((crypto) => policy.suites.includes(crypto.suite));
  return usable.find(({ suite }) => suite === current) ?? usable[0];
}
