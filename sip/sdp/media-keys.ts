// Reads and writes the key agreement of descriptions: SRTP keys in `a=crypto` (RFC 4568, with the suites of
// RFC 6188 and RFC 7714), and the certificate fingerprint and role for DTLS (RFC 8122, RFC 4145, RFC 8842).
import { type Result, refused } from '../message/refusal.js';
import { type Attribute, hasAttribute, valuesOf } from './session-description.js';

/** Bytes of master key and salt together. */
const KEY_BYTES = {
  AES_CM_128_HMAC_SHA1_80: 30,
  AEAD_AES_128_GCM: 28,
  AEAD_AES_256_GCM: 44,
  AES_256_CM_HMAC_SHA1_80: 46,
  AES_CM_128_HMAC_SHA1_32: 30,
  AES_256_CM_HMAC_SHA1_32: 46,
} as const;

export type CryptoSuite = keyof typeof KEY_BYTES;

/** All suites, the preferred one first: every peer supports it. The second one is the fastest. */
export const CRYPTO_SUITES = Object.keys(KEY_BYTES) as readonly CryptoSuite[];

export interface CryptoAttribute {
  readonly tag: number;
  readonly suite: CryptoSuite;
  /** Master key followed by master salt. */
  readonly key: Uint8Array;
  /** Packets after which the peer stops using the key; undefined for the suite's own limit. */
  readonly lifetime?: number;
  /** The key index (MKI) that the peer appends to its packets, and its length there. */
  readonly mki?: { readonly value: number; readonly bytes: number };
}

export function keyBytes(suite: CryptoSuite): number {
  return KEY_BYTES[suite];
}

/** Writes the value after `a=crypto:`. */
export function writeCrypto({ tag, suite, key, lifetime, mki }: CryptoAttribute): string {
  const life = lifetime === undefined ? '' : `|${lifetime}`;
  const index = mki === undefined ? '' : `|${mki.value}:${mki.bytes}`;
  return `${tag} ${suite} inline:${Buffer.from(key).toString('base64')}${life}${index}`;
}

/** Refuses with 488 what this server does not support, and with 400 what is no crypto attribute. */
export function readCrypto(value: string): Result<CryptoAttribute> {
  const match = /^(\d{1,9}) +([\w-]{1,64}) +(\S{1,512})(?: +(\S.*))?$/.exec(value);
  if (match === null) return refused(400, 'a crypto attribute has another form');
  const [, tag = '', name = '', keys = '', session = ''] = match;
  const suite = CRYPTO_SUITES.find((known) => known === name.toUpperCase());
  if (suite === undefined) return refused(488, 'the suite of a crypto attribute is not known');
  const stranger = session.split(/ +/).find((parameter) => parameter !== '' && !isHarmless(parameter));
  if (stranger !== undefined)
    return refused(488, 'a session parameter of a crypto attribute is not supported');
  const key = readKey(keys, suite);
  if (key.refusal !== undefined) return key;
  return { value: { tag: Number(tag), suite, ...key.value } };
}

// RFC 4568 section 6.3: a parameter changes the packets, unless it begins with a hyphen. The window of the
// peer's replay protection (WSH) does not. A key derivation rate does.
function isHarmless(parameter: string): boolean {
  return parameter.startsWith('-') || /^WSH=\d{1,5}$/i.test(parameter);
}

function readKey(text: string, suite: CryptoSuite): Result<Omit<CryptoAttribute, 'tag' | 'suite'>> {
  if (text.includes(';')) return refused(488, 'a crypto attribute with several master keys is not supported');
  const match = /^inline:([A-Za-z0-9+/]+={0,2})((?:\|[^|]+){0,2})$/i.exec(text);
  if (match === null) return refused(400, 'the key of a crypto attribute has another form');
  const [, encoded = '', rest = ''] = match;
  const key = new Uint8Array(Buffer.from(encoded, 'base64'));
  if (key.length !== KEY_BYTES[suite])
    return refused(400, `a key of ${suite} must have ${KEY_BYTES[suite]} bytes`);
  const parts = rest.split('|').slice(1);
  const index = parts.findIndex((part) => part.includes(':'));
  if (parts.length === 2 && index !== 1)
    return refused(400, 'lifetime and MKI of a crypto attribute are mixed up');
  const mki = index < 0 ? undefined : readMki(parts[index] ?? '');
  const life = parts.length - (index < 0 ? 0 : 1) === 0 ? undefined : readLifetime(parts[0] ?? '');
  if (mki === null) return refused(400, 'the MKI of a crypto attribute is out of range');
  if (life === null) return refused(400, 'the lifetime of a crypto attribute is out of range');
  return {
    value: { key, ...(life === undefined ? {} : { lifetime: life }), ...(mki === undefined ? {} : { mki }) },
  };
}

