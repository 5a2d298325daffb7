// What both client transactions are to the user: a request of ours, and what came of it.
import type { SipResponse } from '../message/message.js';
import type { RequestData } from '../message/serialiser.js';
import type { Flow, TransportFailure } from '../transport/flow.js';

export interface ClientTransaction {
  readonly request: RequestData;
  readonly branch: string;
  /** Which way it went; undefined until it was sent. */
  readonly flow: Flow | undefined;
  /** Whether nothing more will come. */
  readonly over: boolean;
}

export interface ClientUser {
  /** Every provisional response and the final one; of an INVITE every 2xx that comes, of all branches and each time. */
  response(response: SipResponse): void;
  /** No final response came. To the user it is as if this status had come (RFC 3261, section 8.1.3.1). */
  failed(failure: ClientFailure): void;
}

export interface ClientFailure {
  readonly reason: TransportFailure | 'no-answer' | 'cancelled';
  readonly status: 408 | 487 | 503;
}

export function clientFailure(reason: ClientFailure['reason']): ClientFailure {
  if (reason === 'no-answer') return { reason, status: 408 };
  return { reason, status: reason === 'cancelled' ? 487 : 503 };
}
