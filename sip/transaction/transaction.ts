// Identifies transactions: the keys that match a message with its transaction (RFC 3261, sections
// 17.1.3 and 17.2.3), and the context that all transactions of a layer share.
import type { Answerable, SipRequest, SipResponse } from '../message/message.js';
import { hostPortText } from '../message/uri.js';
import type { Via } from '../message/via.js';
import type { OutgoingRequest, Wire } from './outgoing-request.js';
import type { SipTimers, TimerQueue } from './timer-queue.js';

export const MAGIC_COOKIE = 'z9hG4bK';

/**
 * Key of a request (section 17.2.3); an ACK has the key of its INVITE. `method` selects another transaction:
 * a CANCEL looks for INVITE.
 */
export function serverKey(
  request: SipRequest,
  method = request.method === 'ACK' ? 'INVITE' : request.method,
): string {
  const { via, uri, from, callId, cseq } = request;
  const branch = via.branch ?? '';
  const sentBy = hostPortText(via.sentBy);
  if (isUnique(branch)) return `${branch} ${sentBy} ${method}`;
  // A peer of RFC 2543 has no unique branch. The To tag is compared separately.
  return `2543 ${method} ${cseq.number} ${sentBy} ${branch} ${from.tag ?? ''} ${callId} ${uri.text}`;
}

/** Key of a response (section 17.1.3). */
export function clientKey({ via, cseq }: SipResponse): string {
  return `${via.branch ?? ''} ${cseq.method}`;
}

function isUnique(branch: string): boolean {
  return branch.length > MAGIC_COOKIE.length && branch.slice(0, 7).toLowerCase() === 'z9hg4bk';
}

/** To tag of a stateless answer: the same for every retransmission (RFC 3261, section 8.2.7). */
export function statelessTag(key: string): string {
  return hashOf(key).toString(36);
}

/** Maps a text to a number from 0 to below 1, evenly distributed. */
export function spread(key: string): number {
  return hashOf(key) / 2 ** 32;
}

function hashOf(key: string): number {
  let hash = 0x811c9dc5; // FNV-1a
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  // The last characters hardly affect the high bits of FNV-1a.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/** Shared by all transactions of a layer; it replaces closures of each transaction, which cost memory. */
export interface TransactionContext {
  readonly wire: Wire;
  readonly timers: TimerQueue;
  readonly durations: SipTimers;
  /** Returns the Via for responses to a request, with the current overload control. */
  viaIn(request: Answerable): Via;
  /** Removes a transaction from the layer. */
  serverGone(key: string): void;
  clientGone(key: string): void;
  /** Reports that an INVITE of a peer is answered. */
  inviteAnswered(): void;
  /** Sends the CANCEL of this INVITE in a transaction of its own. */
  cancel(invite: OutgoingRequest): void;
}
