// A negotiation with fixed policy, addresses and random bytes.
import assert from 'node:assert/strict';
import { AUDIO_CODECS, type AudioCodecName } from '../../../sip/sdp/audio-format.js';
import { CRYPTO_SUITES } from '../../../sip/sdp/media-keys.js';
import { MediaNegotiation } from '../../../sip/sdp/media-negotiation.js';
import type { LocalEnd, MediaPolicy } from '../../../sip/sdp/media-policy.js';
import type { Refusal, Result } from '../../../sip/message/refusal.js';

export const FINGERPRINT = { hash: 'sha-256', digest: Array.from({ length: 32 }, () => 'AB').join(':') };

export const POLICY: MediaPolicy = {
  codecs: Object.keys(AUDIO_CODECS) as AudioCodecName[],
  packetTimeMs: 20,
  telephoneEvents: true,
  comfortNoise: true,
  rtcpMux: true,
  security: 'prefer',
  keyings: ['sdes', 'dtls'],
  suites: CRYPTO_SUITES,
};

export const END: LocalEnd = {
  ip4: '192.0.2.1',
  ip6: '2001:db8::1',
  port: 40_000,
  rtcpPort: 40_001,
  fingerprints: [FINGERPRINT],
};

/** Returns 0, 1, 2, … from the seed on: two negotiations with different seeds never share a key. */
export function countingBytes(seed: number): (count: number) => Uint8Array {
  let next = seed;
  return (count) => Uint8Array.from({ length: count }, () => next++ & 0xff);
}

export function negotiation(policy: Partial<MediaPolicy> = {}, end: Partial<LocalEnd> = {}, seed = 1) {
  const randomBytes = countingBytes(seed);
  return new MediaNegotiation({ policy: { ...POLICY, ...policy }, end: { ...END, ...end }, randomBytes });
}

/** A description whose audio section begins with the first line. */
export function offerOf(...lines: readonly string[]): string {
  const session = ['v=0', 'o=- 1 1 IN IP4 198.51.100.7', 's=-', 'c=IN IP4 198.51.100.7', 't=0 0'];
  return [...session, ...lines, ''].join('\r\n');
}

export function valueOf<T>(judged: Result<T>): T {
  assert.equal(judged.refusal, undefined);
  return judged.value as T;
}

export function refusalOf(judged: Result<unknown>): Refusal {
  assert.ok(judged.refusal !== undefined, 'it was accepted');
  return judged.refusal;
}

/** The lines of a description with this prefix, without it. */
export function linesOf(text: string, start: string): string[] {
  return text
    .split('\r\n')
    .filter((line) => line.startsWith(start))
    .map((line) => line.slice(start.length));
}

export function keyText(byte: number, count: number): string {
  return Buffer.alloc(count, byte).toString('base64');
}
