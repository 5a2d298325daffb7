// A 2xx to an INVITE, sent again until its ACK comes (RFC 3261, section
// 13.3.1.4): over every transport, because no hop on the way does it.
import type { InviteServerTransaction } from './invite-server.js';
import { lifetime } from './sip-timers.js';
import type { RunningTimer, TimerName } from './timer-queue.js';
import type { TransactionContext } from './wire.js';

export class AcceptedAnswer {
  readonly #transaction: InviteServerTransaction;
  readonly #context: TransactionContext;
  readonly #unanswered: () => void;
  #intervalMs: number;
  #repeat: RunningTimer;
  readonly #limit: RunningTimer;

  /** For a 2xx that was just given to the transaction. `unanswered`: no ACK came in 64 T1; the call is to be ended with BYE. */
  constructor(transaction: InviteServerTransaction, context: TransactionContext, unanswered: () => void) {
    this.#transaction = transaction;
    this.#context = context;
    this.#unanswered = unanswered;
    this.#intervalMs = context.durations.t1;
    this.#repeat = context.timers.start(this.#intervalMs, 'answer', this);
    this.#limit = context.timers.start(lifetime(context.durations), 'unanswered', this);
  } // prettier-ignore

  /** The ACK has come, or nobody waits for it any more. */
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
