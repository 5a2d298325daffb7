// Sends one INVITE of ours under one Call-ID and manages its dialogs: the first accepted one has the
// call, the others are ended. CallPlan holds the parts of the INVITE that stay the same over its
// attempts.
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

interface OutgoingInviteUser {
  /** A provisional response 101-199, each once. */
  progressed(status: number): void;
  /** A 2xx: this dialog has the call. */
  answered(inDialog: InDialog): void;
  /** The INVITE was refused without being cancelled. */
  refused(outcome: SendOutcome): void;
  /** The call has ended after its answer, or the INVITE was cancelled. */
  over(end: SessionEnd): void;
}

interface OutgoingInviteOptions {
  readonly plan: CallPlan;
  readonly context: SessionContext;
  readonly session: Session;
  readonly user: OutgoingInviteUser;
}

const MOST_INTERVALS = 3; // number of 422 responses that are followed
const MOST_FORKS = 20; // limit of early dialogs; a 2xx always gets its ACK

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
  /** Why it was cancelled. */
  #ending: SessionEnd | undefined;
  #winner: Fork | undefined;
  #latest: Fork | undefined;
  /** Dialog of 2xx responses without a To tag. */
  #untagged: Fork | undefined;
  #cancelLingering = (): void => undefined;

  constructor(options: OutgoingInviteOptions) {
    this.#options = options;
    const { time, token, randomInt, sessionSeconds, leastSeconds } = options.context;
    this.#callId = token();
    this.#tag = token();
    this.#cseq = randomInt(FIRST_CSEQ);
    // This timer only holds the requested values; the dialog's own timer runs.
    this.#timer = new SessionTimer({
      time,
      wantedSeconds: sessionSeconds,
      leastSeconds,
      onRefresh: () => undefined,
      onExpired: () => undefined,
    });
  }

  /** Dialog that has the call, or the latest that rang. */
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

  /** Cancels the INVITE; `over` follows with this end even if it was too late. */
  cancel(end: SessionEnd): void {
    this.#ending ??= end;
    this.#sent?.cancel();
  }

  #send(): void {
    const { context, plan } = this.#options;
    const timing = this.#timer.requestFields().filter(([name]) => name !== 'Supported');
    const { headers, body } = withDescription(this.#offer);
    const make = (more: readonly HeaderLine[]) => {
      const content = { headers: [...timing, ...context.userAgent, ...headers, ...more], body };
      const numbers = { callId: this.#callId, tag: this.#tag, cseq: ++this.#cseq };
      return inviteOf(plan, numbers, content);
    };
    this.#sent = context.sender.invite(make, plan.journey, {
      provisional: (response) => this.#provisional(response),
      accepted: (response) => this.#accepted(response),
      refused: (outcome) => this.#refused(outcome),
    });
  }

  #provisional(response: SipResponse): void {
    if (this.#winner !== undefined) return; // from a phone that continues to ring
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

  /** Gives the call to this dialog if its answer is usable. */
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

  /** Handles a 2xx that arrives after the BYE of its dialog. */
  #tooLate(fork: Fork, response: SipResponse): void {
    this.#acknowledge(fork, response, { headers: [] });
    if (this.#winner !== undefined) return;
    this.#winner = fork;
    const { plan, user } = this.#options;
    if (plan.media.offering) plan.media.withdraw();
    this.#endOthers();
    user.over(this.#ending ?? { by: 'peer' });
  }

  /** Ends a dialog because another one has the call or the call was cancelled. */
  #letGo(fork: Fork, response: SipResponse): void {
    this.#acknowledge(fork, response, { headers: [] });
    const end = this.#winner === undefined ? this.#ending : undefined;
    this.#winner ??= fork;
    const { media } = this.#options.plan;
    if (media.offering && end !== undefined) media.withdraw();
    void fork.inDialog.bye(end ?? { by: 'us' }, end === undefined ? ELSEWHERE : end.reason);
  }

  #acknowledge(fork: Fork, response: SipResponse, content: RequestContent): void {
    const credentials = this.#sent?.credentials ?? [];
    fork.inDialog.accepted(response, () => ({ ...content, credentials }));
  }

  #refused(outcome: SendOutcome): void {
    const { context, plan, user } = this.#options;
    context.sent('INVITE', outcome);
    for (const fork of this.#forks.values()) this.#drop(fork);
    if (this.#asksAgain(outcome)) return this.#send();
    if (plan.media.offering) plan.media.withdraw();
    if (this.#ending === undefined) user.refused(outcome);
    else user.over(this.#ending);
  }

  /** True if a 422 gave a usable Min-SE and the INVITE may be repeated. */
  #asksAgain(outcome: SendOutcome): boolean {
    if (!('response' in outcome) || outcome.response.status !== 422 || this.#ending !== undefined)
      return false;
    this.#intervals++;
    return this.#intervals <= MOST_INTERVALS && this.#timer.tooShort(outcome.response.first('min-se'));
  }

  /**
   * Undefined if there are too many dialogs, or for a response without To tag and description, which any
   * proxy may send.
   */
  #provisionalFork(response: SipResponse): Fork | undefined {
    const { toTag: tag = '' } = response;
    const known = this.#forks.get(tag);
    if (known !== undefined || this.#forks.size >= MOST_FORKS) return known;
    return tag === '' && descriptionIn(response) === undefined ? undefined : this.#newFork(response);
  }

  /** Without a To tag the 2xx is from the only phone that rang, or from a peer of RFC 2543. */
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
      dialog,
      context,
      session,
      media: plan.media,
      journey: {
        from: sentOver?.local.address,
        lastResort: sentOver,
        flow,
        account,
        udpOnly,
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
  }

  #drop(fork: Fork): void {
    this.#forks.delete(fork.inDialog.dialog.remoteTag);
    if (this.#latest === fork) this.#latest = undefined;
    fork.inDialog.end({ by: 'cancelled' });
  }

  /** Keeps early dialogs for a while: another phone may be answered before its CANCEL arrives. */
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

const FIRST_CSEQ = 2 ** 16; // random start below this
const ELSEWHERE: Reason = { protocol: 'sip', cause: 200, text: 'Call completed elsewhere' };

function unusable({ status, reason }: Refusal): SessionEnd {
  return { by: 'us', status, reason: reasonOf({ status, reason }) };
}

function reasonOf({ status, reason }: Pick<Refusal, 'status' | 'reason'>): Reason {
  return { protocol: 'sip', cause: status, text: reason };
}

export interface CallPlan {
  /** Request-URI. */
  readonly uri: string;
  /** Values for To and From, without tags. */
  readonly to: string;
  readonly from: string;
  /** Contact value for requests on this flow. */
  readonly contact: (flow: Flow | undefined) => string;
  /** Route values, the first hop first. */
  readonly routes: readonly string[];
  /** Further fields of the INVITE: identity, privacy, Replaces, fields of the application. */
  readonly headers: readonly HeaderLine[];
  readonly journey: Journey;
  /** Media for this plan: trunks may differ in codecs and keys. */
  readonly media: SessionMedia;
  /** The peer makes the offer (RFC 3264, section 4). */
  readonly lateOffer: boolean;
}

interface InviteNumbers {
  readonly callId: string;
  readonly tag: string;
  readonly cseq: number;
}

/** `content` holds the offer, if any, and fields that change between attempts. */
function inviteOf(
  plan: CallPlan,
  { callId, tag, cseq }: InviteNumbers,
  content: RequestContent,
): UnsentRequest {
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
    body: content.body,
  };
}
