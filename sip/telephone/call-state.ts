// The state of a telephone call, and the reasons of its end.
import { EventLog } from '../../src/call/call-book.js';
import type { PhoneCallEnd, PhoneCallState } from '../../src/call/phone-calls.js';
import type { Time } from '../../src/time.js';
import { stated } from '../../src/stated.js';
import type { Reason } from '../message/refusal.js';
import type { SessionEnd } from '../session/session.js';

export { EventLog };

export class CallState {
  readonly #events: Pick<EventLog, 'add'>;
  #now: PhoneCallState;

  /** `headers` of the INVITE go into the first event. */
  constructor(
    events: Pick<EventLog, 'add'>,
    first: PhoneCallState,
    headers?: Readonly<Record<string, string>>,
  ) {
    this.#events = events;
    this.#now = first;
    events.add({ type: 'state', state: first, ...(headers === undefined ? {} : { headers }) });
  }

  get now(): PhoneCallState {
    return this.#now;
  }

  /** The call was answered. */
  get isUp(): boolean {
    return this.#now === 'connected' || this.#now === 'held';
  }

  /** Reports each state once, and nothing after the end. `end` belongs to the last state. */
  step(state: PhoneCallState, end?: PhoneCallEnd): void {
    if (this.#now === state || this.#now === 'ended') return;
    this.#now = state;
    this.#events.add({ type: 'state', state, ...(end === undefined ? {} : { end }) });
  }
}

const WORDS: Readonly<Record<SessionEnd['by'], PhoneCallEnd['reason']>> = {
  peer: 'peer hung up',
  us: 'we hung up',
  cancelled: 'cancelled',
  rejected: 'rejected',
  unanswered: 'no answer',
  unacknowledged: 'failed',
  expired: 'failed',
  transport: 'failed',
  replaced: 'transferred',
};
const DETAILS: Partial<Record<SessionEnd['by'], string>> = {
  unacknowledged: 'the far end never acknowledged the answer',
  expired: 'neither end refreshed the session in time',
  transport: 'the far end cannot be reached any more',
};

/**
 * Translates the end of a session for applications. In an inbound call our refusal is `rejected`; an outbound
 * call that could not be sent has `failed`.
 */
export function whyEnded(
  { by, status, reason }: SessionEnd,
  direction: 'inbound' | 'outbound',
): PhoneCallEnd {
  const detail = reason?.text ?? DETAILS[by];
  const refused = direction === 'inbound' ? 'rejected' : 'failed';
  const cause = reason?.protocol === 'q.850' ? reason.cause : undefined;
  const outcome = by === 'us' && status !== undefined ? refused : WORDS[by];
  return stated({ reason: outcome, status, cause, detail });
}

const CAUSES: Partial<Record<PhoneCallEnd['reason'], readonly [cause: number, text: string]>> = {
  'we hung up': [16, 'Normal call clearing'],
  'no answer': [19, 'No answer from user'],
  transferred: [16, 'Transferred'],
  'media timeout': [31, 'No media received'],
  silence: [31, 'Nothing happened in the call'],
  'server closing': [41, 'Temporary failure'],
  failed: [41, 'Temporary failure'],
};

/** The Reason field of our BYE or CANCEL, with a Q.850 cause. */
export function sessionReason({ reason }: PhoneCallEnd): Reason | undefined {
  const [cause, text] = CAUSES[reason] ?? [];
  return cause === undefined ? undefined : { protocol: 'q.850', cause, text };
}

// Ends a call in which nothing has happened for a while: a line that was left open, or an application that is
// gone.

export class SilenceLimit {
  readonly #time: Time;
  readonly #limitMs: number;
  readonly #reached: () => void;
  #busy = 0;
  #cancelTimer: () => void = () => undefined;
  #closed = false;

  /** Counts from now on; `limitMs` 0 sets no limit. */
  constructor(time: Time, limitMs: number, reached: () => void) {
    this.#time = time;
    this.#limitMs = limitMs;
    this.#reached = reached;
    this.#count();
  }

  /** Restarts the limit. */
  restart(): void {
    if (this.#busy === 0) this.#count();
  }

  /** Suspends the limit until the returned function is called. */
  during(): () => void {
    this.#busy++;
    this.#cancelTimer();
    let over = false;
    return () => {
      if (over) return;
      over = true;
      if (--this.#busy === 0) this.#count();
    };
  }

  close(): void {
    this.#closed = true;
    this.#cancelTimer();
  }

  #count(): void {
    this.#cancelTimer();
    if (this.#closed || this.#limitMs === 0) return;
    this.#cancelTimer = this.#time.after(this.#limitMs, this.#reached);
  }
}
