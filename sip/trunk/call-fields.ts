// Checks the fields of a call request that go into an INVITE: addresses (numbers, names, tel and SIP URIs)
// and further header fields.
import { ParleyError } from '../../src/errors.js';
import { headerKey } from '../message/head.js';
import { isToken } from '../message/scanner.js';
import type { HeaderLine } from '../message/serialiser.js';
import { asRequestUri, parseUri, type Uri } from '../message/uri.js';

/** A user whose domain is to be completed, or a complete URI. */
export type WrittenAddress =
  | { readonly kind: 'user'; readonly user: string; readonly isNumber: boolean }
  | { readonly kind: 'uri'; readonly uri: Uri };

const NUMBER = /^\+?[\d*#]+$/;
const NAME = /^[\w.~!*'&=+$,%-]{1,100}$/;
const MOST_ADDRESS_CHARACTERS = 512;

/**
 * Returns undefined for text that is neither a number nor a name nor a URI. A URI with headers (`?`) is
 * refused.
 */
export function readAddress(text: string): WrittenAddress | undefined {
  const plain = text.trim();
  if (plain === '' || plain.length > MOST_ADDRESS_CHARACTERS) return undefined;
  if (/^sips?:/i.test(plain)) return ofUri(plain);
  if (/^tel:/i.test(plain)) return ofTel(plain.slice('tel:'.length));
  if (plain.includes('@')) return ofUri(`sip:${plain}`);
  const number = plain.replace(/[ ().-]/g, '');
  if (NUMBER.test(number)) return { kind: 'user', user: number, isNumber: true };
  return NAME.test(plain) ? { kind: 'user', user: plain, isNumber: false } : undefined;
}

/** The SIP URI of a user at a domain. The name may contain any characters. */
export function addressAt(user: string, domain: string): string {
  return `sip:${escapedUser(user)}@${domain}`;
}

/** Escapes characters that the user part does not allow (RFC 3261, section 25.1). */
function escapedUser(user: string): string {
  return encodeURIComponent(user).replace(/%(?:2B|26|3D|24|2C|3F|2F)/g, (escape) =>
    decodeURIComponent(escape),
  );
}

function ofUri(text: string): WrittenAddress | undefined {
  const uri = parseUri(text);
  const isUsable = uri !== undefined && uri.isSip && uri.headers.length === 0 && !/[<>\s"]/.test(text);
  return isUsable ? { kind: 'uri', uri: asRequestUri(uri) } : undefined;
}

/** A local number keeps its phone-context in the user part (RFC 3261, section 19.1.6). */
function ofTel(text: string): WrittenAddress | undefined {
  const [written = '', ...params] = text.split(';');
  const number = written.replace(/[().-]/g, '');
  if (!NUMBER.test(number)) return undefined;
  const context = params.find((param) => /^phone-context=[\w.+-]{1,100}$/i.test(param));
  if (!number.startsWith('+') && context === undefined) return undefined;
  return {
    kind: 'user',
    user: number.startsWith('+') ? number : `${number};${context ?? ''}`,
    isNumber: true,
  };
}

const MOST_FIELDS = 32;
const MOST_HEADER_CHARACTERS = 1000;

/** Long names in lower case; names that begin with `proxy-`, `content-` or `sip-` are reserved, too. */
// prettier-ignore
const RESERVED: ReadonlySet<string> = new Set([
  'accept', 'allow', 'allow-events', 'authentication-info', 'authorization', 'call-id', 'contact', 'cseq',
  'date', 'event', 'expires', 'from', 'identity', 'max-forwards', 'mime-version', 'min-expires', 'min-se',
  'p-asserted-identity', 'p-preferred-identity', 'path', 'privacy', 'rack', 'record-route', 'refer-to',
  'referred-by', 'replaces', 'require', 'route', 'rseq', 'server', 'service-route', 'session-expires',
  'subscription-state', 'supported', 'timestamp', 'to', 'unsupported', 'user-agent', 'via',
  'www-authenticate',
]);

/**
 * Checks the header fields that an application adds to an INVITE. Throws INVALID_FIELD with the name of a
 * field that may not be set: SIP sets those itself.
 */
export function callerHeaders(headers: Readonly<Record<string, string>> = {}): readonly HeaderLine[] {
  const entries = Object.entries(headers);
  if (entries.length > MOST_FIELDS) throw invalid('headers', `must have at most ${MOST_FIELDS} fields`);
  return entries.map(([name, value]): HeaderLine => {
    const field = `headers.${name.slice(0, 100)}`;
    const key = headerKey(name);
    if (!isToken(name) || name.length > 100) throw invalid(field, 'is no name of a header field');
    if (RESERVED.has(key) || /^(?:proxy|content|sip)-/.test(key))
      throw invalid(field, 'is for SIP itself to set');
    // oxlint-disable-next-line no-control-regex -- control characters are what is being refused
    const isLine = typeof value === 'string' && !/[\x00-\x1f\x7f]/.test(value);
    if (!isLine || value.length > MOST_HEADER_CHARACTERS)
      throw invalid(field, `must be a line of at most ${MOST_HEADER_CHARACTERS} characters`);
    return [name, value];
  });
}

export function invalid(field: string, what: string): ParleyError {
  return new ParleyError('INVALID_FIELD', `${field} ${what}`, { field });
}
