// Runs the user agent: every new request is checked and then goes to its dialog, begins a call, or is
// answered here (RFC 3261, section 8.2).
import type { PeerJourney, RequestSender } from '../client/request-sender.js';
import { Dialog, type DialogId } from './dialog.js';
import { readReplaces } from '../message/replaces.js';
import { refusal, type Refusal, refused, type Result } from '../message/refusal.js';
import {
  CAPABILITIES,
  ACCEPT,
  ALLOW,
  ALLOW_EVENTS,
  requestRefusal,
  sessionFields,
  SUPPORTED,
} from './capabilities.js';
import { parseNameAddr } from '../message/uri.js';
import type { SipRequest } from '../message/message.js';
import { SessionTimer } from './session-timer.js';
import type { ServerTransaction } from '../transaction/server-transaction.js';
import { serverKey } from '../transaction/transaction.js';
import type { TransactionLayer, TransactionUser } from '../transaction/transaction-layer.js';
import type { Flow } from '../transport/flow.js';
import type { KnownDialog } from './dialog-table.js';
import { SessionContext, type SessionContextOptions } from './session-context.js';
import { InboundSession } from './inbound-session.js';
import { describedIn } from '../message/body.js';

interface RequestAdmission {
  /**
   * Admits a request or returns the refusal. `expected`: it belongs to a transaction or dialog of this
   * server, or to one that has just ended. `busy`: it gets 503 unless this returns something else, so no
   * nonce of it should be consumed.
   */
  admits(request: SipRequest, flow: Flow, expected: boolean, busy: boolean): Refusal | 'silence' | undefined;
  /** True if the request was admitted by a password, which shows that its sender received the challenge. */
  authenticated?(request: SipRequest): boolean;
  /** True if malformed messages of this peer are answered; true by default. */
  answersMalformed?(flow: Flow): boolean;
}

export interface UserAgentOptions extends SessionContextOptions {
  readonly admission: RequestAdmission;
  /** Receives a new call, to be rung, accepted or rejected. */
  readonly invited: (session: InboundSession) => void;
  /** Contact value for the peer of this flow; a sips URI if `secure`. */
  readonly contactFor: (flow: Flow, secure: boolean) => string;
  /** Journey of requests to the sender of this INVITE; undefined for an unknown peer. */
  readonly journeyFor?: (invite: SipRequest, flow: Flow) => PeerJourney | undefined;
  /** Retry-After while draining in seconds; 30 by default. */
  readonly drainSeconds?: number;
  /** Seconds after which an unaccepted call is refused with 480; 180 by default. */
  readonly ringSeconds?: number;
}

const DRAIN_SECONDS = 30;
const RING_SECONDS = 180; // as long as a proxy waits (RFC 3261, Timer C)
const FIRST_CSEQ = 2 ** 16; // random start below this, so that numbers cannot be guessed

export class UserAgent implements TransactionUser {
  /** Context for sessions that begin elsewhere: outgoing calls. */
  readonly context: SessionContext;
  readonly #options: UserAgentOptions;
  /** Pending requests outside dialogs, by what a merged request has in common with them. */
  readonly #pending = new Map<string, ServerTransaction>();
  /** Keys of pending INVITEs, to recognise their CANCELs. */
  readonly #invites = new Set<string>();
  #draining = false;

  constructor(options: UserAgentOptions) {
    this.#options = options;
    this.context = new SessionContext(options);
  }

  /** Call this before the first message is received. */
  start(layer: Pick<TransactionLayer, 'accept'>, sender: RequestSender): void {
    this.context.start(layer, sender);
  }

  get draining(): boolean {
    return this.#draining;
  }

  /** Refuses new calls with 503 from now on; existing calls continue. */
  drain(): void {
    this.#draining = true;
  }

  /** Numbers of existing dialogs. */
  get counts(): { readonly early: number; readonly confirmed: number } {
    return this.context.dialogs.counts;
  }

  admits(request: SipRequest, flow: Flow, busy: boolean): Refusal | 'silence' | undefined {
    return this.#options.admission.admits(request, flow, this.#expects(request), busy);
  }

  answersMalformed(flow: Flow): boolean {
    return this.#options.admission.answersMalformed?.(flow) ?? true;
  }

  refused({ method }: SipRequest, status: number): void {
    this.context.refused(method, status);
  }

  acknowledged(ack: SipRequest): void {
    this.context.dialogs.find(idOf(ack))?.acknowledged(ack);
  }

  request(request: SipRequest, transaction: ServerTransaction): void {
    const isWithin = request.to.tag !== undefined;
    const found = isWithin ? this.context.dialogs.find(idOf(request)) : undefined;
    const refused = requestRefusal(request, CAPABILITIES);
    if (refused !== undefined) this.context.refuse(transaction, refused);
    else if (found !== undefined) found.request(request, transaction);
    else if (isWithin) this.context.refuse(transaction, NO_DIALOG);
    else this.#outside(request, transaction);
  }

