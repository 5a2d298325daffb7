// Holds all transactions of a SIP element. Received messages are matched with their transaction or
// create one; every request of ours gets one.
import type { Time } from '../../src/time.js';
import {
  type Answerable,
  type Parsed,
  parseMessage,
  type SipRequest,
  type SipResponse,
} from '../message/message.js';
import { type Refusal, refusal } from '../message/refusal.js';
import { type RequestData, responseBytes, type ResponseData } from '../message/serialiser.js';
import { Via } from '../message/via.js';
import type { Flow } from '../transport/flow.js';
import type { Target } from '../transport/outbound.js';
import { cancelOf, ClientTransaction, type ClientUser } from './client-transaction.js';
import type { LoadGauge } from './load-gauge.js';
import { OutgoingRequest, SentAck, type UnsentRequest, type Wire } from './outgoing-request.js';
import {
  AcceptedAnswer,
  InviteServerTransaction,
  NonInviteServerTransaction,
  type ServerTransaction,
} from './server-transaction.js';
import { SIP_TIMERS, type SipTimers, TimerQueue } from './timer-queue.js';
import {
  clientKey,
  MAGIC_COOKIE,
  serverKey,
  spread,
  statelessTag,
  type TransactionContext,
} from './transaction.js';

export interface TransactionUser {
  /** Receives a new request. A CANCEL of a known INVITE goes to the user of that INVITE instead. */
  request(request: SipRequest, transaction: ServerTransaction): void;
  /** Receives an ACK of a 2xx, or one that matches nothing. */
  acknowledged(request: SipRequest, flow: Flow): void;
  /**
   * Decides once per request, before any state is kept: a refusal is answered statelessly, 'silence' not at
   * all. If `busy` is set the request gets 503 unless this returns something else, so no password needs to
   * be checked.
   */
  admits?(request: SipRequest, flow: Flow, busy: boolean): Refusal | 'silence' | undefined;
  /** Reports a request that was refused statelessly. */
  refused?(request: SipRequest, status: number): void;
  /** True if malformed messages of this peer are answered; true by default. */
  answersMalformed?(flow: Flow): boolean;
}

export interface TransactionLayerOptions {
  readonly wire: Wire;
  readonly user: TransactionUser;
  readonly time: Time;
  /** Returns a new unpredictable random token at each call. */
  readonly token: () => string;
  readonly durations?: Partial<SipTimers>;
  readonly limits?: Partial<TransactionLimits>;
  /** Overload control; no calls are shed by default. */
  readonly load?: Pick<LoadGauge, 'refuses' | 'control'>;
  /**
   * Reports an error of this server while it handled a message; the request gets 500 if possible. Without
   * this callback the error is thrown.
   */
  readonly failed?: (error: unknown, message: SipRequest | SipResponse | undefined) => void;
}

type AnyServer = InviteServerTransaction | NonInviteServerTransaction;

export class TransactionLayer {
  readonly #options: TransactionLayerOptions;
  readonly #limits: TransactionLimits;
  readonly #context: TransactionContext;
  readonly #servers = new Map<string, AnyServer>();
  readonly #clients = new Map<string, ClientTransaction>();
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

