// What the parts of a dialog's session share: the way out, the session timer,
// the ACKs that are waited for, and the end.
import type { Time } from '../../src/time.js';
import type { SipRequest } from '../message/message.js';
import type { Reason } from '../message/refusal.js';
import type { ResponseData } from '../message/serialiser.js';
import type { AcceptedAnswer, ServerTransaction } from '../transaction/server-transaction.js';
import type { DialogChannel } from './dialog-channel.js';
import type { SessionContext } from './session-context.js';
import type { SessionTimer } from './session-timer.js';
import type { SessionEnd, SessionMedia, SessionUser } from './session.js';

export interface DialogContext {
  readonly channel: DialogChannel;
  readonly timer: SessionTimer;
  readonly awaited: AwaitedAcks;
  readonly pauses: Pauses;
  /** Whether the INVITE that began the dialog was ours, and with it the Call-ID. */
  readonly calling: boolean;
  readonly media: SessionMedia | undefined;
  readonly user: SessionUser;
  readonly confirmed: boolean;
  readonly ended: boolean;
  /** Ends the session at once and tells the peer so. */
  bye(end: SessionEnd, reason?: Reason): Promise<void>;
  /** Something is done that may have been the last. */
  leave(): void;
}

// The 2xx that we gave to INVITEs of one dialog, and the ACKs that they wait
// for. Each is repeated until then, for 64 T1 at most.

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

// Waits of a session that end early when the session does.

export class Pauses {
  readonly #time: Time;
  readonly #under = new Set<() => void>();
  #closed = false;

  constructor(time: Time) {
    this.#time = time;
  }

  wait(ms: number): Promise<void> {
    if (this.#closed) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        cancelTimer();
        this.#under.delete(end);
        resolve();
      };
      const cancelTimer = this.#time.after(ms, end);
      this.#under.add(end);
    });
  }

  /** Ends all of them, and those to come at once. */
  close(): void {
    this.#closed = true;
    for (const end of this.#under) end();
  }
}
