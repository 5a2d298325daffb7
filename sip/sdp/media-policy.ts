// States what this server wants of a call's media and at which addresses it is reached, and chooses formats
// and keys from a peer's section accordingly.
import type { LocalAddresses } from './ice-parameters.js';
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
  /** Codecs by preference; the first that the peer supports is used. */
  readonly codecs: readonly AudioCodecName[];
  /** Packet time in milliseconds unless the peer asks for another. */
  readonly packetTimeMs: number;
  readonly telephoneEvents: boolean;
  readonly comfortNoise: boolean;
  readonly rtcpMux: boolean;
  /** SRTP: required, used if the peer supports it, or never used. */
  readonly security: Security;
  /** Key agreements by preference. Our offer has the first one, or all if it allows plain RTP. */
  readonly keyings: readonly Keying[];
  /** Suites for SDES by preference. Our offer has the first two. */
  readonly suites: readonly CryptoSuite[];
  /** Our own offers have ICE, for browsers; absent: only answers to offers with ICE have it. */
  readonly offerIce?: boolean;
}

export interface LocalEnd extends LocalAddresses {
  /** Fingerprints of our certificate; empty without DTLS. */
  readonly fingerprints: readonly Fingerprint[];
  /** ICE checks are answered there (RFC 8445 section 2.5); absent: ICE in an offer is ignored. */
  readonly ice?: boolean;
}

/** Our address of a family; undefined if there is none. */
export function addressOf(end: LocalEnd, family: 4 | 6): string | undefined {
  return family === 6 ? end.ip6 : end.ip4;
}

/**
 * Default key agreements by preference. A key in a description is as secret as the signalling, so SDES comes
 * first only over TLS.
 */
export function usualKeyings(overTls: boolean): readonly Keying[] {
  return overTls ? ['sdes', 'dtls'] : ['dtls', 'sdes'];
}

export interface FormatChoice {
  readonly codec: AudioCodec;
  readonly format: AudioFormat;
  readonly telephoneEvent: AudioFormat | undefined;
  readonly comfortNoise: AudioFormat | undefined;
}

/** Chooses by our order of preference, not the peer's; undefined without a common codec. */
export function chooseFormats(section: AudioSection, policy: MediaPolicy): FormatChoice | undefined {
  for (const name of policy.codecs) {
    const format = section.formats.find((candidate) => codecOf(candidate)?.name === name);
    const codec = format === undefined ? undefined : codecOf(format);
    if (format !== undefined && codec !== undefined)
      return { codec, format, ...companions(section, codec, policy) };
  }
  return undefined;
}

/** Telephone events and comfort noise that go with a codec. */
export function companions(
  { formats }: Pick<AudioSection, 'formats'>,
  codec: AudioCodec,
  policy: MediaPolicy,
) {
  const events = formats.filter(isTelephoneEvent);
  // Events should use the clock of the codec (RFC 4733 section 2.1), but some peers offer them only at 8000
  // Hz.
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

/**
 * Chooses the key agreement, or returns the reason why the section cannot be taken. Keys in a plain section
 * count (RFC 8643).
 */
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
