// Further fields that an application wants in an INVITE: judged before they go
// into a message, for what SIP itself needs is not theirs to set.
import { ParleyError } from '../../src/errors.js';
import { headerKey } from '../message/header-fields.js';
import { isToken } from '../message/scanner.js';
import type { HeaderLine } from '../message/serialiser.js';

const MOST_FIELDS = 32;
const MOST_CHARACTERS = 1000;

/** Long and lower case; also everything that begins with `proxy-`, `content-` or `sip-`. */
const RESERVED: ReadonlySet<string> = new Set([
  'accept', 'allow', 'allow-events', 'authentication-info', 'authorization', 'call-id', 'contact', 'cseq', 'date', 'event',
  'expires', 'from', 'identity', 'max-forwards', 'mime-version', 'min-expires', 'min-se', 'p-asserted-identity',
  'p-preferred-identity', 'path', 'privacy', 'rack', 'record-route', 'refer-to', 'referred-by', 'replaces', 'require',
  'route', 'rseq', 'server', 'service-route', 'session-expires', 'subscription-state', 'supported', 'timestamp', 'to',
  'unsupported', 'user-agent', 'via', 'www-authenticate',
]); // prettier-ignore

/** INVALID_FIELD with the name of the field that cannot be sent. */
export function callerHeaders(headers: Readonly<Record<string, string>> = {}): readonly HeaderLine[] {
  const entries = Object.entries(headers);
  if (entries.length > MOST_FIELDS) throw invalid('headers', `must have at most ${MOST_FIELDS} fields`);
  return entries.map(([name, value]): HeaderLine => {
    const field = `headers.${name.slice(0, 100)}`;
    const key = headerKey(name);
    if (!isToken(name) || name.length > 100) throw invalid(field, 'is no name of a header field');
    if (RESERVED.has(key) || /^(?:proxy|content|sip)-/.test(key)) throw invalid(field, 'is for SIP itself to set');
    // oxlint-disable-next-line no-control-regex -- control characters are what is being refused
    const isLine = typeof value === 'string' && !/[\x00-\x1f\x7f]/.test(value);
    if (!isLine || value.length > MOST_CHARACTERS) throw invalid(field, `must be a line of at most ${MOST_CHARACTERS} characters`);
    return [name, value];
  });
} // prettier-ignore

export function invalid(field: string, what: string): ParleyError {
  return new ParleyError('INVALID_FIELD', `${field} ${what}`, { field });
}
