// One INVITE of ours, under one Call-ID, and the dialogs that come of it: the
// first that is accepted has the call, the others are let go.
import type { Journey, SendOutcome, SentInvite } from '../client/request-sender.js';
import { descriptionIn, withDescription } from '../message/body.js';
import type { SipResponse } from '../message/message.js';
import type { Reason, Refusal } from '../message/refusal.js';
import type { HeaderLine } from '../message/serialiser.js';
import { parseUri } from '../message/uri.js';
import type { UnsentRequest } from '../transaction/outgoing-request.js';
import type { Flow } from '../transport/flow.js';
import { ALLOW, SUPPORTED } from './capabilities.js';
import { type RequestContent, wayBack } from './dialog-channel.js';
import { Dialog } from './dialog.js';
import { Fork } from './fork.js';
import { InDialog } from './in-dialog.js';
import type { SessionContext } from './session-context.js';
import { SessionTimer } from './session-timer.js';
import type { Session, SessionEnd, SessionMedia } from './session.js';

export interface OutgoingInviteUser {
  /** 101-199, each of them once. */
  progressed(status: number): void;
  /** A 2xx: the call stands in this dialog. */
  answered(inDialog: InDialog): void;
  /** It was not taken back, and nothing of it stands. */
  refused(outcome: SendOutcome): void;
  /** It has ended: by either side after it was answered, or because it was taken back. */
  over(end: SessionEnd): void;
}

export interface OutgoingInviteOptions {
  readonly plan: CallPlan;
  readonly context: SessionContext;
  readonly session: Session;
  readonly user: OutgoingInviteUser;
}

const MOST_INTERVALS = 3; // 422s that are followed
const MOST_FORKS = 20; // early dialogs; a 2xx always gets its ACK

export class OutgoingInvite {
  readonly #options: OutgoingInviteOptions;
  readonly #callId: string;
  readonly #tag: string;
  readonly #forks = new Map<string, Fork>();
  readonly #timer: SessionTimer;
  #cseq: number;
  #intervals = 0;
  #offer: string | undefined;
  #sent: SentInvite | undefined;
  /** Why it was taken back. */
  #ending: SessionEnd | undefined;
  #winner: Fork | undefined;
  #latest: Fork | undefined;
  /** The one that 2xx without a To tag are of. */
  #untagged: Fork | undefined;
  #cancelLingering = (): void => undefined;

  constructor(options: OutgoingInviteOptions) {
    this.#options = options;
    const { time, token, randomInt, sessionSeconds, leastSeconds } = options.context;
    this.#callId = token();
    this.#tag = token();
    this.#cseq = randomInt(FIRST_CSEQ);
    // It only keeps what is asked for; that of the dialog runs.
    this.#timer = new SessionTimer({ time, wantedSeconds: sessionSeconds, leastSeconds, onRefresh: () => undefined, onExpired: () => undefined });
  } // prettier-ignore

