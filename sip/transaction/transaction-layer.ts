// All transactions of a SIP element: what comes in finds its transaction or
// makes one, and what goes out gets one.
import type { Time } from '../../src/time.js';
import { type Parsed, parseMessage } from '../message/parser.js';
import { type Refusal, refusal } from '../message/refusal.js';
import type { Answerable, SipRequest, SipResponse } from '../message/message.js';
import { Via } from '../message/via.js';
import { type RequestData, type ResponseData, responseBytes } from '../message/serialiser.js';
import type { Flow } from '../transport/flow.js';
import type { Target } from '../transport/outbound.js';
import { AcceptedAnswer } from './accepted-answer.js';
import type { ClientTransaction, ClientUser } from './client-transaction.js';
import { InviteClientTransaction } from './invite-client.js';
import { cancelOf } from './invite-follow-ups.js';
import { InviteServerTransaction } from './invite-server.js';
import type { LoadGauge } from './load-gauge.js';
import { NonInviteClientTransaction } from './non-invite-client.js';
import { NonInviteServerTransaction } from './non-invite-server.js';
import { OutgoingRequest, type UnsentRequest } from './outgoing-request.js';
import { SentAck } from './sent-ack.js';
import type { ServerTransaction } from './server-transaction.js';
import { SIP_TIMERS, type SipTimers } from './sip-timers.js';
import { TimerQueue } from './timer-queue.js';
import { clientKey, MAGIC_COOKIE, serverKey, spread, statelessTag } from './transaction-key.js';
import { TRANSACTION_LIMITS, type TransactionCount, type TransactionLimits } from './transaction-limits.js';
import type { TransactionContext, Wire } from './wire.js';

export interface TransactionUser {
  /** A request that is new. CANCEL of an INVITE that is known does not come here, but to that INVITE's user. */
  request(request: SipRequest, transaction: ServerTransaction): void;
  /** An ACK of a 2xx, or one that belongs to nothing. */
  acknowledged(request: SipRequest, flow: Flow): void;
  /**
   * Whether a request may have a transaction: a refusal is answered without one, 'silence' not at all.
   * Asked once for a request, before anything is kept of it. `busy`: it is refused with 503 unless this says otherwise,
   * so its password need not be looked at.
   */
  admits?(request: SipRequest, flow: Flow, busy: boolean): Refusal | 'silence' | undefined;
  /** A request that was refused before anything was kept of it. */
  refused?(request: SipRequest, status: number): void;
  /** Whether whoever is at the other end is worth an answer to what is malformed; everybody is, if nobody is asked. */
  answersMalformed?(flow: Flow): boolean;
}

export interface TransactionLayerOptions {
  readonly wire: Wire;
  readonly user: TransactionUser;
  readonly time: Time;
  /** Random text of token characters, new at every call; nobody may guess it. */
  readonly token: () => string;
  readonly durations?: Partial<SipTimers>;
  readonly limits?: Partial<TransactionLimits>;
  /** Says which new calls are refused because there is too much to do; none, if nobody says. */
  readonly load?: Pick<LoadGauge, 'refuses' | 'control'>;
  /** A message met a defect of ours: it was refused with 500 where it could be. Thrown, if nobody is told. */
  readonly failed?: (error: unknown, message: SipRequest | SipResponse | undefined) => void;
}

type AnyServer = InviteServerTransaction | NonInviteServerTransaction;
type AnyClient = InviteClientTransaction | NonInviteClientTransaction;

export class TransactionLayer {
  readonly #options: TransactionLayerOptions;
  readonly #limits: TransactionLimits;
  readonly #context: TransactionContext;
  readonly #servers = new Map<string, AnyServer>();
  readonly #clients = new Map<string, AnyClient>();
  readonly #counts = new Map<TransactionCount, number>();
  #pendingInvites = 0;

