// Header fields that a request may add to an INVITE, and those that it may not:
// what SIP itself needs is written by the telephone door, and by nobody else.
import { ParleyError } from '../../errors.js';

export const MAX_HEADERS = 16;
export const MAX_HEADER_VALUE = 512; // characters of one value
const MAX_NAME = 64;
const MAX_BYTES = 4096; // of all of them together: an INVITE has to fit into a datagram

const TOKEN = /^[A-Za-z0-9.!%*_+`'~-]+$/; // RFC 3261, section 25.1

/** In lower case. Families are refused by their beginning. */
const RESERVED: ReadonlySet<string> = new Set(
  `via from to call-id cseq contact route record-route max-forwards
  authorization www-authenticate authentication-info require supported unsupported
  accept accept-encoding allow allow-events expires min-expires session-expires min-se
  rseq rack replaces join target-dialog refer-to referred-by refer-sub event subscription-state
  sip-etag sip-if-match mime-version date timestamp user-agent server warning retry-after reason
  path service-route recv-info info-package identity identity-info`.split(/\s+/),
);
const FAMILIES = ['content-', 'proxy-', 'security-'];

/** Throws INVALID_FIELD for a name that cannot be had, and for too much of it. Values were checked before. */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  const seen = new Set<string>();
  let bytes = 0;
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    if (name.length > MAX_NAME || !TOKEN.test(name)) throw refusal(name, 'is no name of a header field');
    // One letter is the short form of a longer name (RFC 3261, section 7.3.3).
    if (lower.length === 1 || RESERVED.has(lower) || FAMILIES.some((family) => lower.startsWith(family))) {
      throw refusal(name, 'cannot be set: SIP itself needs it');
    }
    if (seen.has(lower)) throw refusal(name, 'is there twice');
    seen.add(lower);
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
  }
  if (bytes > MAX_BYTES) {
    throw new ParleyError('INVALID_FIELD', `"headers" may have ${MAX_BYTES} bytes together`, {
      field: 'headers',
    });
  }
}

function refusal(name: string, what: string): ParleyError {
  const shown = name.slice(0, MAX_NAME).replace(/[^\x20-\x7e]/g, '?');
  return new ParleyError('INVALID_FIELD', `"headers.${shown}" ${what}`, { field: `headers.${shown}` });
}
