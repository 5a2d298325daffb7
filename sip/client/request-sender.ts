// Requests of ours on their way to whoever is responsible: the next hop is
// looked up (RFC 3263), others are tried where it cannot be reached or says 503,
// and a challenge is answered where there is an account for it.
import type { DigestClient } from '../auth/digest-client.js';
import type { HeaderLine, RequestData } from '../message/serialiser.js';
import type { SipResponse } from '../message/response.js';
import type { Uri } from '../message/uri.js';
import type { UnsentRequest } from '../transaction/outgoing-request.js';
import type { SentAck } from '../transaction/sent-ack.js';
import type { ClientFailure } from '../transaction/client-transaction.js';
import type { Flow } from '../transport/flow.js';

export interface Journey {
  /** The first Route, or the Request-URI. */
  readonly nextHop: Uri;
  /** The connection that the peer came in on, taken while it stands. */
  readonly flow?: Flow;
  /** Answers challenges of this peer. */
  readonly account?: DigestClient;
}

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

export interface RequestSender {
  /** Any request but INVITE and ACK. Never rejects; resolves within 64 T1 a target, four targets at most. */
  send(make: RequestMaker, journey: Journey): Promise<SendOutcome>;
  invite(make: RequestMaker, journey: Journey, user: InviteUser): SentInvite;
  /** The ACK of a 2xx; undefined where there is no way (it is told as if it were lost). */
  ack(data: RequestData, journey: Journey): Promise<SentAck | undefined>;
}
