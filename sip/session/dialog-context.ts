// Declares what the parts of a dialog's session share: the channel, the session timer, the end, waits
// that end early with the session (Pauses), and the 2xx responses that wait for their ACK
// (AwaitedAcks).
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
  /** True if we sent the INVITE that began the dialog and chose the Call-ID. */
  readonly calling: boolean;
  readonly media: SessionMedia | undefined;
  readonly user: SessionUser;
  readonly confirmed: boolean;
  readonly ended: boolean;
  /** Ends the session at once and sends BYE. */
  bye(end: SessionEnd, reason?: Reason): Promise<void>;
  /** A part has finished; the dialog is removed if it was the last one. */
  leave(): void;
}

interface Awaited {
  readonly answer: AcceptedAnswer;
  readonly acknowledged: (ack: SipRequest) => void;
}

interface AckUser {
  /** Called once; an ACK may carry the answer to an offer in the 2xx. */
  acknowledged(ack: SipRequest): void;
  /** No ACK came: the call has to be ended with BYE. */
  unacknowledged(): void;
}

export class AwaitedAcks {
  readonly #context: SessionContext;
  /** Keyed by the CSeq number of the INVITE. */
  readonly #awaited = new Map<number, Awaited>();
  #listeners: (() => void)[] = [];

  constructor(context: SessionContext) {
    this.#context = context;
  }

  get open(): boolean {
    return this.#awaited.size > 0;
  }

  /**
   * Sends a 2xx and repeats it until its ACK, for 64 T1 at most. False if it is too late for the response.
   */
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

  /** Resolves as soon as no ACK is awaited. */
  settled(): Promise<void> {
    if (!this.open) return Promise.resolve();
    return new Promise((resolve) => this.#listeners.push(resolve));
  }

  /** Stops all repetitions. */
  close(): void {
    for (const { answer } of this.#awaited.values()) answer.stop();
    this.#awaited.clear();
    this.#notifySettled();
  }

  #done(number: number): void {
    this.#awaited.delete(number);
    if (!this.open) this.#notifySettled();
  }

  #notifySettled(): void {
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }
}

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

  /** Ends all waits; later ones end at once. */
  close(): void {
    this.#closed = true;
    for (const end of this.#under) end();
  }
}
