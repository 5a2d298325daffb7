// Parses SIP and SIPS URIs, host and port, and name-addr values (From, To, Contact, Route, Refer-To).
// Only the text and the scheme of other URIs are read.
import { isIPv6 } from 'node:net';
import {
  CHARACTERS,
  headerParameters,
  isEscapedWell,
  Parameters,
  Scanner,
  unescaped,
  unquoted,
  uriParameters,
} from './scanner.js';

const SCHEME = /^[a-zA-Z][a-zA-Z0-9+.-]*$/;
const OPAQUE = /^[\x21\x23-\x3b\x3d\x3f-\x7e]+$/; // no space, no quote, no angle brackets

export interface Uri {
  /** Spelt as received. */
  readonly text: string;
  /** Lower case. */
  readonly scheme: string;
  /** True for sip and sips. For other schemes only `text` and `scheme` have a meaning. */
  readonly isSip: boolean;
  /** Escapes resolved; undefined if the URI has none. */
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** Lower case, IPv6 without brackets; '' where the scheme is not sip or sips. */
  readonly host: string;
  readonly port: number | undefined;
  readonly params: Parameters;
  /** Header fields after the `?`, escapes resolved. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** Undefined if the text is not a URI. */
export function parseUri(text: string): Uri | undefined {
  const colon = text.indexOf(':');
  if (colon <= 0) return undefined;
  const scheme = text.slice(0, colon).toLowerCase();
  if (scheme === 'sip' || scheme === 'sips') return parseSip(text, scheme, colon + 1);
  if (!SCHEME.test(scheme) || !OPAQUE.test(text) || colon === text.length - 1) return undefined;
  const nothing = { user: undefined, password: undefined, host: '', port: undefined, headers: [] };
  return { text, scheme, isSip: false, ...nothing, params: Parameters.none };
}

/** Returns the URI without the header fields that Refer-To may carry (RFC 3261, section 19.1.5). */
export function withoutHeaders({ text, headers }: Uri): string {
  if (headers.length === 0) return text;
  return text.slice(0, text.indexOf('?', text.lastIndexOf('@') + 1)); // a `?` in the user part does not begin header fields
}

/**
 * Returns the URI as a Request-URI, without header fields and the parameter `method` (RFC 3261, section
 * 19.1.1).
 */
export function asRequestUri(uri: Uri): Uri {
  if (!uri.isSip || (uri.headers.length === 0 && !uri.params.has('method'))) return uri;
  const text = withoutHeaders(uri);
  const host = text.lastIndexOf('@') + 1; // a `;` before it belongs to the user part
  const [place = '', ...params] = text.slice(host).split(';');
  const kept = params.filter((param) => unescaped(param.split('=', 1)[0] ?? '').toLowerCase() !== 'method');
  return parseUri(text.slice(0, host) + [place, ...kept].join(';')) ?? uri;
}

function parseSip(text: string, scheme: string, start: number): Uri | undefined {
  const scanner = new Scanner(text, start);
  const info = userInfo(scanner);
  const place: HostPort | undefined = info === undefined ? undefined : hostPort(scanner);
  if (info === undefined || place === undefined) return undefined;
  const params = uriParameters(scanner);
  const headers = uriHeaders(scanner);
  if (params === undefined || headers === undefined || !scanner.done) return undefined;
  const { user, password } = info;
  return { text, scheme, isSip: true, user, password, host: place.host, port: place.port, params, headers };
}

interface UserInfo {
  readonly user: string | undefined;
  readonly password: string | undefined;
}

function userInfo(scanner: Scanner): UserInfo | undefined {
  const end = scanner.text.indexOf('@', scanner.at);
  if (end < 0) return { user: undefined, password: undefined };
  const info = scanner.run(CHARACTERS.USER_INFO);
  if (scanner.at !== end || info === '' || !isEscapedWell(info)) return undefined;
  scanner.at = end + 1;
  const colon = info.indexOf(':');
  if (colon < 0) return { user: unescaped(info), password: undefined };
  return { user: unescaped(info.slice(0, colon)), password: unescaped(info.slice(colon + 1)) };
}

function uriHeaders(scanner: Scanner): [string, string][] | undefined {
  const headers: [string, string][] = [];
  if (!scanner.take('?')) return headers;
  do {
    const name = scanner.run(CHARACTERS.URI_HEADER);
    if (name === '' || !scanner.take('=')) return undefined;
    const value = scanner.run(CHARACTERS.URI_HEADER);
    if (!isEscapedWell(name) || !isEscapedWell(value)) return undefined;
    headers.push([unescaped(name), unescaped(value)]);
  } while (scanner.take('&'));
  return headers;
}

const MAX_HOST = 255;

export interface HostPort {
  /** Lower case; an IPv6 address without its brackets. */
  readonly host: string;
  readonly port: number | undefined;
}

/**
 * Undefined if the host is missing or the port is invalid. `spaced` allows white space around the colon, as
 * in Via.
 */
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

/** Writes host and port, with brackets around an IPv6 address. */
export function hostPortText({ host, port }: HostPort): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return port === undefined ? name : `${name}:${port}`;
}

