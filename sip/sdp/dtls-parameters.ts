// How the peer will be known when it comes with DTLS: fingerprints of its
// certificate and who connects (RFC 8122, RFC 4145, RFC 8842).
import { hasAttribute, valuesOf, type Attribute } from './session-description.js';

export type DtlsSetup = 'actpass' | 'active' | 'passive';

export interface Fingerprint {
  /** In small letters: `sha-256`. */
  readonly hash: string;
  /** Hexadecimal pairs in capitals between colons. */
  readonly digest: string;
}

export interface DtlsParameters {
  /** By hashes that are still good; one of them must fit the certificate. */
  readonly fingerprints: readonly Fingerprint[];
  readonly setup: DtlsSetup;
  /** A new one means a new association (RFC 8842 section 5.1). */
  readonly tlsId: string | undefined;
}

const MOST_FINGERPRINTS = 32; // as many as an association is given
const DIGEST_BYTES: Readonly<Record<string, number>> = { 'sha-256': 32, 'sha-384': 48, 'sha-512': 64 };

/** Undefined where there is no usable fingerprint, or nobody would connect. */
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
  // RFC 4145 section 4: an offer without it means the one who offers connects.
  const setup = (written('setup')[0] ?? 'active').toLowerCase();
  if (setup !== 'actpass' && setup !== 'active' && setup !== 'passive') return undefined; // holdconn: nobody yet
  return fingerprints.length === 0 ? undefined : { fingerprints, setup, tlsId: written('tls-id')[0] };
}

export function writeDtls({ fingerprints, setup, tlsId }: DtlsParameters): Attribute[] {
  return [
    ...fingerprints.map(({ hash, digest }) => ({ name: 'fingerprint', value: `${hash} ${digest}` })),
    { name: 'setup', value: setup },
    ...(tlsId === undefined ? [] : [{ name: 'tls-id', value: tlsId }]),
  ];
}