  /** The dialog that has the call, or that rang last. */
  get inDialog(): InDialog | undefined {
    return (this.#winner ?? this.#latest)?.inDialog;
  }

  /** Sends it; refused where the media has no offer to make. */
  start(): Refusal | undefined {
    const { plan, context } = this.#options;
    context.carried(this.#callId, plan.media);
    const offer = plan.lateOffer ? undefined : plan.media.offer();
    if (offer?.refusal !== undefined) return offer.refusal;
    this.#offer = offer?.value;
    this.#send();
    return undefined;
  }

  /** Takes it back: `over` comes with this end, whether it was too late or not. */
  cancel(end: SessionEnd): void {
    this.#ending ??= end;
    this.#sent?.cancel();
  }

  #send(): void {
    const { context, plan } = this.#options;
    const timing = this.#timer.requestFields().filter(([name]) => name !== 'Supported');
    const { headers, body } = withDescription(this.#offer);
    const make = (more: readonly HeaderLine[]) => {
      const content = { headers: [...timing, ...context.userAgent, ...headers, ...more] };
      const numbers = { callId: this.#callId, tag: this.#tag, cseq: ++this.#cseq };
      return inviteOf(plan, numbers, body === undefined ? content : { ...content, body });
    };
    this.#sent = context.sender.invite(make, plan.journey, {
      provisional: (response) => this.#provisional(response),
      accepted: (response) => this.#accepted(response),
      refused: (outcome) => this.#refused(outcome),
    });
  }

  #provisional(response: SipResponse): void {
    if (this.#winner !== undefined) return; // of a phone that goes on ringing
    const fork = this.#provisionalFork(response);
    if (fork === undefined) return this.#options.user.progressed(response.status);
    if (response.status === 199) return this.#drop(fork); // RFC 6228
    const result = fork.provisional(response);
    if (result.refusal !== undefined) this.cancel(unusable(result.refusal));
    else if (result.value) {
      this.#latest = fork;
      this.#options.user.progressed(response.status);
    }
  }

  #accepted(response: SipResponse): void {
    const fork = this.#acceptedFork(response);
    const { inDialog } = fork;
    if (inDialog.channel.hasAcknowledged(response)) return inDialog.acknowledge(response);
    inDialog.channel.confirmed(response, this.#sent?.flow);
    if (inDialog.ended) this.#tooLate(fork, response);
    else if (this.#winner !== undefined || this.#ending !== undefined) this.#letGo(fork, response);
    else this.#take(fork, response);
  }

  /** The call is this dialog's, if its answer can be used. */
  #take(fork: Fork, response: SipResponse): void {
    const { context, plan, user } = this.#options;
    const { media } = plan;
    const { inDialog } = fork;
    this.#winner = fork;
    context.sent('INVITE', { response });
    const result = fork.accepted(response);
    this.#acknowledge(fork, response, result.value ?? { headers: [] });
    if (result.refusal !== undefined) {
      if (media.offering) media.withdraw();
      void inDialog.bye(unusable(result.refusal), reasonOf(result.refusal));
      return;
    }
    this.#lingerOthers();
    media.settle(inDialog.dialog.remoteTag);
    user.answered(inDialog);
  }

  /** Its BYE was faster than its 2xx. */
  #tooLate(fork: Fork, response: SipResponse): void {
    this.#acknowledge(fork, response, { headers: [] });
    if (this.#winner !== undefined) return;
    this.#winner = fork;
    const { plan, user } = this.#options;
    if (plan.media.offering) plan.media.withdraw();
    this.#endOthers();
    user.over(this.#ending ?? { by: 'peer' });
  }

  /** Another one has the call, or nobody wants it any more. */
  #letGo(fork: Fork, response: SipResponse): void {
    this.#acknowledge(fork, response, { headers: [] });
    const end = this.#winner === undefined ? this.#ending : undefined;
    this.#winner ??= fork;
    const { media } = this.#options.plan;
    if (media.offering && end !== undefined) media.withdraw();
    void fork.inDialog.bye(end ?? { by: 'us' }, end === undefined ? ELSEWHERE : end.reason);
  }

  #acknowledge(fork: Fork, response: SipResponse, content: { readonly headers: readonly HeaderLine[]; readonly body?: string }): void {
    const credentials = this.#sent?.credentials ?? [];
    fork.inDialog.accepted(response, () => ({ ...content, credentials }));
  } // prettier-ignore

