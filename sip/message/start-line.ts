// The first line of a message: strict, a space apart, nothing more (RFC 3261, section 7).
import { isToken } from './scanner.js';

export type StartLine =
  | { readonly kind: 'request'; readonly method: string; readonly uri: string; readonly version: string }
  | { readonly kind: 'response'; readonly status: number; readonly reason: string; readonly version: string }
  /** SIP, but not well-formed. What is taken for the method is good enough to tell an ACK. */
  | { readonly kind: 'bad-request'; readonly method: string }
  | { readonly kind: 'bad-response' }
  | { readonly kind: 'not-sip' };

const RESPONSE = /^SIP\/(\d+\.\d+) ([1-6]\d\d)(?: (.*))?$/is;
const REQUEST = /^([^ ]+) ([^ ]+) SIP\/(\d+\.\d+)$/i;
const REQUEST_LIKE = /^\s*([^\s]+)\s.*\sSIP\/\d+\.\d+\s*$/is;

export function parseStartLine(line: string): StartLine {
  if (/^SIP\//i.test(line)) return responseLine(line);
  const match = REQUEST.exec(line);
  if (match === null) {
    const like = REQUEST_LIKE.exec(line);
    return like === null ? { kind: 'not-sip' } : { kind: 'bad-request', method: like[1] ?? '' };
  }
  const [, method = '', uri = '', version = ''] = match;
  return isToken(method) ? { kind: 'request', method, uri, version } : { kind: 'not-sip' };
}

function responseLine(line: string): StartLine {
  const match = RESPONSE.exec(line);
  if (match === null) return { kind: 'bad-response' };
  const [, version = '', status = '', reason = ''] = match;
  return { kind: 'response', status: Number(status), reason, version };
}