  #expects(request: SipRequest): boolean {
    if (request.method === 'CANCEL') return this.#invites.has(serverKey(request, 'INVITE'));
    const id = idOf(request);
    return (
      request.to.tag !== undefined &&
      (this.context.dialogs.find(id) !== undefined || this.context.dialogs.hasEnded(id))
    );
  }

  #outside(request: SipRequest, transaction: ServerTransaction): void {
    if (this.#isMerged(request, transaction)) {
      this.context.refuse(transaction, refusal(482, 'Loop Detected'));
      return;
    }
    const { method } = request;
    if (this.#draining && (method === 'INVITE' || method === 'OPTIONS')) {
      const seconds = String(this.#options.drainSeconds ?? DRAIN_SECONDS);
      this.context.refuse(transaction, refusal(503, 'Service Unavailable', [['Retry-After', seconds]]));
    } else if (method === 'INVITE') this.#invite(request, transaction);
    else if (method === 'OPTIONS') this.#capabilities(transaction);
    else if (method === 'REFER') this.context.refuse(transaction, refusal(603, 'Decline'));
    else this.context.refuse(transaction, NO_DIALOG);
  }

  /**
   * Detects a merged request, which arrived by another path (section 8.2.2.2). After a refusal it is not
   * merged: a proxy that tries its targets in turn may return to this server.
   */
  #isMerged(request: SipRequest, transaction: ServerTransaction): boolean {
    const key = mergeKeyOf(request);
    if (this.#pending.get(key)?.refused === false) return true;
    this.#pending.set(key, transaction);
    transaction.user = { ended: () => this.#over(key, transaction) };
    return false;
  }

  #over(mergeKey: string, transaction: ServerTransaction): void {
    if (this.#pending.get(mergeKey) === transaction) this.#pending.delete(mergeKey);
  }

  #capabilities(transaction: ServerTransaction): void {
    const contact = ['Contact', this.#contactIn(transaction)] as const;
    const headers = [
      contact,
      ALLOW,
      ACCEPT,
      ['Accept-Encoding', 'identity'],
      SUPPORTED,
      ALLOW_EVENTS,
    ] as const;
    this.context.respond(transaction, { status: 200, headers });
  }

  #invite(request: SipRequest, transaction: ServerTransaction): void {
    const { context } = this;
    const dialog = Dialog.ofServer(request, transaction.toTag, 1 + context.randomInt(FIRST_CSEQ));
    if (dialog === undefined) {
      context.refuse(
        transaction,
        refusal(400, request.contact === undefined ? 'Missing Contact' : 'Contact Is No SIP URI'),
      );
      return;
    }
    const offer = describedIn(request);
    if (offer.refusal !== undefined) return void context.refuse(transaction, offer.refusal);
    const timing = this.#timer().validate(sessionFields(request));
    const replaces = this.#replaced(request);
    if (timing.refusal !== undefined) return void context.refuse(transaction, timing.refusal);
    if (replaces.refusal !== undefined) return void context.refuse(transaction, replaces.refusal);
    const contact = this.#contactIn(transaction);
    const mergeKey = mergeKeyOf(request);
    const key = serverKey(request);
    this.#invites.add(key);
    const over = (): void => {
      this.#invites.delete(key);
      this.#over(mergeKey, transaction);
    };
    const ringSeconds = this.#options.ringSeconds ?? RING_SECONDS;
    this.#options.invited(
      new InboundSession({
        transaction,
        dialog,
        contact,
        offer: offer.value,
        journey: this.#options.journeyFor?.(request, transaction.flow) ?? {},
        timing: timing.value,
        replaces: replaces.value,
        context,
        proven: transaction.flow.reliable || (this.#options.admission.authenticated?.(request) ?? false),
        ringSeconds,
        over,
      }),
    );
  }

  /**
   * Contact of a dialog; a sips URI if the Request-URI or the previous hop is one (RFC 3261, section
   * 12.1.1).
   */
  #contactIn({ request, flow }: ServerTransaction): string {
    const [proxy] = request.all('record-route');
    const before = proxy === undefined ? request.contact?.uri : parseNameAddr(proxy)?.uri;
    return this.#options.contactFor(flow, request.uri.scheme === 'sips' || before?.scheme === 'sips');
  }

  /** Finds the call to replace, as far as RFC 3891 permits; undefined without Replaces. */
  #replaced(request: SipRequest): Result<KnownDialog | undefined> {
    const values = request.all('replaces');
    const [value] = values;
    if (value === undefined) return { value: undefined };
    const replaces = values.length > 1 ? undefined : readReplaces(value);
    if (replaces === undefined) return refused(400, 'Replaces is not well-formed');
    const { callId, toTag, fromTag, earlyOnly } = replaces;
    const id = { callId, localTag: toTag, remoteTag: fromTag };
    const found = this.context.dialogs.find(id);
    if (found === undefined || found.ended) {
      const hasEnded = found !== undefined || this.context.dialogs.hasEnded(id);
      return hasEnded ? refused(603, 'Decline') : refused(481, 'Call/Transaction Does Not Exist');
    }
    if (found.confirmed) return earlyOnly ? refused(486, 'Busy Here') : { value: found };
    // An early dialog may be replaced only if it was begun here (section 3).
    return found.calling ? { value: found } : refused(481, 'the early dialog was not begun from here');
  }

  /** Validates the timer of the first INVITE; the dialog's own timer validates later requests. */
  #timer(): SessionTimer {
    const { time, sessionSeconds, leastSeconds } = this.context;
    return new SessionTimer({
      time,
      wantedSeconds: sessionSeconds,
      leastSeconds,
      onRefresh: () => undefined,
      onExpired: () => undefined,
    });
  }
}

const NO_DIALOG = refusal(481, 'Call/Transaction Does Not Exist');

/** Dialog ID of a received request: its To is the local side. */
function idOf({ callId, to, from }: SipRequest): DialogId {
  return { callId, localTag: to.tag ?? '', remoteTag: from.tag ?? '' };
}

function mergeKeyOf({ callId, from, cseq, method }: SipRequest): string {
  return `${callId} ${from.tag ?? ''} ${cseq.number} ${method}`;
}
