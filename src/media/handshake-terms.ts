// What offer and answer say of a call's DTLS, and whether two of them speak of
// the same association.
import type { CertificateFingerprint } from './dtls-certificate.js';
import type { IceCredentials } from './ice-lite.js';

export interface HandshakeTerms {
  /** Ours: `active` connects. */
  readonly setup: 'active' | 'passive';
  /** Of the far end's certificate. */
  readonly fingerprints: readonly CertificateFingerprint[];
  /** The far end's name for the association (RFC 8842). */
  readonly tlsId?: string | undefined;
  /** Undefined: the far end does no ICE. */
  readonly ice?: IceCredentials | undefined;
}

/** The association of the first terms goes on under the second ones (RFC 8842 section 3.1). */
export function sameAssociation(
  before: Omit<HandshakeTerms, 'ice'>,
  after: Omit<HandshakeTerms, 'ice'>,
): boolean {
  const told = ({ setup, tlsId, fingerprints }: Omit<HandshakeTerms, 'ice'>) => [
    setup,
    tlsId ?? '',
    ...fingerprints.map(({ hash, digest }) => `${hash} ${digest}`).toSorted(),
  ];
  return told(before).join() === told(after).join();
}
