// Requests of ours on their way to whoever is responsible: the next hop is
// looked up (RFC 3263), others are tried where it cannot be reached or says 503,
// and a challenge is answered where there is an account for it.
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
  /** The connection that the peer came in on, taken while it stands. */
  readonly flow?: Flow;
  /** The flow of the INVITE: taken where the next hop is a name that leads nowhere. */
  readonly lastResort?: Flow;
  /** The address of ours that the call is at: its peer is to be written to from there. */
  readonly from?: string;
  /** Over UDP no request changes to TCP, however large it is. */
  readonly udpOnly?: boolean;
  /** Answers challenges of its peer, and of nobody else. */
  readonly account?: PeerAccount;
  /** Whoever is found by it is the account's peer: the way was configured, or told by its registrar. Not within calls. */
  readonly leadsToPeer?: boolean;
}

/** What requests within a call keep to, by whose call it is. */
export type PeerJourney = Pick<Journey, 'account' | 'udpOnly'>;

/** Made anew for each try, with a new CSeq; `more` are the fields that it needs besides. */
export type RequestMaker = (more: readonly HeaderLine[]) => UnsentRequest;

/** `flow`: the way that the answered request went. */
export type SendOutcome =
  { readonly response: SipResponse; readonly flow?: Flow | undefined } | { readonly failure: ClientFailure };

export interface InviteUser {
  /** 101-199; of every dialog that the INVITE makes. */
  provisional(response: SipResponse): void;
  /** Every 2xx that comes, repetitions included: each wants an ACK. */
  accepted(response: SipResponse): void;
  /** The final response that is no 2xx, or that nobody could be reached; never after a 2xx. */
  refused(outcome: SendOutcome): void;
}

export interface SentInvite {
  /** Where the last try went, once it is known: requests within the dialog may go the same way. */
  readonly flow: Flow | undefined;
  /** Authorization fields of the last try; the ACK of its 2xx has the same (RFC 3261, section 22.1). */
  readonly credentials?: readonly HeaderLine[];
  /** Takes it back; `refused` still comes, or `accepted` where it was too late. Further targets are not tried. */
  cancel(): void;
}

export interface Acknowledgement {
  /** The 2xx has come again, and with it the same ACK goes: to where the peer is now, if it did not arrive. */
  again(): void;
}

export interface RequestSender {
  /** Any request but INVITE and ACK. Never rejects; resolves within 64 T1 a target, four targets at most. */
  send(make: RequestMaker, journey: Journey): Promise<SendOutcome>;
  invite(make: RequestMaker, journey: Journey, user: InviteUser): SentInvite;
  /**
   * The ACK of a 2xx. `journey` is asked whenever a way has to be found; `credentials` are those of the INVITE, for the
   * account's peer only.
   */
  ack(data: RequestData, journey: () => Journey, credentials?: readonly HeaderLine[]): Acknowledgement;
}
