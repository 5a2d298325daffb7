// Runs the client transactions: INVITE (RFC 3261, section 17.1.1, with RFC 6026) and every other
// method (section 17.1.2). ACK and CANCEL are built from their INVITE.
//
//   state       INVITE                                   other methods
//   calling     sent again after A, 2 A, 4 A; ends at B  -
//   trying      -                                        sent again after E, up to T2; ends at F
//   proceeding  not sent again; the user limits it       sent again every T2; ends at F
//   accepted    every 2xx goes to the user; ends at M    -
//   completed   every refusal gets its ACK; ends at D    responses are ignored; ends at K
import type { SipResponse } from '../message/message.js';
import { type HeaderLine, requestBytes, type RequestData } from '../message/serialiser.js';
import type { Flow, TransportFailure } from '../transport/flow.js';
import type { OutgoingRequest } from './outgoing-request.js';
import { lifetime, type RunningTimer, type TimerName } from './timer-queue.js';
import type { TransactionContext } from './transaction.js';

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

type ClientState = 'calling' | 'trying' | 'proceeding' | 'accepted' | 'completed' | 'terminated';

export class ClientTransaction {
  readonly #outgoing: OutgoingRequest;
  readonly #user: ClientUser;
  readonly #context: TransactionContext;
  readonly #key: string;
  readonly #isInvite: boolean;
  #state: ClientState;
  #intervalMs: number;
  #repeat: RunningTimer | undefined; // A, E
  #limit: RunningTimer; // B, D, F, K, M, cancelled
  #ack: Buffer | undefined;
  #cancel: 'no' | 'wanted' | 'sent' = 'no';

  constructor(outgoing: OutgoingRequest, user: ClientUser, context: TransactionContext, key: string) {
    this.#outgoing = outgoing;
    this.#user = user;
    this.#context = context;
    this.#key = key;
    this.#isInvite = outgoing.data.method === 'INVITE';
    this.#state = this.#isInvite ? 'calling' : 'trying';
    this.#intervalMs = context.durations.t1;
    this.#limit = context.timers.start(lifetime(context.durations), this.#isInvite ? 'B' : 'F', this);
    void this.#start();
  }

  get request(): RequestData {
    return this.#outgoing.data;
  }

  get branch(): string {
    return this.#outgoing.branch;
  }

  /** Flow that carried the request; undefined until it was sent. */
  get flow(): Flow | undefined {
    return this.#outgoing.flow;
  }

  get state(): ClientState {
    return this.#state;
  }

  /** True once no more responses can come. */
  get over(): boolean {
    return this.#state === 'terminated';
  }

  /**
   * Cancels an INVITE at once, or as soon as a provisional response came. A final response or a failure
   * still follows. Other requests cannot be cancelled.
   */
  cancel(): void {
    if (!this.#isInvite || this.#cancel !== 'no' || !this.#awaitsFinal) return;
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
      if (status < 200) this.#proceed();
      else this.#settle(response);
      this.#user.response(response);
    }
  }

  expired(timer: TimerName): void {
    if (timer === 'A' || timer === 'E') this.#sendAgain();
    else if (timer === 'B' || timer === 'F') this.#fail('no-answer');
    else if (timer === 'cancelled') this.#fail('cancelled');
    else this.#end();
  }

  close(): void {
    this.#repeat?.stop();
    this.#limit.stop();
    this.#outgoing.settled();
    this.#state = 'terminated';
  }

  get #awaitsFinal(): boolean {
    return this.#state === 'calling' || this.#state === 'trying' || this.#state === 'proceeding';
  }

  /**
   * True while the request is sent again over unreliable transports: INVITE until its first provisional
   * response, other methods until their final response.
   */
  get #isRepeated(): boolean {
    return this.#awaitsFinal && !(this.#isInvite && this.#state === 'proceeding');
  }

  async #start(): Promise<void> {
    const flow = await this.#outgoing.send(() => this.#lost());
    if (this.over) this.#outgoing.settled();
    else if (typeof flow === 'string') this.#fail(flow);
    else if (!flow.reliable && this.#isRepeated) this.#repeatLater();
  }

  #sendAgain(): void {
    const { t2 } = this.#context.durations;
    this.#outgoing.sendAgain();
    if (this.#isInvite) this.#intervalMs *= 2;
    else this.#intervalMs = this.#state === 'proceeding' ? t2 : Math.min(this.#intervalMs * 2, t2);
    this.#repeatLater();
  }

  #repeatLater(): void {
    this.#repeat = this.#context.timers.start(this.#intervalMs, this.#isInvite ? 'A' : 'E', this);
  }

  /** Handles a provisional response. */
  #proceed(): void {
    const isFirst = this.#state !== 'proceeding';
    this.#state = 'proceeding';
    if (!this.#isInvite) return;
    this.#repeat?.stop();
    if (isFirst) this.#limit.stop(); // timer B; the user limits how long the phone may ring
    if (this.#cancel === 'wanted') this.#cancelNow();
  }

  /** Handles the first final response. */
  #settle(response: SipResponse): void {
    const { timers, durations } = this.#context;
    this.#repeat?.stop();
    this.#limit.stop();
    if (this.#isInvite && response.status < 300) {
      this.#state = 'accepted';
      this.#outgoing.settled();
      this.#limit = timers.start(lifetime(durations), 'M', this);
      return;
    }
    this.#state = 'completed';
    if (this.#isInvite) this.#ack = requestBytes(ackOf(this.request, response), this.#outgoing.via);
    this.#acknowledge();
    this.#outgoing.settled();
    if (this.flow?.reliable ?? false) this.#end();
    else if (this.#isInvite) this.#limit = timers.start(durations.d, 'D', this);
    else this.#limit = timers.start(durations.t4, 'K', this);
  }

  #acknowledge(): void {
    if (this.#ack !== undefined) void this.flow?.send(this.#ack);
  }

  #cancelNow(): void {
    this.#cancel = 'sent';
    this.#context.cancel(this.#outgoing);
    this.#limit.stop();
    this.#limit = this.#context.timers.start(lifetime(this.#context.durations), 'cancelled', this);
  }

  /**
   * Handles a closed connection. After a provisional response to INVITE the answer may still come over
   * another connection.
   */
  #lost(): void {
    if (this.#isRepeated) this.#fail('closed');
  }

  #fail(reason: ClientFailure['reason']): void {
    if (this.over) return;
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
