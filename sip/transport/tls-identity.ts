// Who this server is over TLS, and whom it believes.
import type { SecureContextOptions } from 'node:tls';

export interface TlsIdentity {
  /** PEM, with the chain behind it, and its key. A client without them shows no certificate. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** PEM of the authorities that are believed; the system's if there are none. */
  readonly ca?: string | undefined;
  /** Whether peers that connect have to show a certificate of such an authority. */
  readonly clientCertificates?: 'required' | 'ignored' | undefined;
}

export function secureOptions({ cert, key, ca }: TlsIdentity): SecureContextOptions {
  return {
    minVersion: 'TLSv1.2',
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(ca === undefined ? {} : { ca }),
  };
}
