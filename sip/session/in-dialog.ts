// Runs the session within a dialog for both roles, from its first response to its last BYE.
//
// It adds itself to the table of dialogs and leaves it when nothing more can come: with the answer to
// BYE, or with the last NOTIFY of a transfer. A caller creates one for each dialog of its INVITE (To
// tag of 101-199 and 2xx), passes every 2xx to `accepted`, and ends unused dialogs with `end`. `bye`
// ends a confirmed dialog.
import type { Journey } from '../client/request-sender.js';
import type { KnownDialog } from './dialog-table.js';
import type { SessionContext } from './session-context.js';
import type { Dialog } from './dialog.js';
import { readReason, type Reason, refusal, type Result, writeReason } from '../message/refusal.js';
import type { SipRequest, SipResponse } from '../message/message.js';
import { SessionTimer } from './session-timer.js';
import type { ServerTransaction } from '../transaction/server-transaction.js';
import { ACCEPT, ALLOW, ALLOW_EVENTS, sessionFields, SUPPORTED } from './capabilities.js';
import { AwaitedAcks, type DialogContext, Pauses } from './dialog-context.js';
import { type AckContent, DialogChannel, FlowWatch } from './dialog-channel.js';
import { InfoDigits } from './info-digits.js';
import { OurOffers, PeerOffers } from './offers.js';
import { OurTransfers, PeerTransfers } from './transfers.js';
import type { ReferTarget, Session, SessionEnd, SessionMedia, SessionUser } from './session.js';

interface InDialogOptions {
  readonly dialog: Dialog;
  /**
   * Journey of our requests apart from the dialog's next hop: the flow of the INVITE (see wayBack), our
   * address, the account.
   */
  readonly journey: Omit<Journey, 'nextHop'>;
  /** Our Contact value. */
  readonly contact: string;
  /** May be set later; until then offers of the peer are postponed. */
  readonly media?: SessionMedia | undefined;
  /** Receives digits and transfers. The session itself reports `established` and `ended`. */
  readonly user: () => SessionUser;
  readonly context: SessionContext;
  /** Session of the dialog, for an INVITE that replaces it. */
  readonly session: Session;
  /** True if we sent the INVITE. */
  readonly calling: boolean;
  /** Handles PRACK, which only the callee of an early dialog uses; 481 if absent. */
  readonly prack?: (request: SipRequest, transaction: ServerTransaction) => void;
  /** Called once when the session has ended. No further callbacks of the user follow. */
  readonly over: (end: SessionEnd) => void;
}

export class InDialog implements DialogContext, KnownDialog {
  readonly session: Session;
  readonly calling: boolean;
  readonly channel: DialogChannel;
  readonly timer: SessionTimer;
  readonly awaited: AwaitedAcks;
  readonly pauses: Pauses;
  media: SessionMedia | undefined;
  readonly #options: InDialogOptions;
  readonly #ours: OurOffers;
  readonly #peers: PeerOffers;
  readonly #digits: InfoDigits;
  readonly #ourTransfers: OurTransfers;
  readonly #peerTransfers: PeerTransfers;
  readonly #flowWatch: FlowWatch;
  #state: 'early' | 'confirmed' | 'ended' = 'early';
  #leaving: Promise<void> | undefined;
  #peerLeft = false;
  /** The session itself has nothing pending. */
  #done = false;

  constructor(options: InDialogOptions) {
    const { dialog, context } = options;
    this.#options = options;
    this.session = options.session;
    this.calling = options.calling;
    this.media = options.media;
    this.channel = new DialogChannel(dialog, options.journey, options.contact, context);
    this.awaited = new AwaitedAcks(context);
    this.pauses = new Pauses(context.time);
    this.timer = new SessionTimer({
      time: context.time,
      wantedSeconds: context.sessionSeconds,
      leastSeconds: context.leastSeconds,
      onRefresh: () => void this.#ours.refresh(),
      onExpired: () => void this.bye({ by: 'expired' }, EXPIRED),
    });
    this.#ours = new OurOffers(this);
    this.#peers = new PeerOffers(this, this.#ours);
    this.#digits = new InfoDigits(this);
    this.#ourTransfers = new OurTransfers(this);
    this.#peerTransfers = new PeerTransfers(this);
    this.#flowWatch = new FlowWatch(context.time, context.patienceMs, () => this.end({ by: 'transport' }));
    this.#flowWatch.follow(options.journey.flow);
    this.channel.onFlow = (flow) => this.#flowWatch.follow(flow);
    context.dialogs.add(this);
  }

  get dialog(): Dialog {
    return this.channel.dialog;
  }

  get user(): SessionUser {
    return this.#options.user();
  }

  get confirmed(): boolean {
    return this.#state === 'confirmed';
  }

  get ended(): boolean {
    return this.#state === 'ended';
  }

