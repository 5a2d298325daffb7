// Describes where to listen and under which TLS identity, checks it, and writes the Via of requests.
import { isIPv6 } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import { ParleyError } from '../../src/errors.js';
import { hostPortText } from '../message/uri.js';
import { type Flow, type TransportName, viaTransport } from './flow.js';

export interface ListenerOptions {
  readonly transport: TransportName;
  /** Address to listen on; 127.0.0.1 by default, so that a server is never public by accident. */
  readonly host?: string;
  /** 0 lets the system choose a port. */
  readonly port: number;
  /**
   * Address for peers if it differs from the listening address (behind NAT, or when listening on every
   * address).
   */
  readonly advertised?: { readonly host: string; readonly port?: number } | undefined;
  /** Required for tls and wss. */
  readonly tls?: TlsIdentity;
}

export const LOOPBACK = '127.0.0.1';

/** Throws CONFIG_INVALID if peers could not be given a return address, or if TLS has no certificate. */
export function checkListener({ transport, host = LOOPBACK, advertised, tls }: ListenerOptions): void {
  if ((host === '0.0.0.0' || host === '::') && advertised === undefined) {
    const message = `listening for SIP on ${host} needs an address to tell peers: set PUBLIC_ADDRESS, or listen on one address`;
    throw new ParleyError('CONFIG_INVALID', message, { field: 'PUBLIC_ADDRESS' });
  }
  const secure = transport === 'tls' || transport === 'wss';
  if (secure && (tls?.cert === undefined || tls.key === undefined)) {
    throw new ParleyError(
      'CONFIG_INVALID',
      `SIP over ${viaTransport(transport)} needs a certificate and its key`,
    );
  }
}

export interface SentBy {
  readonly host: string;
  readonly port: number;
}

/** Writes the Via of a request for this flow. */
export function viaText(flow: Flow, sentBy: SentBy, branch: string, aliases: boolean): string {
  const place = hostPortText(sentBy);
  const alias = aliases && (flow.transport === 'tcp' || flow.transport === 'tls') ? ';alias' : '';
  const rport = flow.reliable ? '' : ';rport';
  return `SIP/2.0/${viaTransport(flow.transport)} ${place};branch=${branch}${rport}${alias}`;
}

export function sameFamily(one: string, other: string): boolean {
  return isIPv6(one) === isIPv6(other);
}

export interface TlsIdentity {
  /** Certificate chain and key in PEM. A client without them presents no certificate. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Trusted authorities in PEM; the system's by default. */
  readonly ca?: string | undefined;
  /** Requires peers that connect to present a certificate of a trusted authority. */
  readonly clientCertificates?: 'required' | 'ignored' | undefined;
}

export function secureOptions({ cert, key, ca }: TlsIdentity): SecureContextOptions {
  return { minVersion: 'TLSv1.2', cert, key, ca };
}