  #refused(outcome: SendOutcome): void {
    const { context, plan, user } = this.#options;
    context.sent('INVITE', outcome);
    for (const fork of this.#forks.values()) this.#drop(fork);
    if (this.#asksAgain(outcome)) return this.#send();
    if (plan.media.offering) plan.media.withdraw();
    if (this.#ending === undefined) user.refused(outcome);
    else user.over(this.#ending);
  }

  /** Whether a 422 has told how long the interval has to be. */
  #asksAgain(outcome: SendOutcome): boolean {
    if (!('response' in outcome) || outcome.response.status !== 422 || this.#ending !== undefined) return false;
    this.#intervals++;
    return this.#intervals <= MOST_INTERVALS && this.#timer.tooShort(outcome.response.first('min-se'));
  } // prettier-ignore

  /** Undefined if there are too many, and for a response without a To tag that describes nothing: any proxy says so. */
  #provisionalFork(response: SipResponse): Fork | undefined {
    const { toTag: tag = '' } = response;
    const known = this.#forks.get(tag);
    if (known !== undefined || this.#forks.size >= MOST_FORKS) return known;
    return tag === '' && descriptionIn(response) === undefined ? undefined : this.#newFork(response);
  }

  /** Without a To tag it is from the only phone that rang, or from a peer of RFC 2543. */
  #acceptedFork(response: SipResponse): Fork {
    const { toTag: tag = '' } = response;
    if (tag !== '') return this.#forks.get(tag) ?? this.#newFork(response);
    this.#untagged ??= this.#forks.get('') ?? this.#onlyRinging() ?? this.#newFork(response);
    return this.#untagged;
  }

  #onlyRinging(): Fork | undefined {
    const [only, ...others] = this.#forks.values();
    if (only === undefined || others.length > 0 || this.#winner !== undefined) return undefined;
    this.#options.context.dialogs.lostTag(only.inDialog);
    return only;
  }

  #newFork(response: SipResponse): Fork {
    const { plan } = this.#options;
    const from = `${plan.from};tag=${this.#tag}`;
    const uri = parseUri(plan.uri) ?? plan.journey.nextHop;
    const dialog = Dialog.ofClient(response, {
      callId: this.#callId,
      tag: this.#tag,
      from,
      to: plan.to,
      uri,
    });
    const fork: Fork = new Fork(
      this.#dialogOf(dialog, response, () => fork),
      plan.media,
      plan.lateOffer,
    );
    fork.inDialog.channel.peer.note(response);
    this.#forks.set(dialog.remoteTag, fork);
    return fork;
  }

  #dialogOf(dialog: Dialog, response: SipResponse, fork: () => Fork): InDialog {
    const { plan, context, session, user } = this.#options;
    const { account, udpOnly } = plan.journey;
    const sentOver = this.#sent?.flow;
    const flow = sentOver === undefined ? undefined : wayBack(response, sentOver);
    return new InDialog({
      dialog, context, session,
      media: plan.media,
      journey: {
        ...(sentOver === undefined ? {} : { from: sentOver.local.address, lastResort: sentOver }),
        ...(flow === undefined ? {} : { flow }),
        ...(account === undefined ? {} : { account }),
        ...(udpOnly === undefined ? {} : { udpOnly }),
      },
      contact: plan.contact(sentOver),
      user: () => session.user,
      calling: true,
      over: (end) => {
        if (fork() !== this.#winner) return;
        this.#endOthers();
        user.over(end);
      },
    });
  } // prettier-ignore

  #drop(fork: Fork): void {
    this.#forks.delete(fork.inDialog.dialog.remoteTag);
    if (this.#latest === fork) this.#latest = undefined;
    fork.inDialog.end({ by: 'cancelled' });
  }

  /** A phone may be answered while the word that another was is under way: its dialog waits for that, if the call lasts. */
  #lingerOthers(): void {
    const { time, patienceMs } = this.#options.context;
    const others = [...this.#forks.values()].filter(({ inDialog }) => !inDialog.confirmed && !inDialog.ended);
    if (others.length === 0) return;
    this.#cancelLingering();
    this.#cancelLingering = time.after(patienceMs, () => this.#endOthers());
  }

  #endOthers(): void {
    this.#cancelLingering();
    const others = [...this.#forks.values()].filter(
      (fork) => fork !== this.#winner && !fork.inDialog.confirmed,
    );
    for (const fork of others) this.#drop(fork);
  }
}

const FIRST_CSEQ = 2 ** 16; // below it at random
const ELSEWHERE: Reason = { protocol: 'sip', cause: 200, text: 'Call completed elsewhere' };

function unusable({ status, reason }: Refusal): SessionEnd {
  return { by: 'us', status, reason: reasonOf({ status, reason }) };
}

function reasonOf({ status, reason }: Pick<Refusal, 'status' | 'reason'>): Reason {
  return { protocol: 'sip', cause: status, text: reason };
}

// Where a call of ours goes and as whose: everything of its INVITE that does
// not change while it is tried.

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
function inviteOf(plan: CallPlan, { callId, tag, cseq }: InviteNumbers, content: RequestContent): UnsentRequest {
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
