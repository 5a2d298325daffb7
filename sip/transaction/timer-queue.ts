// Runs the timers of all transactions. SIP uses few durations and starts each of them often, so there
// is one queue per duration, ordered by due time, and one system timer for the first entry of each.
// Starting and stopping take constant time and create no closures.
import { attempt } from '../../src/errors.js';
import type { Time } from '../../src/time.js';

/**
 * Letters are the timers of RFC 3261, section 17, and RFC 6026; the other names are explained where they are
 * started.
 */
export type TimerName =
  | 'A'
  | 'B'
  | 'D'
  | 'E'
  | 'F'
  | 'G'
  | 'H'
  | 'I'
  | 'J'
  | 'K'
  | 'L'
  | 'M'
  | 'cancelled'
  | 'answer'
  | 'unanswered';

interface TimerOwner {
  expired(timer: TimerName): void;
}

export class RunningTimer {
  readonly dueMs: number;
  readonly #name: TimerName;
  readonly #queue: DurationQueue;
  #owner: TimerOwner | undefined;

  constructor(dueMs: number, name: TimerName, owner: TimerOwner, queue: DurationQueue) {
    this.dueMs = dueMs;
    this.#name = name;
    this.#owner = owner;
    this.#queue = queue;
  }

  /** Idempotent; may be called before and after the timer is due. */
  stop(): void {
    if (this.#owner === undefined) return;
    this.#owner = undefined;
    this.#queue.left();
  }

  /** Never throws: the timers of other transactions follow. */
  fire(): void {
    const owner = this.#owner;
    this.stop();
    const timer = this.#name;
    attempt({ work: 'SIP transaction', timer }, () => owner?.expired(timer));
  }
}

const COMPACT_AT = 1024;

/** Timers of one duration: the first to start is the first to fall due. */
class DurationQueue {
  readonly #ms: number;
  readonly #time: Time;
  #timers: RunningTimer[] = [];
  #first = 0; // earlier entries have fired
  #running = 0;
  #cancelTimer: (() => void) | undefined;

  constructor(ms: number, time: Time) {
    this.#ms = ms;
    this.#time = time;
  }

  start(name: TimerName, owner: TimerOwner): RunningTimer {
    const timer = new RunningTimer(this.#time.now() + this.#ms, name, owner, this);
    this.#timers.push(timer);
    this.#running++;
    this.#cancelTimer ??= this.#time.after(this.#ms, () => this.#due());
    return timer;
  }

  /** A timer has fired or was stopped. */
  left(): void {
    this.#running--;
    if (this.#running === 0) this.clear();
  }

  clear(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#timers = [];
    this.#first = 0;
  }

  #due(): void {
    this.#cancelTimer = undefined;
    const now = this.#time.now();
    for (;;) {
      const timer = this.#timers[this.#first];
      if (timer === undefined || timer.dueMs > now) break;
      this.#first++;
      timer.fire();
    }
    this.#goOn(now);
  }

  #goOn(now: number): void {
    if (this.#first >= COMPACT_AT && this.#first * 2 > this.#timers.length) {
      this.#timers = this.#timers.slice(this.#first);
      this.#first = 0;
    }
    const next = this.#timers[this.#first];
    if (next !== undefined) this.#cancelTimer ??= this.#time.after(next.dueMs - now, () => this.#due());
  }
}

export class TimerQueue {
  readonly #time: Time;
  readonly #queues = new Map<number, DurationQueue>();
  #closed = false;

  constructor(time: Time) {
    this.#time = time;
  }

  start(ms: number, name: TimerName, owner: TimerOwner): RunningTimer {
    let queue = this.#queues.get(ms);
    if (queue === undefined || this.#closed) {
      queue = new DurationQueue(ms, this.#time);
      this.#queues.set(ms, queue);
    }
    const timer = queue.start(name, owner);
    if (this.#closed) timer.stop(); // the queue belongs to this timer alone
    return timer;
  }

  /** Stops all timers. */
  close(): void {
    this.#closed = true;
    for (const queue of this.#queues.values()) queue.clear();
  }
}

/** Timer values in milliseconds (RFC 3261, table 4). */
export interface SipTimers {
  /** T1: the round-trip time estimate. */
  readonly t1: number;
  /** T2: the longest interval between retransmissions. */
  readonly t2: number;
  /** T4: the longest time that a message stays in the network. */
  readonly t4: number;
  /** Timer D: the wait for retransmitted responses. */
  readonly d: number;
}

export const SIP_TIMERS: SipTimers = { t1: 500, t2: 4000, t4: 5000, d: 32_000 };

/** Timers B, F, H, J, L and M: the longest life of a transaction. */
export function lifetime({ t1 }: SipTimers): number {
  return 64 * t1;
}
