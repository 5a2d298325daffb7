// Where a call of ours goes and as whose: everything of its INVITE that does
// not change while it is tried.
import type { Journey } from '../client/request-sender.js';
import type { HeaderLine } from '../message/serialiser.js';
import type { UnsentRequest } from '../transaction/outgoing-request.js';
import type { Flow } from '../transport/flow.js';
import { ALLOW, SUPPORTED } from './capabilities.js';
import type { RequestContent } from './dialog-channel.js';
import type { SessionMedia } from './session-media.js';

export interface CallPlan {
  /** Request-URI. */
  readonly uri: string;
  /** Values for To and From, without tags. */
  readonly to: string;
  readonly from: string;
  /** Value for our Contact in what goes out on this flow. */
  readonly contact: (flow: Flow | undefined) => string;
  /** Values for Route, the first hop first. */
  readonly routes: readonly string[];
  /** Further fields of the INVITE: identity, privacy, Replaces, what the application wants told. */
  readonly headers: readonly HeaderLine[];
  readonly journey: Journey;
  /** Of the call by this way: trunks may differ in codecs and keys. */
  readonly media: SessionMedia;
  /** The offer is left to the peer (RFC 3264, section 4). */
  readonly lateOffer: boolean;
}

export interface InviteNumbers {
  readonly callId: string;
  readonly tag: string;
  readonly cseq: number;
}

/** `content`: the offer, if it is made now, and fields that change from try to try. */
export function inviteOf(plan: CallPlan, { callId, tag, cseq }: InviteNumbers, content: RequestContent): UnsentRequest {
  return {
    method: 'INVITE',
    uri: plan.uri,
    contact: plan.contact,
    headers: [
      ...plan.routes.map((route): HeaderLine => ['Route', route]),
      ['From', `${plan.from};tag=${tag}`],
      ['To', plan.to],
      ['Call-ID', callId],
      ['CSeq', `${cseq} INVITE`],
      ALLOW,
      SUPPORTED,
      ...plan.headers,
      ...content.headers,
    ],
    ...(content.body === undefined ? {} : { body: content.body }),
  };
} // prettier-ignore
