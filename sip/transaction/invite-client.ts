// The INVITE client transaction (RFC 3261, section 17.1.1, with RFC 6026).
import type { SipResponse } from '../message/message.js';
import { requestBytes, type RequestData } from '../message/serialiser.js';
import {
  type ClientFailure,
  clientFailure,
  type ClientTransaction,
  type ClientUser,
} from './client-transaction.js';
import { ackOf } from './invite-follow-ups.js';
import type { Flow } from '../transport/flow.js';
import type { OutgoingRequest } from './outgoing-request.js';
import { lifetime } from './sip-timers.js';
import type { RunningTimer, TimerName } from './timer-queue.js';
import type { TransactionContext } from './wire.js';

type State = 'calling' | 'proceeding' | 'completed' | 'accepted' | 'terminated';

export class InviteClientTransaction implements ClientTransaction {
  readonly #outgoing: OutgoingRequest;
  readonly #user: ClientUser;
  readonly #context: TransactionContext;
  readonly #key: string;
  #state: State = 'calling';
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
  } // prettier-ignore

  get request(): RequestData {
    return this.#outgoing.data;
  }

  get branch(): string {
    return this.#outgoing.branch;
  }

  get flow(): Flow | undefined {
    return this.#outgoing.flow;
  }

  get state(): State {
    return this.#state;
  }

  get over(): boolean {
    return this.#state === 'terminated';
  }

  /** Takes the call back: at once, or when the peer has said that it is there. A final response still comes, or a failure. */
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
    else if (!flow.reliable && this.#state === 'calling') this.#repeat = this.#context.timers.start(this.#intervalMs, 'A', this);
  } // prettier-ignore

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
      if (first) this.#limit?.stop(); // B; how long it may ring is for the user to say
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

  /** The connection closed. What was answered may be answered further over another. */
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
