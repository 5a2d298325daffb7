// What transactions need of the transports. `Transports` is one.
import type { Answerable } from '../message/message.js';
import type { Via } from '../message/via.js';
import type { Flow, TransportFailure } from '../transport/flow.js';
import type { Target } from '../transport/outbound.js';
import type { BytesFor, Sent } from '../transport/transports.js';
import type { OutgoingRequest } from './outgoing-request.js';
import type { SipTimers } from './sip-timers.js';
import type { TimerQueue } from './timer-queue.js';

export interface Wire {
  send(target: Target, bytesFor: BytesFor): Promise<Sent | TransportFailure>;
  respond(bytes: Buffer, via: Via, flow: Flow): Promise<boolean>;
  viaFor(flow: Flow, branch: string): string;
  /** A request came in on this flow, whose peer may want to be reached on it. */
  alias?(flow: Flow, via: Via): void;
}

/** What all transactions of a layer share. Without closures of its own a transaction costs little. */
export interface TransactionContext {
  readonly wire: Wire;
  readonly timers: TimerQueue;
  readonly durations: SipTimers;
  /** The Via that responses to a request carry now. */
  viaIn(request: Answerable): Via;
  /** A transaction is over: nothing more is handed to it. */
  serverGone(key: string): void;
  clientGone(key: string): void;
  /** An INVITE of a peer does not wait any more. */
  inviteAnswered(): void;
  /** Sends the CANCEL of this INVITE, as a transaction of its own. */
  cancel(invite: OutgoingRequest): void;
}