  /** Number of transactions and of INVITEs without a final response. */
  get open(): { readonly server: number; readonly client: number; readonly pendingInvites: number } {
    return { server: this.#servers.size, client: this.#clients.size, pendingInvites: this.#pendingInvites };
  }

  countOf(name: TransactionCount): number {
    return this.#counts.get(name) ?? 0;
  }

  /** Handles the bytes that a transport received. It throws for no input. */
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

  /**
   * Sends any request but ACK (see `sendAck`). The caller provides all headers except Via, Max-Forwards and
   * Content-Length.
   */
  send(request: UnsentRequest, target: Target, user: ClientUser): ClientTransaction {
    return this.#start(this.#outgoing(request, this.#branch(), target), user);
  }

  /** Sends the ACK of a 2xx; call `again` when the same 2xx is received again. */
  sendAck(request: RequestData, target: Target): SentAck {
    return new SentAck(request, this.#branch(), target, this.#options.wire);
  }

  /**
   * Answers an INVITE with a 2xx and repeats it until `stop` is called for the ACK. Undefined if it is too
   * late.
   */
  accept(
    transaction: ServerTransaction,
    response: Omit<ResponseData, 'toTag'>,
    unanswered: () => void,
  ): AcceptedAnswer | undefined {
    const isLate = !(transaction instanceof InviteServerTransaction) || !transaction.respond(response);
    return isLate ? undefined : new AcceptedAnswer(transaction, this.#context, unanswered);
  }

  /** Drops all transactions without calling their users. */
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
    failed(
      error,
      parsed.kind === 'request' ? parsed.request : parsed.kind === 'response' ? parsed.response : undefined,
    );
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
    // Overload is determined first: checking a password consumes its nonce, and a refused caller would
    // be challenged again.
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

  /** The answer to CANCEL has the same To tag as those to the INVITE (RFC 3261, section 9.2). */
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

  /**
   * Returns the refusal under overload. Requests within calls and CANCEL free resources and get 25 % more
   * room.
   */
  #overload(request: SipRequest): Refusal | undefined {
    const { server, pendingInvites } = this.#limits;
    const isOurs = request.to.tag !== undefined || request.method === 'CANCEL';
    const isFull = this.#servers.size >= (isOurs ? server * 1.25 : server);
    const isInvite = request.method === 'INVITE' && !isOurs;
    const isTooMany = isInvite && this.#pendingInvites >= pendingInvites;
    if (!isFull && !isTooMany) {
      // No Retry-After when only a share is refused: it would tell a proxy to send nothing at all (RFC
      // 3261, section 21.5.4).
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

  /** Adds overload control to the Via of a peer that supports it (RFC 7339, section 4). */
  #viaWithLoad(via: Via): Via {
    const { load } = this.#options;
    if (load === undefined || via.params.get('oc') !== '') return via;
    const algorithms = (via.params.get('oc-algo') ?? '').toLowerCase().split(',');
    if (!algorithms.some((name) => name.trim() === 'loss')) return via;
    const { loss, validityMs, sequence } = load.control;
    const control = {
      oc: String(loss),
      'oc-algo': '"loss"',
      'oc-validity': String(validityMs),
      'oc-seq': sequence,
    };
    const params = Object.entries(control).reduce((all, [name, value]) => all.with(name, value), via.params);
    return new Via(via.transport, via.sentBy, params, via.version);
  }

  #response(response: SipResponse): void {
    this.#count('responses');
    const transaction = this.#clients.get(clientKey(response));
    // A second Via means that the response is for another element (RFC 3261, section 8.1.3.3).
    if (transaction === undefined || response.all('via').length > 1) this.#count('stray-responses');
    else transaction.received(response);
  }

  #start(outgoing: OutgoingRequest, user: ClientUser): ClientTransaction {
    const key = `${outgoing.branch} ${outgoing.data.method}`;
    const transaction = new ClientTransaction(outgoing, user, this.#context, key);
    this.#clients.set(key, transaction);
    return transaction;
  }

  #cancel(invite: OutgoingRequest): void {
    this.#start(this.#outgoing(cancelOf(invite.data), invite.branch, invite.target), NO_USER);
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

/** Replaces the wire when the transaction limit is reached: every request fails like a transport. */
const FULL: Wire = {
  send: () => Promise.resolve('too-many'),
  respond: () => Promise.resolve(false),
  viaFor: () => '',
};

/** The outcome of a CANCEL is visible in its INVITE. */
const NO_USER: ClientUser = { response: () => undefined, failed: () => undefined };

interface TransactionLimits {
  /**
   * Server transactions including completed ones: 400 calls per second leave about 26,000 completed ones
   * over UDP.
   */
  readonly server: number;
  /** INVITEs without a final response. */
  readonly pendingInvites: number;
  readonly client: number;
  /**
   * Retry-After in seconds: a value between this and twice this, so that clients do not return at the same
   * time.
   */
  readonly retryAfterSeconds: number;
}

const TRANSACTION_LIMITS: TransactionLimits = {
  server: 60_000,
  pendingInvites: 5000,
  client: 60_000,
  retryAfterSeconds: 5,
};

/** Events counted for metrics. Names are stable. */
type TransactionCount =
  | 'requests'
  | 'responses'
  | 'retransmissions' // requests that came again and were absorbed
  | 'malformed' // answered 400 or the like without a transaction
  | 'not-sip'
  | 'bad-response'
  | 'bad-ack'
  | 'unanswerable'
  | 'not-admitted'
  | 'overload' // answered 503
  | 'failed' // met a defect of ours
  | 'stray-responses';
