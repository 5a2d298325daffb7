// The 2xx that we gave to INVITEs of one dialog, and the ACKs that they wait
// for. Each is repeated until then, for 64 T1 at most.
import type { SipRequest } from '../message/message.js';
import type { ResponseData } from '../message/serialiser.js';
import type { AcceptedAnswer } from '../transaction/accepted-answer.js';
import type { ServerTransaction } from '../transaction/server-transaction.js';
import type { SessionContext } from './session-context.js';

interface Awaited {
  readonly answer: AcceptedAnswer;
  readonly acknowledged: (ack: SipRequest) => void;
}

export interface AckUser {
  /** Once; an ACK may carry the answer to an offer in the 2xx. */
  acknowledged(ack: SipRequest): void;
  /** None came: the call is to be ended with BYE. */
  unacknowledged(): void;
}

export class AwaitedAcks {
  readonly #context: SessionContext;
  /** By the number of the INVITE. */
  readonly #awaited = new Map<number, Awaited>();
  #listeners: (() => void)[] = [];

  constructor(context: SessionContext) {
    this.#context = context;
  }

  get open(): boolean {
    return this.#awaited.size > 0;
  }

  /** False if it is too late for the response. */
  accept(transaction: ServerTransaction, response: Omit<ResponseData, 'toTag'>, user: AckUser): boolean {
    const { number } = transaction.request.cseq;
    const answer = this.#context.accept(transaction, response, () => {
      this.#done(number);
      user.unacknowledged();
    });
    if (answer === undefined) return false;
    this.#awaited.set(number, { answer, acknowledged: (ack) => user.acknowledged(ack) });
    return true;
  }

  acknowledged(ack: SipRequest): void {
    const awaited = this.#awaited.get(ack.cseq.number);
    if (awaited === undefined) return;
    awaited.answer.stop();
    awaited.acknowledged(ack);
    this.#done(ack.cseq.number);
  }

  /** Resolves as soon as no ACK is waited for. */
  settled(): Promise<void> {
    if (!this.open) return Promise.resolve();
    return new Promise((resolve) => this.#listeners.push(resolve));
  }

  /** Nothing is repeated any more. */
  close(): void {
    for (const { answer } of this.#awaited.values()) answer.stop();
    this.#awaited.clear();
    this.#told();
  }

  #done(number: number): void {
    this.#awaited.delete(number);
    if (!this.open) this.#told();
  }

  #told(): void {
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }
}
