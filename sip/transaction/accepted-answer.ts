// A 2xx to an INVITE, sent again until its ACK comes (RFC 3261, section
// 13.3.1.4): over every transport, because no hop on the way does it.
import type { InviteServerTransaction } from './invite-server.js';
import { lifetime } from './sip-timers.js';
import type { RunningTimer, TimerName } from './timer-queue.js';
import type { Ground } from './wire.js';

export class AcceptedAnswer {
  readonly #transaction: InviteServerTransaction;
  readonly #ground: Ground;
  readonly #unanswered: () => void;
  #intervalMs: number;
  #repeat: RunningTimer;
  readonly #limit: RunningTimer;

  /** For a 2xx that was just given to the transaction. `unanswered`: no ACK came in 64 T1; the call is to be ended with BYE. */
  constructor(transaction: InviteServerTransaction, ground: Ground, unanswered: () => void) {
    this.#transaction = transaction;
    this.#ground = ground;
    this.#unanswered = unanswered;
    this.#intervalMs = ground.durations.t1;
    this.#repeat = ground.timers.start(this.#intervalMs, 'answer', this);
    this.#limit = ground.timers.start(lifetime(ground.durations), 'unanswered', this);
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
    this.#intervalMs = Math.min(this.#intervalMs * 2, this.#ground.durations.t2);
    this.#repeat = this.#ground.timers.start(this.#intervalMs, 'answer', this);
  }
}
