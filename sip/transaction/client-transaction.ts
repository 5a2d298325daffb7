// Runs the client transactions: INVITE (RFC 3261, section 17.1.1, with RFC 6026) and every other
// method (section 17.1.2). ACK and CANCEL are built from their INVITE.
import type { SipResponse } from '../message/message.js';
import { type HeaderLine, requestBytes, type RequestData } from '../message/serialiser.js';
import type { Flow, TransportFailure } from '../transport/flow.js';
import type { OutgoingRequest } from './outgoing-request.js';
import { lifetime, type RunningTimer, type TimerName } from './timer-queue.js';
import type { TransactionContext } from './transaction.js';

export interface ClientTransaction {
  readonly request: RequestData;
  readonly branch: string;
  /** Flow that carried the request; undefined until it was sent. */
  readonly flow: Flow | undefined;
  /** True once no more responses can come. */
  readonly over: boolean;
}

export interface ClientUser {
  /**
   * Receives every provisional response and the final one; for an INVITE every 2xx, of all branches and each
   * time.
   */
  response(response: SipResponse): void;
  /** Reports that no final response came. The user treats it as this status (RFC 3261, section 8.1.3.1). */
  failed(failure: ClientFailure): void;
}

export interface ClientFailure {
  readonly reason: TransportFailure | 'no-answer' | 'cancelled';
  readonly status: 408 | 487 | 503;
}

export function clientFailure(reason: ClientFailure['reason']): ClientFailure {
  if (reason === 'no-answer') return { reason, status: 408 };
  return { reason, status: reason === 'cancelled' ? 487 : 503 };
}

type InviteState = 'calling' | 'proceeding' | 'completed' | 'accepted' | 'terminated';

export class InviteClientTransaction implements ClientTransaction {
  readonly #outgoing: OutgoingRequest;
  readonly #user: ClientUser;
  readonly #context: TransactionContext;
  readonly #key: string;
  #state: InviteState = 'calling';
  #intervalMs: number;
  #repeat: RunningTimer | undefined; // A
  #limit: RunningTimer | undefined; // B, D, M, cancelled
  #ack: Buffer | undefined;
  #cancel: 'no' | 'wanted' | 'sent' = 'no';

  constructor(outgoing: OutgoingRequest, user: ClientUser, context: TransactionContext, key: string) {
    this.#outgoing = outgoing;
    this.#user = user;
    this.#context = context;
    this.#key = key;
    this.#intervalMs = context.durations.t1;
    this.#limit = context.timers.start(lifetime(context.durations), 'B', this);
    void this.#start();
  }

  get request(): RequestData {
    return this.#outgoing.data;
  }

  get branch(): string {
    return this.#outgoing.branch;
  }

  get flow(): Flow | undefined {
    return this.#outgoing.flow;
  }

  get state(): InviteState {
    return this.#state;
  }

  get over(): boolean {
    return this.#state === 'terminated';
  }

  /**
   * Cancels the INVITE at once, or as soon as a provisional response came. A final response or a failure
   * still follows.
   */
  cancel(): void {
    if (this.#cancel !== 'no' || (this.#state !== 'calling' && this.#state !== 'proceeding')) return;
    this.#cancel = 'wanted';
    if (this.#state === 'proceeding') this.#cancelNow();
  }

  received(response: SipResponse): void {
    const { status } = response;
    if (this.#state === 'accepted') {
      if (status >= 200 && status < 300) this.#user.response(response);
    } else if (this.#state === 'completed') {
      if (status >= 300) this.#acknowledge();
    } else if (this.#state !== 'terminated') {
      this.#settle(response);
      this.#user.response(response);
    }
  }

  expired(timer: TimerName): void {
    if (timer === 'A') {
      this.#outgoing.sendAgain();
      this.#repeatLater();
    } else if (timer === 'B') this.#fail('no-answer');
    else if (timer === 'cancelled') this.#fail('cancelled');
    else this.#end();
  }

  close(): void {
    this.#repeat?.stop();
    this.#limit?.stop();
    this.#outgoing.settled();
    this.#state = 'terminated';
  }

  async #start(): Promise<void> {
    const flow = await this.#outgoing.send(() => this.#lost());
    if (this.#state === 'terminated') this.#outgoing.settled();
    else if (typeof flow === 'string') this.#fail(flow);
    else if (!flow.reliable && this.#state === 'calling')
      this.#repeat = this.#context.timers.start(this.#intervalMs, 'A', this);
  }

  #repeatLater(): void {
    this.#intervalMs *= 2;
    this.#repeat = this.#context.timers.start(this.#intervalMs, 'A', this);
  }

  #settle(response: SipResponse): void {
    const { timers, durations } = this.#context;
    this.#repeat?.stop();
    if (response.status < 200) {
      const first = this.#state === 'calling';
      this.#state = 'proceeding';
      if (first) this.#limit?.stop(); // timer B; the user limits how long the phone may ring
      if (this.#cancel === 'wanted') this.#cancelNow();
      return;
    }
    this.#limit?.stop();
    if (response.status < 300) {
      this.#state = 'accepted';
      this.#outgoing.settled();
      this.#limit = timers.start(lifetime(durations), 'M', this);
      return;
    }
    this.#state = 'completed';
    this.#ack = requestBytes(ackOf(this.request, response), this.#outgoing.via);
    this.#acknowledge();
    this.#outgoing.settled();
    if (this.#outgoing.flow?.reliable ?? false) this.#end();
    else this.#limit = timers.start(durations.d, 'D', this);
  }

  #acknowledge(): void {
    if (this.#ack !== undefined) void this.#outgoing.flow?.send(this.#ack);
  }

  #cancelNow(): void {
    this.#cancel = 'sent';
    this.#context.cancel(this.#outgoing);
    this.#limit?.stop();
    this.#limit = this.#context.timers.start(lifetime(this.#context.durations), 'cancelled', this);
  }

  /**
   * Handles a closed connection. After a provisional response the answer may still come over another
   * connection.
   */
  #lost(): void {
    if (this.#state === 'calling') this.#fail('closed');
  }

  #fail(reason: ClientFailure['reason']): void {
    if (this.#state === 'terminated') return;
    this.#end();
    if (reason === 'no-answer') this.#outgoing.unanswered();
    this.#user.failed(clientFailure(reason));
  }

  #end(): void {
    this.close();
    this.#context.clientGone(this.#key);
  }
}

type NonInviteState = 'trying' | 'proceeding' | 'completed' | 'terminated';

export class NonInviteClientTransaction implements ClientTransaction {
  readonly #outgoing: OutgoingRequest;
  readonly #user: ClientUser;
  readonly #context: TransactionContext;
  readonly #key: string;
  #state: NonInviteState = 'trying';
  #intervalMs: number;
  #repeat: RunningTimer | undefined; // E
  #limit: RunningTimer; // F, K

