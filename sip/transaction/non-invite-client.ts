// The client transaction of every other method (RFC 3261, section 17.1.2).
import type { SipResponse } from '../message/message.js';
import type { RequestData } from '../message/serialiser.js';
import {
  type ClientFailure,
  clientFailure,
  type ClientTransaction,
  type ClientUser,
} from './client-transaction.js';
import type { Flow } from '../transport/flow.js';
import type { OutgoingRequest } from './outgoing-request.js';
import { lifetime } from './sip-timers.js';
import type { RunningTimer, TimerName } from './timer-queue.js';
import type { TransactionContext } from './wire.js';

type State = 'trying' | 'proceeding' | 'completed' | 'terminated';

export class NonInviteClientTransaction implements ClientTransaction {
  readonly #outgoing: OutgoingRequest;
  readonly #user: ClientUser;
  readonly #context: TransactionContext;
  readonly #key: string;
  #state: State = 'trying';
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

  get state(): State {
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
    else if (!flow.reliable && this.#state !== 'completed') this.#repeat = this.#context.timers.start(this.#intervalMs, 'E', this);
  } // prettier-ignore

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
