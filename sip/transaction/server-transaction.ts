// Runs the server transactions: INVITE (RFC 3261, section 17.2.1, with RFC 6026) and every other
// method (section 17.2.2). AcceptedAnswer repeats a 2xx to an INVITE until its ACK comes.
import type { SipRequest } from '../message/message.js';
import { responseBytes, type ResponseData } from '../message/serialiser.js';
import type { Flow } from '../transport/flow.js';
import { lifetime, type RunningTimer, type TimerName } from './timer-queue.js';
import type { TransactionContext } from './transaction.js';

export interface ServerTransaction {
  readonly request: SipRequest;
  readonly flow: Flow;
  /** Tag for responses whose request has no To tag; also the local tag of a dialog that results. */
  readonly toTag: string;
  /** True once a final response was sent or the transaction is over. */
  readonly answered: boolean;
  /** True once a final response other than 2xx was sent. */
  readonly refused: boolean;
  /** Sends a response; nothing follows a final one. False if it is too late. */
  respond(response: Omit<ResponseData, 'toTag'>): boolean;
  /** Callbacks of the user, set when the request is handed over. */
  user: ServerUser;
}

/** Callbacks for a request that was handed to a user. */
interface ServerUser {
  /** INVITE only: the peer sent CANCEL. The user answers 487. */
  cancelled?(cancel: SipRequest): void;
  /** INVITE only: the ACK of a final response other than 2xx arrived. */
  acknowledged?(): void;
  /** The transaction is over; `why` tells a transport failure and a missing ACK (Timer H) apart. */
  ended?(why: ServerEnd): void;
}

export type ServerEnd = 'done' | 'unacknowledged' | 'transport';

type InviteState = 'proceeding' | 'completed' | 'confirmed' | 'accepted' | 'terminated';

export class InviteServerTransaction implements ServerTransaction {
  readonly request: SipRequest;
  readonly flow: Flow;
  readonly toTag: string;
  user: ServerUser = {};
  #refused = false;
  readonly #context: TransactionContext;
  readonly #key: string;
  #state: InviteState = 'proceeding';
  #last: Buffer | undefined; // sent again for a retransmission of the request
  #intervalMs: number;
  #repeat: RunningTimer | undefined; // G
  #limit: RunningTimer | undefined; // H, I, L

  constructor(request: SipRequest, flow: Flow, toTag: string, context: TransactionContext, key: string) {
    this.request = request;
    this.flow = flow;
    this.toTag = toTag;
    this.#context = context;
    this.#key = key;
    this.#intervalMs = context.durations.t1;
  }

  /** Sends 100 at once, so that the INVITE is not retransmitted. */
  begin(): void {
    this.respond({ status: 100 });
  }

  get state(): InviteState {
    return this.#state;
  }

  get answered(): boolean {
    return this.#state !== 'proceeding';
  }

  get refused(): boolean {
    return this.#refused;
  }