/** Removes the brackets that some peers put around an IPv6 address (RFC 5118, section 4.5). */
export function withoutBrackets(address: string): string {
  return address.startsWith('[') && address.endsWith(']') ? address.slice(1, -1) : address;
}

function bracketed(scanner: Scanner): string | undefined {
  const address = scanner.run(CHARACTERS.ADDRESS).toLowerCase();
  if (!scanner.take(']')) return undefined;
  if (isIPv6(address)) return address;
  // The grammar of RFC 3261 produces three colons before an IPv4 part. RFC 5118, section 4.10, asks to
  // accept them.
  const mended = address.replace(/:::(?=\d+\.)/, '::');
  return isIPv6(mended) ? mended : undefined;
}

function portNumber(digits: string): number | undefined {
  if (digits === '' || digits.length > 5) return undefined;
  const port = Number(digits);
  return port <= 65_535 ? port : undefined;
}

export interface NameAddr {
  /** Without quotes; undefined if absent. */
  readonly displayName: string | undefined;
  readonly uri: Uri;
  /** Parameters of the header field, not of the URI. */
  readonly params: Parameters;
  readonly tag: string | undefined;
}

// More than the grammar's tokens: unquoted names in plain UTF-8 are common and harmless.
const LOOSE_NAME = /^[^",;<>\\]*$/;

/** Undefined if the value is malformed. */
export function parseNameAddr(value: string): NameAddr | undefined {
  const scanner = new Scanner(value);
  scanner.space();
  const quotedName = scanner.quoted();
  if (quotedName !== undefined) return inBrackets(scanner.space(), unquoted(quotedName));
  const bracket = value.indexOf('<', scanner.at);
  if (bracket < 0) return bare(scanner);
  const name = value.slice(scanner.at, bracket).trim();
  if (!LOOSE_NAME.test(name)) return undefined;
  scanner.at = bracket;
  return inBrackets(scanner, name === '' ? undefined : name);
}

function inBrackets(scanner: Scanner, displayName: string | undefined): NameAddr | undefined {
  if (!scanner.take('<')) return undefined;
  const end = scanner.text.indexOf('>', scanner.at);
  const uri = end < 0 ? undefined : parseUri(scanner.text.slice(scanner.at, end));
  if (uri === undefined) return undefined;
  scanner.at = end + 1;
  return withParameters(scanner, displayName, uri);
}

/**
 * Parses an address without brackets: its parameters belong to the header field, not to the URI (RFC 3261,
 * section 20).
 */
function bare(scanner: Scanner): NameAddr | undefined {
  const { text, at } = scanner;
  let end = at;
  while (end < text.length && !' \t;?,'.includes(text.charAt(end))) end++;
  const uri = text.charAt(end) === '?' ? undefined : parseUri(text.slice(at, end));
  if (uri === undefined) return undefined;
  scanner.at = end;
  return withParameters(scanner, undefined, uri);
}

function withParameters(scanner: Scanner, displayName: string | undefined, uri: Uri): NameAddr | undefined {
  const params = headerParameters(scanner);
  return params === undefined ? undefined : { displayName, uri, params, tag: params.get('tag') };
}
