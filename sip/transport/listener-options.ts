// Where to listen, and as whom.
import { isIPv6 } from 'node:net';
import { ParleyError } from '../../src/errors.js';
import { hostPortText } from '../message/uri.js';
import { type Flow, type TransportName, viaTransport } from './flow.js';
import type { TlsIdentity } from './tls-identity.js';

export interface ListenerOptions {
  readonly transport: TransportName;
  /** An address. 127.0.0.1 if there is none: nobody listens to the world by accident. */
  readonly host?: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** What peers reach it under, where that is not the address it listens on (behind NAT, or on every address). */
  readonly advertised?: { readonly host: string; readonly port?: number };
  /** For tls and wss. */
  readonly tls?: TlsIdentity;
}

export const LOOPBACK = '127.0.0.1';

/** Throws CONFIG_INVALID if peers could not be told a way back, or TLS has no certificate. */
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

/** The Via of a request that goes out on this flow. */
export function viaText(flow: Flow, sentBy: SentBy, branch: string, aliases: boolean): string {
  const place = hostPortText(sentBy);
  const alias = aliases && (flow.transport === 'tcp' || flow.transport === 'tls') ? ';alias' : '';
  const rport = flow.reliable ? '' : ';rport';
  return `SIP/2.0/${viaTransport(flow.transport)} ${place};branch=${branch}${rport}${alias}`;
}

export function sameFamily(one: string, other: string): boolean {
  return isIPv6(one) === isIPv6(other);
}
