// What both server transactions are to the user: a request, and a way to answer it.
import type { SipRequest } from '../message/message.js';
import type { ResponseData } from '../message/serialiser.js';
import type { Flow } from '../transport/flow.js';

export interface ServerTransaction {
  readonly request: SipRequest;
  readonly flow: Flow;
  /** The tag that responses get where To came without one: that of the dialog, if one comes of it. */
  readonly toTag: string;
  /** Whether a final response was given, or the transaction is over. */
  readonly answered: boolean;
  /** Whether a final response was given that is no 2xx. */
  readonly refused: boolean;
  /** Sends it; after a final one, nothing more is sent. False if it is too late. */
  respond(response: Omit<ResponseData, 'toTag'>): boolean;
  /** Whom to tell; set it when the request is handed over. */
  user: ServerUser;
}

/** What a user may want to hear of a request that it was handed. */
export interface ServerUser {
  /** INVITE only: the peer takes it back. It is for the user to answer 487. */
  cancelled?(cancel: SipRequest): void;
  /** INVITE only: the ACK of a final response that was no 2xx has come. */
  acknowledged?(): void;
  /** It is over; `why` says whether a response could not be sent, or no ACK came (Timer H). */
  ended?(why: ServerEnd): void;
}

export type ServerEnd = 'done' | 'unacknowledged' | 'transport';
