// Who this server is in DTLS: a certificate on P-256 that is made anew with each
// process and vouched for by nothing but its fingerprint in the signalling.
import { ParleyError } from '../errors.js';
import { dtlsAddon } from './dtls-addon.js';

/** As in `a=fingerprint` (RFC 8122). */
export interface CertificateFingerprint {
  /** In small letters: `sha-256`, `sha-384` or `sha-512`; others never fit. */
  readonly hash: string;
  /** Hexadecimal pairs in capitals between colons. */
  readonly digest: string;
}

export class DtlsCertificate {
  readonly handle: number;
  readonly fingerprint: CertificateFingerprint;
  #closed = false;

  private constructor(handle: number, digest: string) {
    this.handle = handle;
    this.fingerprint = { hash: 'sha-256', digest };
  }

  /** Takes a millisecond or so. One is enough for all calls of a process. */
  static make(): DtlsCertificate {
    const handle = dtlsAddon().identityMake();
    const digest = dtlsAddon().identityFingerprint(handle);
    if (digest === null) throw new ParleyError('WRONG_STATE', 'the new certificate is gone');
    return new DtlsCertificate(handle, digest);
  }

  /** Associations that run keep what they have; new ones are refused. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    dtlsAddon().identityClose(this.handle);
  }
}