/** Reads a lifetime in packets: SRTP's own limit is 2^48 (RFC 3711 section 9.2). Null if it is malformed. */
function readLifetime(text: string): number | null {
  const power = /^2\^(\d{1,2})$/.exec(text)?.[1];
  const packets = power === undefined ? (/^\d{1,15}$/.test(text) ? Number(text) : 0) : 2 ** Number(power);
  return packets >= 1 && packets <= 2 ** 48 ? packets : null;
}

/** Null if it is malformed or does not fit into its own length. */
function readMki(text: string): CryptoAttribute['mki'] | null {
  const [, value = '', bytes = ''] = /^(\d{1,15}):(\d{1,3})$/.exec(text) ?? [];
  if (value === '' || Number(bytes) < 1 || Number(bytes) > 128) return null; // RFC 4568 section 6.1
  return Number(value) < 2 ** (8 * Number(bytes)) ? { value: Number(value), bytes: Number(bytes) } : null;
}

type DtlsSetup = 'actpass' | 'active' | 'passive';

export interface Fingerprint {
  /** In lower case: `sha-256`. */
  readonly hash: string;
  /** Hexadecimal pairs in upper case, separated by colons. */
  readonly digest: string;
}

export interface DtlsParameters {
  /** Fingerprints by hashes that are still secure; one of them must match the certificate. */
  readonly fingerprints: readonly Fingerprint[];
  readonly setup: DtlsSetup;
  /** A new value means a new association (RFC 8842 section 5.1). */
  readonly tlsId: string | undefined;
}

const MOST_FINGERPRINTS = 32; // the limit of an association
const DIGEST_BYTES: Readonly<Record<string, number>> = { 'sha-256': 32, 'sha-384': 48, 'sha-512': 64 };

/** Returns undefined without a usable fingerprint, or if neither side would connect. */
export function readDtls(
  own: readonly Attribute[],
  session: readonly Attribute[],
): DtlsParameters | undefined {
  const written = (name: string) => (hasAttribute(own, name) ? valuesOf(own, name) : valuesOf(session, name));
  const read = written('fingerprint').flatMap((value) => {
    const [hash = '', digest = ''] = value.trim().split(/ +/);
    const bytes = DIGEST_BYTES[hash.toLowerCase()];
    const shape = new RegExp(`^[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){${(bytes ?? 1) - 1}}$`);
    if (bytes === undefined || !shape.test(digest)) return [];
    return [{ hash: hash.toLowerCase(), digest: digest.toUpperCase() }];
  });
  const fingerprints = read.slice(0, MOST_FINGERPRINTS);
  // RFC 4145 section 4: without `setup`, the offerer connects.
  const setup = (written('setup')[0] ?? 'active').toLowerCase();
  // holdconn (RFC 4145): no side connects yet
  if (setup !== 'actpass' && setup !== 'active' && setup !== 'passive') return undefined;
  return fingerprints.length === 0 ? undefined : { fingerprints, setup, tlsId: written('tls-id')[0] };
}

export function writeDtls({ fingerprints, setup, tlsId }: DtlsParameters): Attribute[] {
  return [
    ...fingerprints.map(({ hash, digest }) => ({ name: 'fingerprint', value: `${hash} ${digest}` })),
    { name: 'setup', value: setup },
    ...(tlsId === undefined ? [] : [{ name: 'tls-id', value: tlsId }]),
  ];
}
