// What transaction a message belongs to.
import { hostPortText } from '../message/uri.js';
import type { SipRequest, SipResponse } from '../message/message.js';

export const MAGIC_COOKIE = 'z9hG4bK';

/** Of a request, as RFC 3261, section 17.2.3 says; an ACK has that of its INVITE. `method` asks for another's: a CANCEL looks for INVITE. */
export function serverKey(
  request: SipRequest,
  method = request.method === 'ACK' ? 'INVITE' : request.method,
): string {
  const { via, uri, from, callId, cseq } = request;
  const branch = via.branch ?? '';
  const sentBy = hostPortText(via.sentBy);
  if (isUnique(branch)) return `${branch} ${sentBy} ${method}`;
  // A peer of RFC 2543 has no branch of its own for each transaction. The To tag is compared apart.
  return `2543 ${method} ${cseq.number} ${sentBy} ${branch} ${from.tag ?? ''} ${callId} ${uri.text}`;
}

/** Of a response, as RFC 3261, section 17.1.3 says. */
export function clientKey({ via, cseq }: SipResponse): string {
  return `${via.branch ?? ''} ${cseq.method}`;
}

function isUnique(branch: string): boolean {
  return branch.length > MAGIC_COOKIE.length && branch.slice(0, 7).toLowerCase() === 'z9hg4bk';
}

/** The same for every retransmission of a request that nothing is kept of (RFC 3261, section 8.2.7). */
export function statelessTag(key: string): string {
  return hashOf(key).toString(36);
}

/** A number from 0 to below 1 for each text, evenly spread. */
export function spread(key: string): number {
  return hashOf(key) / 2 ** 32;
}

function hashOf(key: string): number {
  let hash = 0x811c9dc5; // FNV-1a
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  // Its high bits follow the last characters too little.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
