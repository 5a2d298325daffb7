// Keys as a description carries them, and as the media plane takes them.
import type { SrtpKeys } from '../../src/media/media-addon.js';
import type { AgreedKeys } from '../sdp/agreed-audio.js';
import type { CryptoSuite } from '../sdp/crypto-attribute.js';

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
