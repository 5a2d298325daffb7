// One re-INVITE of ours, from its sending to what came of it. Once a peer has
// said that it has an INVITE it may take its time, and its answer may never come:
// while one waits nobody else can offer, so it is taken back after a while.
import type { SendOutcome, SentInvite } from '../client/request-sender.js';
import { clientFailure } from '../transaction/client-transaction.js';
import type { DialogChannel, RequestContent } from './dialog-channel.js';

const MOST_MS = 180_000; // for a peer that says that somebody is asked: as long as a proxy waits (RFC 3261, Timer C)

export class ReInvite {
  /** What came of it, or that the call ended before that. 487 where it was taken back, 408 where that had no answer either. */
  readonly outcome: Promise<SendOutcome | 'ended'>;
  readonly #channel: DialogChannel;
  readonly #sent: SentInvite;
  readonly #startMs: number;
  #asking = false;
  #late = false;
  #settle: (outcome: SendOutcome | 'ended') => void = () => undefined;
  #cancelTimer: () => void;

  constructor(channel: DialogChannel, content: RequestContent) {
    const { time, patienceMs } = channel.context;
    this.#channel = channel;
    this.#startMs = time.now();
    this.outcome = new Promise((resolve) => (this.#settle = resolve));
    this.#cancelTimer = time.after(patienceMs, () => this.#takeBack());
    this.#sent = channel.invite(content, {
      provisional: () => this.#waitLonger(),
      accepted: (response) => {
        channel.acknowledge(response, () => ({ headers: [], credentials: this.#sent.credentials ?? [] }));
        this.#done({ response });
      },
      refused: (outcome) => this.#done(this.#late ? inTime(outcome) : outcome),
    });
  }

  /** The call has ended: nobody waits any more. */
  end(): void {
    this.#sent.cancel();
    this.#done('ended');
  }

  #waitLonger(): void {
    if (this.#asking || this.#late) return;
    this.#asking = true;
    const { time } = this.#channel.context;
    this.#cancelTimer();
    this.#cancelTimer = time.after(this.#startMs + MOST_MS - time.now(), () => this.#takeBack());
  }

  /** What comes of it then is still waited for, 64 T1 at most: an answer may have crossed. */
  #takeBack(): void {
    this.#late = true;
    this.#sent.cancel();
  }

  #done(outcome: SendOutcome | 'ended'): void {
    this.#cancelTimer();
    this.#settle(outcome);
  }
}

/** Of one that was taken back: nobody has said anything to that either. */
function inTime(outcome: SendOutcome): SendOutcome {
  const isSilent = 'failure' in outcome && outcome.failure.reason === 'cancelled';
  return isSilent ? { failure: clientFailure('no-answer') } : outcome;
}
