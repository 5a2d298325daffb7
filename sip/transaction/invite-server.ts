// The INVITE server transaction (RFC 3261, section 17.2.1, with RFC 6026).
import type { SipRequest } from '../message/message.js';
import { type ResponseData, responseBytes } from '../message/serialiser.js';
import type { Flow } from '../transport/flow.js';
import type { ServerEnd, ServerTransaction, ServerUser } from './server-transaction.js';
import { lifetime } from './sip-timers.js';
import type { RunningTimer, TimerName } from './timer-queue.js';
import type { TransactionContext } from './wire.js';

type State = 'proceeding' | 'completed' | 'confirmed' | 'accepted' | 'terminated';

export class InviteServerTransaction implements ServerTransaction {
  readonly request: SipRequest;
  readonly flow: Flow;
  readonly toTag: string;
  user: ServerUser = {};
  #refused = false;
  readonly #context: TransactionContext;
  readonly #key: string;
  #state: State = 'proceeding';
  #last: Buffer | undefined; // what a retransmission of the request gets
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

  /** 100, before anybody has looked at the INVITE, so that it is not sent again. */
  begin(): void {
    this.respond({ status: 100 });
  }

  get state(): State {
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
    const answerable = { via: this.#context.viaIn(this.request), fields: this.request.fields };
    const bytes = responseBytes(answerable, status === 100 ? response : { ...response, toTag: this.toTag });
    this.#repeat?.stop();
    this.#last = bytes;
    if (status >= 200) this.#context.inviteAnswered();
    if (status >= 300) this.#complete();
    else if (status >= 200) this.#accept();
    this.#send(bytes);
    return true;
  }

  /** The 2xx once more: when, the user decides (see AcceptedAnswer). */
  repeat(): void {
    if (this.#state === 'accepted' && this.#last !== undefined) this.#send(this.#last);
  }

  /** The same INVITE once more. */
  retransmitted(): void {
    const isAnswer = this.#state === 'proceeding' || this.#state === 'completed';
    if (isAnswer && this.#last !== undefined) this.#send(this.#last);
  }

  /** An ACK with the branch of the INVITE. False if it is one for a 2xx, and for the user. */
  acknowledged({ to }: SipRequest): boolean {
    if (this.#state === 'accepted') return false;
    if (this.#state !== 'completed') return true;
    // Of RFC 2543: other ACKs may look the same but for the tag of the response.
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