  constructor(outgoing: OutgoingRequest, user: ClientUser, context: TransactionContext, key: string) {
    this.#outgoing = outgoing;
    this.#user = user;
    this.#context = context;
    this.#key = key;
    this.#intervalMs = context.durations.t1;
    this.#limit = context.timers.start(lifetime(context.durations), 'F', this);
    void this.#start();
  }

  get request(): RequestData {
    return this.#outgoing.data;
  }

  get branch(): string {
    return this.#outgoing.branch;
  }

  get flow(): Flow | undefined {
    return this.#outgoing.flow;
  }

  get state(): NonInviteState {
    return this.#state;
  }

  get over(): boolean {
    return this.#state === 'terminated';
  }

  received(response: SipResponse): void {
    if (this.#state === 'completed' || this.#state === 'terminated') return;
    if (response.status < 200) this.#state = 'proceeding';
    else this.#complete();
    this.#user.response(response);
  }

  expired(timer: TimerName): void {
    if (timer === 'F') this.#fail('no-answer');
    else if (timer === 'K') this.#end();
    else {
      this.#outgoing.sendAgain();
      const { timers, durations } = this.#context;
      this.#intervalMs =
        this.#state === 'proceeding' ? durations.t2 : Math.min(this.#intervalMs * 2, durations.t2);
      this.#repeat = timers.start(this.#intervalMs, 'E', this);
    }
  }

  close(): void {
    this.#repeat?.stop();
    this.#limit.stop();
    this.#outgoing.settled();
    this.#state = 'terminated';
  }

  async #start(): Promise<void> {
    const flow = await this.#outgoing.send(() => this.#lost());
    if (this.over) this.#outgoing.settled();
    else if (typeof flow === 'string') this.#fail(flow);
    else if (!flow.reliable && this.#state !== 'completed')
      this.#repeat = this.#context.timers.start(this.#intervalMs, 'E', this);
  }

  #complete(): void {
    this.#state = 'completed';
    this.#repeat?.stop();
    this.#limit.stop();
    this.#outgoing.settled();
    if (this.#outgoing.flow?.reliable ?? false) this.#end();
    else this.#limit = this.#context.timers.start(this.#context.durations.t4, 'K', this);
  }

  #lost(): void {
    if (this.#state === 'trying' || this.#state === 'proceeding') this.#fail('closed');
  }

  #fail(reason: ClientFailure['reason']): void {
    if (this.#state === 'terminated') return;
    this.#end();
    if (reason === 'no-answer') this.#outgoing.unanswered();
    this.#user.failed(clientFailure(reason));
  }

  #end(): void {
    this.close();
    this.#context.clientGone(this.#key);
  }
}

function ackOf(invite: RequestData, response: SipResponse): RequestData {
  return { method: 'ACK', uri: invite.uri, headers: kept(invite, 'ACK', (sent) => response.toValue(sent)) };
}

export function cancelOf(invite: RequestData): RequestData {
  return { method: 'CANCEL', uri: invite.uri, headers: kept(invite, 'CANCEL') };
}

const KEPT: ReadonlySet<string> = new Set(['from', 'to', 'call-id', 'cseq', 'route']);

function kept(invite: RequestData, method: string, to = (sent: string) => sent): HeaderLine[] {
  return invite.headers.flatMap(([name, value]): HeaderLine[] => {
    const key = name.toLowerCase();
    if (!KEPT.has(key)) return [];
    if (key === 'cseq') return [[name, value.replace(/\S+\s*$/, method)]];
    return [[name, key === 'to' ? to(value) : value]];
  });
}
