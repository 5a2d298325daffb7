// Declares how requests of ours are sent: the next hop is resolved (RFC 3263), other targets are tried
// if one is unreachable or answers 503, and a challenge is answered if there is an account for it.
import type { HeaderLine, RequestData } from '../message/serialiser.js';
import type { SipResponse } from '../message/message.js';
import type { Uri } from '../message/uri.js';
import type { UnsentRequest } from '../transaction/outgoing-request.js';
import type { ClientFailure } from '../transaction/client-transaction.js';
import type { Flow } from '../transport/flow.js';
import type { PeerAccount } from './peer-account.js';

export interface Journey {
  /** The first Route, or the Request-URI. */
  readonly nextHop: Uri;
  /** Connection of the peer's own request, used while it is open. */
  readonly flow?: Flow | undefined;
  /** Flow of the INVITE, used if the next hop resolves to nothing. */
  readonly lastResort?: Flow | undefined;
  /** Local address of the call, from which its peer expects requests. */
  readonly from?: string | undefined;
  /** Large requests stay on UDP. */
  readonly udpOnly?: boolean | undefined;
  /** Account that answers challenges of its own peer only. */
  readonly account?: PeerAccount | undefined;
  /**
   * The next hop leads to the account's peer, because it was configured or given by the registrar. Not set
   * within calls.
   */
  readonly leadsToPeer?: boolean;
}

/** Settings of the peer for requests within a call. */
export type PeerJourney = Pick<Journey, 'account' | 'udpOnly'>;

/** Builds the request for each attempt, with a new CSeq; `more` are additional fields. */
export type RequestMaker = (more: readonly HeaderLine[]) => UnsentRequest;

/** `flow` carried the answered request. */
export type SendOutcome =
  { readonly response: SipResponse; readonly flow?: Flow | undefined } | { readonly failure: ClientFailure };

export interface InviteUser {
  /** Receives 101-199 of every dialog that the INVITE creates. */
  provisional(response: SipResponse): void;
  /** Receives every 2xx including retransmissions; each needs an ACK. */
  accepted(response: SipResponse): void;
  /** Receives the final response other than 2xx, or the failure to reach any target; never after a 2xx. */
  refused(outcome: SendOutcome): void;
}

export interface SentInvite {
  /** Flow of the last attempt, once known; requests within the dialog may use it. */
  readonly flow: Flow | undefined;
  /**
   * Authorization fields of the last attempt; the ACK of its 2xx carries the same (RFC 3261, section 22.1).
   */
  readonly credentials?: readonly HeaderLine[];
  /**
   * Cancels the INVITE; `refused` follows, or `accepted` if it was too late. No further targets are tried.
   */
  cancel(): void;
}

export interface Acknowledgement {
  /**
   * Sends the same ACK for a retransmitted 2xx, to the peer's current address if the first ACK did not
   * arrive.
   */
  again(): void;
}

export interface RequestSender {
  /**
   * Sends any request but INVITE and ACK. Never rejects; resolves within 64 T1 per target, with four targets
   * at most.
   */
  send(make: RequestMaker, journey: Journey): Promise<SendOutcome>;
  invite(make: RequestMaker, journey: Journey, user: InviteUser): SentInvite;
  /**
   * Sends the ACK of a 2xx. `journey` is called for each lookup; `credentials` are those of the INVITE and
   * go to the account's peer only.
   */
  ack(data: RequestData, journey: () => Journey, credentials?: readonly HeaderLine[]): Acknowledgement;
}