  respond(response: Omit<ResponseData, 'toTag'>): boolean {
    if (this.#state !== 'proceeding') return false;
    const { status } = response;
    const bytes = bytesOf(response, this, this.#context);
    this.#repeat?.stop();
    this.#last = bytes;
    if (status >= 200) this.#context.inviteAnswered();
    if (status >= 300) this.#complete();
    else if (status >= 200) this.#accept();
    this.#send(bytes);
    return true;
  }

  /** Sends the 2xx again; AcceptedAnswer decides when. */
  repeat(): void {
    if (this.#state === 'accepted' && this.#last !== undefined) this.#send(this.#last);
  }

  /** Handles a retransmission of the INVITE. */
  retransmitted(): void {
    const isAnswer = this.#state === 'proceeding' || this.#state === 'completed';
    if (isAnswer && this.#last !== undefined) this.#send(this.#last);
  }

  /** Handles an ACK with the branch of the INVITE. False if it belongs to a 2xx and goes to the user. */
  acknowledged({ to }: SipRequest): boolean {
    if (this.#state === 'accepted') return false;
    if (this.#state !== 'completed') return true;
    // With RFC 2543 peers, other ACKs may differ only in the tag of the response.
    if (to.tag !== undefined && this.request.to.tag === undefined && to.tag !== this.toTag) return true;
    this.#state = 'confirmed';
    this.#repeat?.stop();
    this.#limit?.stop();
    this.user.acknowledged?.();
    if (this.flow.reliable) this.#end('done');
    else this.#limit = this.#context.timers.start(this.#context.durations.t4, 'I', this);
    return true;
  }

  cancelled(cancel: SipRequest): void {
    if (this.#state === 'proceeding') this.user.cancelled?.(cancel);
  }

  expired(timer: TimerName): void {
    if (timer === 'G') this.#sendAgain();
    else this.#end(timer === 'H' ? 'unacknowledged' : 'done');
  }

  close(): void {
    this.#repeat?.stop();
    this.#limit?.stop();
    this.#state = 'terminated';
  }

  #accept(): void {
    this.#state = 'accepted';
    this.#limit = this.#context.timers.start(lifetime(this.#context.durations), 'L', this);
  }

  #complete(): void {
    const { timers, durations } = this.#context;
    this.#state = 'completed';
    this.#refused = true;
    this.#limit = timers.start(lifetime(durations), 'H', this);
    if (!this.flow.reliable) this.#repeat = timers.start(this.#intervalMs, 'G', this);
  }

  #sendAgain(): void {
    const { timers, durations } = this.#context;
    if (this.#last !== undefined) this.#send(this.#last);
    this.#intervalMs = Math.min(this.#intervalMs * 2, durations.t2);
    this.#repeat = timers.start(this.#intervalMs, 'G', this);
  }

  #send(bytes: Buffer): void {
    const { wire } = this.#context;
    void wire.respond(bytes, this.request.via, this.flow).then((sent) => {
      if (!sent) this.#end('transport');
    });
  }

  #end(why: ServerEnd): void {
    if (this.#state === 'terminated') return;
    if (this.#state === 'proceeding') this.#context.inviteAnswered();
    this.close();
    this.#context.serverGone(this.#key);
    this.user.ended?.(why);
  }
}

type NonInviteState = 'trying' | 'proceeding' | 'completed' | 'terminated';

export class NonInviteServerTransaction implements ServerTransaction {
  readonly request: SipRequest;
  readonly flow: Flow;
  toTag: string;
  user: ServerUser = {};
  #refused = false;
  readonly #context: TransactionContext;
  readonly #key: string;
  #state: NonInviteState = 'trying';
  #last: Buffer | undefined;
  #limit: RunningTimer; // the client's timer F until a response is sent; then J

  constructor(request: SipRequest, flow: Flow, toTag: string, context: TransactionContext, key: string) {
    this.request = request;
    this.flow = flow;
    this.toTag = toTag;
    this.#context = context;
    this.#key = key;
    // The client gives up after this time, and a response would be useless (RFC 4320, section 4.2).
    this.#limit = context.timers.start(lifetime(context.durations), 'F', this);
  }

  get state(): NonInviteState {
    return this.#state;
  }

  get answered(): boolean {
    return this.#state === 'completed' || this.#state === 'terminated';
  }

  get refused(): boolean {
    return this.#refused;
  }

  respond(response: Omit<ResponseData, 'toTag'>): boolean {
    if (this.answered) return false;
    const { status } = response;
    const bytes = bytesOf(response, this, this.#context);
    this.#last = bytes;
    this.#state = status < 200 ? 'proceeding' : 'completed';
    this.#refused = status >= 300;
    this.#send(bytes);
    if (status < 200) return true;
    this.#limit.stop();
    if (this.flow.reliable) this.#end('done');
    else this.#limit = this.#context.timers.start(lifetime(this.#context.durations), 'J', this);
    return true;
  }

  /** Handles a retransmission of the request. */
  retransmitted(): void {
    if (this.#last !== undefined) this.#send(this.#last);
  }

  expired(): void {
    this.#end('done');
  }

  close(): void {
    this.#limit.stop();
    this.#state = 'terminated';
  }

  #send(bytes: Buffer): void {
    void this.#context.wire.respond(bytes, this.request.via, this.flow).then((sent) => {
      if (!sent) this.#end('transport');
    });
  }

  #end(why: ServerEnd): void {
    if (this.#state === 'terminated') return;
    this.close();
    this.#context.serverGone(this.#key);
    this.user.ended?.(why);
  }
}

function bytesOf(
  response: Omit<ResponseData, 'toTag'>,
  { request, toTag }: ServerTransaction,
  context: TransactionContext,
): Buffer {
  const answerable = { via: context.viaIn(request), fields: request.fields };
  return responseBytes(answerable, response.status === 100 ? response : { ...response, toTag });
}

export class AcceptedAnswer {
  readonly #transaction: InviteServerTransaction;
  readonly #context: TransactionContext;
  readonly #unanswered: () => void;
  #intervalMs: number;
  #repeat: RunningTimer;
  readonly #limit: RunningTimer;

  /**
   * Repeats a 2xx that the transaction has just sent, over every transport, because no hop does it (RFC
   * 3261, section 13.3.1.4). `unanswered` is called if no ACK came in 64 T1; the caller then ends the call
   * with BYE.
   */
  constructor(transaction: InviteServerTransaction, context: TransactionContext, unanswered: () => void) {
    this.#transaction = transaction;
    this.#context = context;
    this.#unanswered = unanswered;
    this.#intervalMs = context.durations.t1;
    this.#repeat = context.timers.start(this.#intervalMs, 'answer', this);
    this.#limit = context.timers.start(lifetime(context.durations), 'unanswered', this);
  }

  /** Stops repeating: the ACK came or is no longer awaited. */
  stop(): void {
    this.#repeat.stop();
    this.#limit.stop();
  }

  expired(timer: TimerName): void {
    if (timer === 'unanswered') {
      this.stop();
      this.#unanswered();
      return;
    }
    this.#transaction.repeat();
    this.#intervalMs = Math.min(this.#intervalMs * 2, this.#context.durations.t2);
    this.#repeat = this.#context.timers.start(this.#intervalMs, 'answer', this);
  }
}
