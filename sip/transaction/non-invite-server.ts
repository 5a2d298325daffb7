// The server transaction of every other method (RFC 3261, section 17.2.2).
import type { SipRequest } from '../message/message.js';
import { type ResponseData, responseBytes } from '../message/serialiser.js';
import type { Flow } from '../transport/flow.js';
import type { ServerEnd, ServerTransaction, ServerUser } from './server-transaction.js';
import { lifetime } from './sip-timers.js';
import type { RunningTimer } from './timer-queue.js';
import type { TransactionContext } from './wire.js';

type State = 'trying' | 'proceeding' | 'completed' | 'terminated';

export class NonInviteServerTransaction implements ServerTransaction {
  readonly request: SipRequest;
  readonly flow: Flow;
  toTag: string;
  user: ServerUser = {};
  #refused = false;
  readonly #context: TransactionContext;
  readonly #key: string;
  #state: State = 'trying';
  #last: Buffer | undefined;
  #limit: RunningTimer; // F of the client, until a response is given; then J

  constructor(request: SipRequest, flow: Flow, toTag: string, context: TransactionContext, key: string) {
    this.request = request;
    this.flow = flow;
    this.toTag = toTag;
    this.#context = context;
    this.#key = key;
    // After that the client has given up, and a response would be in vain (RFC 4320, section 4.2).
    this.#limit = context.timers.start(lifetime(context.durations), 'F', this);
  }

  get state(): State {
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
    const answerable = { via: this.#context.viaIn(this.request), fields: this.request.fields };
    const bytes = responseBytes(answerable, status === 100 ? response : { ...response, toTag: this.toTag });
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

  /** The same request once more. */
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
