// host [":" port], as in URIs and in Via.
import { isIPv6 } from 'node:net';
import { CHARACTERS, type Scanner } from './scanner.js';

const MAX_HOST = 255;

export interface HostPort {
  /** Lower case; an IPv6 address without its brackets. */
  readonly host: string;
  readonly port: number | undefined;
}

/** Undefined where there is no host, or a port that is none. `spaced`: white space around the colon is legal in Via. */
export function hostPort(scanner: Scanner, spaced = false): HostPort | undefined {
  const host = scanner.take('[') ? bracketed(scanner) : scanner.run(CHARACTERS.HOST).toLowerCase();
  if (host === undefined || host === '' || host.length > MAX_HOST) return undefined;
  const before = scanner.at;
  if (spaced) scanner.space();
  if (!scanner.take(':')) {
    scanner.at = before;
    return { host, port: undefined };
  }
  if (spaced) scanner.space();
  const port = portNumber(scanner.run(CHARACTERS.DIGIT));
  return port === undefined ? undefined : { host, port };
}

/** The text of host and port with brackets where they belong. */
export function hostPortText({ host, port }: HostPort): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return port === undefined ? name : `${name}:${port}`;
}

/** An IPv6 address without the brackets that some put around it (RFC 5118, section 4.5). */
export function withoutBrackets(address: string): string {
  return address.startsWith('[') && address.endsWith(']') ? address.slice(1, -1) : address;
}

function bracketed(scanner: Scanner): string | undefined {
  const address = scanner.run(CHARACTERS.ADDRESS).toLowerCase();
  if (!scanner.take(']')) return undefined;
  if (isIPv6(address)) return address;
  // The grammar of RFC 3261 makes three colons before an IPv4 part; they are to be understood (RFC 5118, section 4.10).
  const mended = address.replace(/:::(?=\d+\.)/, '::');
  return isIPv6(mended) ? mended : undefined;
}

function portNumber(digits: string): number | undefined {
  if (digits === '' || digits.length > 5) return undefined;
  const port = Number(digits);
  return port <= 65_535 ? port : undefined;
}
