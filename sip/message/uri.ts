// SIP and SIPS URIs taken apart, and the text of any other.
import { type HostPort, hostPort } from './host.js';
import { Parameters, uriParameters } from './parameters.js';
import { CHARACTERS, isEscapedWell, Scanner, unescaped } from './scanner.js';

const SCHEME = /^[a-zA-Z][a-zA-Z0-9+.-]*$/;
const OPAQUE = /^[\x21\x23-\x3b\x3d\x3f-\x7e]+$/; // no space, no quote, no angle brackets

export interface Uri {
  /** As it came. */
  readonly text: string;
  /** Lower case. */
  readonly scheme: string;
  /** Whether the scheme is sip or sips; for any other only `text` and `scheme` mean something. */
  readonly isSip: boolean;
  /** Escapes resolved; undefined where the URI has none. */
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** Lower case, IPv6 without brackets; '' where the scheme is not sip or sips. */
  readonly host: string;
  readonly port: number | undefined;
  readonly params: Parameters;
  /** What stands behind the `?`, escapes resolved. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** Undefined where the text is no URI. */
export function parseUri(text: string): Uri | undefined {
  const colon = text.indexOf(':');
  if (colon <= 0) return undefined;
  const scheme = text.slice(0, colon).toLowerCase();
  if (scheme === 'sip' || scheme === 'sips') return parseSip(text, scheme, colon + 1);
  if (!SCHEME.test(scheme) || !OPAQUE.test(text) || colon === text.length - 1) return undefined;
  const nothing = { user: undefined, password: undefined, host: '', port: undefined, headers: [] };
  return { text, scheme, isSip: false, ...nothing, params: Parameters.none };
}

/** The text without the header fields that a URI in Refer-To may bring along: whom to call (RFC 3261, section 19.1.5). */
export function withoutHeaders({ text, headers }: Uri): string {
  if (headers.length === 0) return text;
  return text.slice(0, text.indexOf('?', text.lastIndexOf('@') + 1)); // one in the user part is none
}

/** As a Request-URI, which has neither header fields nor the parameter `method` (RFC 3261, section 19.1.1). */
export function asRequestUri(uri: Uri): Uri {
  if (!uri.isSip || (uri.headers.length === 0 && !uri.params.has('method'))) return uri;
  const text = withoutHeaders(uri);
  const host = text.lastIndexOf('@') + 1; // what looks like a parameter before it is of the user part
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
