// The hashes of digest authentication (RFC 7616, RFC 8760 for SIP), the
// strongest first.
import { createHash } from 'node:crypto';

const HASHES = { 'SHA-512-256': 'sha512-256', 'SHA-256': 'sha256', MD5: 'md5' } as const;

type HashName = keyof typeof HASHES;

export interface DigestAlgorithm {
  /** As it is written, with `-sess` where the session counts. */
  readonly name: string;
  readonly hash: HashName;
  /** The secret is bound to the first nonce of the session. */
  readonly session: boolean;
}

export const DIGEST_ALGORITHMS: readonly DigestAlgorithm[] = (Object.keys(HASHES) as HashName[]).flatMap(
  (hash) => [
    { name: hash, hash, session: false },
    { name: `${hash}-sess`, hash, session: true },
  ],
);

/** MD5 where none is named (RFC 7616 section 3.3); undefined for one that is not known. */
export function digestAlgorithm(name: string | undefined): DigestAlgorithm | undefined {
  const wanted = (name ?? 'MD5').toLowerCase();
  return DIGEST_ALGORITHMS.find((known) => known.name.toLowerCase() === wanted);
}

/** In hexadecimal digits. */
export function hashed({ hash }: DigestAlgorithm, text: string | Uint8Array): string {
  return createHash(HASHES[hash]).update(text).digest('hex');
}