  /** Confirms the dialog: a 2xx to the INVITE was sent or received. */
  confirm(): void {
    if (this.#state === 'early') this.#state = 'confirmed';
  }

  /**
   * Acknowledges a 2xx to our INVITE, or repeats the ACK. `content` is called once, for an answer and
   * credentials.
   */
  acknowledge(response: SipResponse, content: () => AckContent = () => ({ headers: [] })): void {
    this.channel.acknowledge(response, content);
  }

  /**
   * Acknowledges every 2xx to the INVITE that began the dialog. The first one confirms the dialog and starts
   * its session timer. True for the first.
   */
  accepted(response: SipResponse, content?: () => AckContent): boolean {
    const isFirst = !this.channel.hasAcknowledged(response);
    this.acknowledge(response, content);
    if (!isFirst || this.ended) return isFirst;
    this.confirm();
    this.channel.answered(response);
    this.timer.accepted(sessionFields(response));
    return true;
  }

  /** Receives an ACK of the peer. */
  acknowledged(ack: SipRequest): void {
    this.awaited.acknowledged(ack);
  }

  /** Handles a request within the dialog that the user agent has checked. */
  request(request: SipRequest, transaction: ServerTransaction): void {
    const { context } = this.channel;
    if (!this.dialog.takes(request)) context.refuse(transaction, refusal(500, 'Server Internal Error'));
    else if (this.ended) this.#afterwards(request, transaction);
    else {
      this.channel.heard(transaction.flow);
      this.#handle(request, transaction);
    }
  }

  hangUp(reason?: Reason): Promise<void> {
    return this.bye({ by: 'us' }, reason);
  }

  reoffer(): Promise<Result<void>> {
    return this.#ours.reoffer();
  }

  sendDigit(digit: string, durationMs: number): Promise<boolean> {
    return this.#digits.send(digit, durationMs);
  }

  refer(target: ReferTarget, onStatus?: (status: number) => void): Promise<Result<number>> {
    return this.#ourTransfers.refer(target, onStatus);
  }

  /**
   * Ends the dialog with BYE and resolves when it was answered or given up; the ACK is awaited first (RFC
   * 3261, section 15). Idempotent.
   */
  bye(end: SessionEnd, reason?: Reason): Promise<void> {
    if (!this.ended) {
      this.#finish(end);
      this.#leaving = this.#sendBye(reason);
    }
    return this.#leaving ?? Promise.resolve();
  }

  /** Ends the dialog without BYE: the peer sent one, or the dialog was never confirmed. Idempotent. */
  end(end: SessionEnd): void {
    if (this.ended) return;
    this.#finish(end);
    this.awaited.close();
    this.#done = true;
    this.leave();
  }

  /** Leaves the table once nothing is pending: transfers outlive their session (RFC 5057). */
  leave(): void {
    if (!this.#done || this.#ourTransfers.open || this.#peerTransfers.open) return;
    this.channel.context.dialogs.remove(this);
  }

  async #sendBye(reason: Reason | undefined): Promise<void> {
    await this.awaited.settled();
    if (!this.#peerLeft) await this.#askToLeave(reason);
    this.#done = true;
    this.leave();
  }

  async #askToLeave(reason: Reason | undefined): Promise<void> {
    const headers = reason === undefined ? [] : ([['Reason', writeReason(reason)]] as const);
    await this.channel.send('BYE', { headers });
  }

  #finish(end: SessionEnd): void {
    this.#state = 'ended';
    this.timer.close();
    this.pauses.close();
    this.#ours.close();
    this.channel.onFlow = () => undefined;
    this.#flowWatch.close();
    this.#peerTransfers.ended();
    this.#options.over(end);
  }

  #handle(request: SipRequest, transaction: ServerTransaction): void {
    const { context } = this.channel;
    switch (request.method) {
      case 'INVITE':
        return this.#peers.invite(request, transaction);
      case 'UPDATE':
        return this.#peers.update(request, transaction);
      case 'INFO':
        return this.#digits.received(request, transaction);
      case 'PRACK':
        return this.#prack(request, transaction);
      case 'BYE':
        context.respond(transaction, { status: 200 });
        return this.end({ by: this.confirmed || this.calling ? 'peer' : 'cancelled', ...reasonIn(request) });
      case 'OPTIONS':
        context.respond(transaction, {
          status: 200,
          headers: [this.channel.contact, ALLOW, ACCEPT, SUPPORTED, ALLOW_EVENTS],
        });
        return;
      case 'REFER':
        return this.#peerTransfers.received(request, transaction);
      case 'NOTIFY':
        return this.#ourTransfers.notified(request, transaction);
      default:
        context.refuse(transaction, refusal(481, 'Call/Transaction Does Not Exist'));
    }
  }

  #prack(request: SipRequest, transaction: ServerTransaction): void {
    if (this.#options.prack !== undefined) this.#options.prack(request, transaction);
    else
      this.channel.context.refuse(transaction, refusal(481, 'there is no response that this acknowledges'));
  }

  /**
   * Handles requests after the end: crossing BYEs are both answered, and NOTIFYs of a transfer are still
   * processed.
   */
  #afterwards(request: SipRequest, transaction: ServerTransaction): void {
    const { context } = this.channel;
    if (request.method === 'BYE') {
      context.respond(transaction, { status: 200 });
      this.#peerLeft = true; // our own BYE is then unnecessary if it still waits for an ACK
      this.awaited.close();
    } else if (request.method === 'NOTIFY') this.#ourTransfers.notified(request, transaction);
    else context.refuse(transaction, refusal(481, 'Call/Transaction Does Not Exist'));
  }
}

/** Reads the Reason of BYE or CANCEL for a SessionEnd. */
export function reasonIn(request: SipRequest): { readonly reason?: Reason } {
  const reasons = request.all('reason').flatMap((value) => readReason(value) ?? []);
  const [first] = reasons;
  // The Q.850 reason is more specific than others (RFC 3326, section 2).
  const chosen = reasons.find(({ protocol }) => protocol === 'q.850') ?? first;
  return chosen === undefined ? {} : { reason: chosen };
}

const EXPIRED = { protocol: 'sip', cause: 408, text: 'session timer expired' };