  constructor(options: TransactionLayerOptions) {
    this.#options = options;
    this.#limits = { ...TRANSACTION_LIMITS, ...options.limits };
    this.#context = {
      wire: options.wire,
      timers: new TimerQueue(options.time),
      durations: { ...SIP_TIMERS, ...options.durations },
      serverGone: (key) => this.#servers.delete(key),
      clientGone: (key) => this.#clients.delete(key),
      viaIn: ({ via }) => this.#viaWithLoad(via),
      inviteAnswered: () => this.#pendingInvites--,
      cancel: (invite) => this.#cancel(invite),
    };
  }

  /** Transactions that are kept, and INVITEs that wait for a final response. */
  get open(): { readonly server: number; readonly client: number; readonly pendingInvites: number } {
    return { server: this.#servers.size, client: this.#clients.size, pendingInvites: this.#pendingInvites };
  }

  countOf(name: TransactionCount): number {
    return this.#counts.get(name) ?? 0;
  }

  /** What a transport received. It does not throw for anything that a peer sent. */
  received(bytes: Buffer, flow: Flow): void {
    const parsed = parseMessage(bytes, flow.remote, flow.transport === 'tcp' || flow.transport === 'tls');
    this.handle(parsed, flow);
  }

  handle(parsed: Parsed, flow: Flow): void {
    try {
      this.#take(parsed, flow);
    } catch (error) {
      this.#failed(parsed, error);
    }
  }

  #take(parsed: Parsed, flow: Flow): void {
    switch (parsed.kind) {
      case 'request':
        this.#request(parsed.request, flow);
        return;
      case 'response':
        this.#response(parsed.response);
        return;
      case 'refused':
        this.#count('malformed');
        if (this.#options.user.answersMalformed?.(flow) === false) return;
        this.#answerStatelessly(parsed.request, parsed.refusal, flow);
        return;
      case 'ignored':
        this.#count(parsed.reason);
    }
  }

  /** Sends a request of ours, but ACK: see `sendAck`. All headers but Via, Max-Forwards and Content-Length are the caller's. */
  send(request: UnsentRequest, target: Target, user: ClientUser): ClientTransaction {
    const outgoing = this.#outgoing(request, this.#branch(), target);
    return request.method === 'INVITE' ? this.#startInvite(outgoing, user) : this.#start(outgoing, user);
  }

  /** Sends an INVITE, which can be taken back. */
  sendInvite(request: UnsentRequest, target: Target, user: ClientUser): InviteClientTransaction {
    return this.#startInvite(this.#outgoing(request, this.#branch(), target), user);
  }

  /** Sends the ACK of a 2xx; `again` is for the same 2xx when it comes again. */
  sendAck(request: RequestData, target: Target): SentAck {
    return new SentAck(request, this.#branch(), target, this.#options.wire);
  }

  /** Gives a 2xx to an INVITE and repeats it until `stop`, which the ACK is for. Undefined if it is too late. */
  accept(transaction: ServerTransaction, response: Omit<ResponseData, 'toTag'>, unanswered: () => void): AcceptedAnswer | undefined {
    const isLate = !(transaction instanceof InviteServerTransaction) || !transaction.respond(response);
    return isLate ? undefined : new AcceptedAnswer(transaction, this.#context, unanswered);
  } // prettier-ignore

  /** Forgets everything; no user is told. */
  close(): void {
    this.#context.timers.close();
    for (const transaction of [...this.#servers.values(), ...this.#clients.values()]) transaction.close();
    this.#servers.clear();
    this.#clients.clear();
  }

  #failed(parsed: Parsed, error: unknown): void {
    const { failed } = this.#options;
    if (failed === undefined) throw error;
    this.#count('failed');
    if (parsed.kind === 'request' && parsed.request.method !== 'ACK') {
      this.#servers.get(serverKey(parsed.request))?.respond({ status: 500 });
    }
    failed(error, parsed.kind === 'request' ? parsed.request : parsed.kind === 'response' ? parsed.response : undefined); // prettier-ignore
  }

  #request(request: SipRequest, flow: Flow): void {
    this.#count('requests');
    if (flow.reliable) this.#options.wire.alias?.(flow, request.via);
    const key = serverKey(request);
    const known = this.#servers.get(key);
    if (request.method === 'ACK') {
      const isTaken = known instanceof InviteServerTransaction && known.acknowledged(request);
      if (!isTaken) this.#options.user.acknowledged(request, flow);
    } else if (known !== undefined) {
      this.#count('retransmissions');
      known.retransmitted();
    } else this.#newRequest(request, flow, key);
  }

  #newRequest(request: SipRequest, flow: Flow, key: string): void {
    // First: a password that was shown counts as used, and whoever is refused then would be asked for it anew.
    const busy = this.#overload(request);
    const verdict = this.#options.user.admits?.(request, flow, busy !== undefined);
    if (verdict === 'silence') {
      this.#count('not-admitted');
      return;
    }
    const refused = verdict ?? busy;
    if (refused !== undefined) {
      if (refused === busy) this.#count('overload');
      this.#answerStatelessly(request, refused, flow);
      this.#options.user.refused?.(request, refused.status);
      return;
    }
    const { token } = this.#options;
    if (request.method === 'INVITE') {
      this.#pendingInvites++;
      const transaction = new InviteServerTransaction(request, flow, token(), this.#context, key);
      this.#servers.set(key, transaction);
      transaction.begin();
      this.#options.user.request(request, transaction);
      return;
    }
    const transaction = new NonInviteServerTransaction(request, flow, token(), this.#context, key);
    this.#servers.set(key, transaction);
    if (request.method === 'CANCEL') this.#cancelRequest(request, transaction);
    else this.#options.user.request(request, transaction);
  }

  /** RFC 3261, section 9.2: its answer has the tag that those of the INVITE have. */
  #cancelRequest(request: SipRequest, transaction: NonInviteServerTransaction): void {
    const invite = this.#servers.get(serverKey(request, 'INVITE'));
    if (!(invite instanceof InviteServerTransaction)) {
      transaction.respond({ status: 481 });
      return;
    }
    transaction.toTag = invite.toTag;
    transaction.respond({ status: 200 });
    invite.cancelled(request);
  }

  /** What makes room is let in a little longer: the requests of calls that stand, and CANCEL. */
  #overload(request: SipRequest): Refusal | undefined {
    const { server, pendingInvites } = this.#limits;
    const isOurs = request.to.tag !== undefined || request.method === 'CANCEL';
    const isFull = this.#servers.size >= (isOurs ? server * 1.25 : server);
    const isInvite = request.method === 'INVITE' && !isOurs;
    const isTooMany = isInvite && this.#pendingInvites >= pendingInvites;
    if (!isFull && !isTooMany) {
      // Only a share is refused: Retry-After would tell a proxy to send nothing at all (RFC 3261, section 21.5.4).
      const isShed = isInvite && (this.#options.load?.refuses(request.callId) ?? false);
      return isShed ? refusal(503, 'Service Unavailable') : undefined;
    }
    return refusal(503, 'Service Unavailable', [['Retry-After', String(this.#retryAfter(request))]]);
  }

  #retryAfter({ callId }: SipRequest): number {
    const { retryAfterSeconds } = this.#limits;
    return retryAfterSeconds + Math.floor(spread(callId) * (retryAfterSeconds + 1));
  }

  #answerStatelessly(request: Answerable, { status, reason, headers }: Refusal, flow: Flow): void {
    const tag = statelessTag(`${request.via.branch ?? ''} ${request.fields.first('call-id') ?? ''}`);
    const answerable = { via: this.#viaWithLoad(request.via), fields: request.fields };
    const bytes = responseBytes(answerable, { status, reason, headers, toTag: tag });
    void this.#options.wire.respond(bytes, request.via, flow);
  }

  /** With how much of its load the peer should leave away, if it offers to (RFC 7339, section 4). */
  #viaWithLoad(via: Via): Via {
    const { load } = this.#options;
    if (load === undefined || via.params.get('oc') !== '') return via;
    const algorithms = (via.params.get('oc-algo') ?? '').toLowerCase().split(',');
    if (!algorithms.some((name) => name.trim() === 'loss')) return via;
    const { loss, validityMs, sequence } = load.control;
    const told = {
      oc: String(loss),
      'oc-algo': '"loss"',
      'oc-validity': String(validityMs),
      'oc-seq': sequence,
    };
    const params = Object.entries(told).reduce((all, [name, value]) => all.with(name, value), via.params);
    return new Via(via.transport, via.sentBy, params, via.version);
  }

  #response(response: SipResponse): void {
    this.#count('responses');
    const transaction = this.#clients.get(clientKey(response));
    // A second Via means that somebody else was to get it (RFC 3261, section 8.1.3.3).
    if (transaction === undefined || response.all('via').length > 1) this.#count('stray-responses');
    else transaction.received(response);
  }

  #start(outgoing: OutgoingRequest, user: ClientUser): NonInviteClientTransaction {
    const key = `${outgoing.branch} ${outgoing.data.method}`;
    const transaction = new NonInviteClientTransaction(outgoing, user, this.#context, key);
    this.#clients.set(key, transaction);
    return transaction;
  }

  #startInvite(outgoing: OutgoingRequest, user: ClientUser): InviteClientTransaction {
    const key = `${outgoing.branch} INVITE`;
    const transaction = new InviteClientTransaction(outgoing, user, this.#context, key);
    this.#clients.set(key, transaction);
    return transaction;
  }

  #cancel(invite: OutgoingRequest): void {
    this.#start(this.#outgoing(cancelOf(invite.data), invite.branch, invite.target), NOBODY);
  }

  #outgoing(request: UnsentRequest, branch: string, target: Target): OutgoingRequest {
    const isFull = this.#clients.size >= this.#limits.client;
    return new OutgoingRequest(request, branch, target, isFull ? FULL : this.#options.wire);
  }

  #branch(): string {
    return MAGIC_COOKIE + this.#options.token();
  }

  #count(name: TransactionCount): void {
    this.#counts.set(name, this.countOf(name) + 1);
  }
}

/** What a request meets when there are as many transactions as are allowed: a failure as of any transport. */
const FULL: Wire = {
  send: () => Promise.resolve('too-many'),
  respond: () => Promise.resolve(false),
  viaFor: () => '',
};

/** What comes of a CANCEL shows in the INVITE. */
const NOBODY: ClientUser = { response: () => undefined, failed: () => undefined };
