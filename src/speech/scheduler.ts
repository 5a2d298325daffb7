// Whose sentence is next: one bounded queue in front of one engine.
//
// A slot is the engine's attention for one sentence: its holder gives it back as
// soon as the engine is free for the next one, which may be long before the
// sound has been taken. The order is sentence-queue.ts'; here are its promises.
import { ParleyError } from '../errors.js';
import { systemTime, type Time } from '../time.js';
import { SentenceQueue, type Waiting } from './sentence-queue.js';
import { UNHURRIED, type SpeechClass, type Urgency } from './urgency.js';

export interface SchedulerOptions {
  /** Named in refusals. */
  readonly engine: string;
  /** Sentences the engine works on at once. */
  readonly concurrency: number;
  /** Sentences of each class (calls, WebSockets, HTTP) that may wait behind those. */
  readonly maxWaiting: number;
  /** Milliseconds that one may wait; without an end where absent. */
  readonly maxWaitMs?: number | undefined;
  readonly time?: Time | undefined;
}

/** Given back once, any further time does nothing. */
export type ReleaseSlot = () => void;

interface Turn {
  readonly begin: () => void;
  readonly refuse: (error: ParleyError) => void;
}

const RECENT = 0.2; // weight of the latest sentence in the usual time of one
const MIN_RETRY_SECONDS = 1;
const MAX_RETRY_SECONDS = 60; // what common clients obey at most

export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #time: Time;
  readonly #queue: SentenceQueue<Turn>;
  /** For the close: everybody who waits. */
  readonly #turns = new Set<Turn>();
  #active = 0;
  /** What a sentence usually takes, in milliseconds; 0 while none was served. */
  #usualMs = 0;
  #closed = false;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#time = options.time ?? systemTime;
    this.#queue = new SentenceQueue(options.maxWaiting);
  }

  get active(): number {
    return this.#active;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  waitingOf(kind: SpeechClass): number {
    return this.#queue.waitingOf(kind);
  }

  /**
   * Resolves with the slot. Rejects with ENGINE_BUSY when as many of its class wait as may, TIMEOUT when it has
   * waited for as long as it may, and ABORTED as soon as the signal is aborted or the scheduler closed. `cost`
   * is what the sentence counts in its client's fair share: its characters, say.
   */
  enter(signal: AbortSignal, urgency: Urgency = UNHURRIED, cost = 1): Promise<ReleaseSlot> {
    const { engine, concurrency } = this.#options;
    if (this.#closed) return Promise.reject(new ParleyError('WRONG_STATE', `the engine ${engine} is closed`));
    if (signal.aborted) return Promise.reject(new ParleyError('ABORTED', 'the sentence was given up'));
    if (this.#active < concurrency) return Promise.resolve(this.#takeSlot());
    return this.#wait(signal, urgency, cost);
  }

  /** Refuses everybody who waits; slots that are held stay held. Idempotent. */
  close(): void {
    this.#closed = true;
    const error = new ParleyError('ABORTED', `the engine ${this.#options.engine} was closed`);
    for (const turn of this.#turns) turn.refuse(error);
  }

  #wait(signal: AbortSignal, urgency: Urgency, cost: number): Promise<ReleaseSlot> {
    return new Promise((resolve, reject) => {
      let forgetLimit: () => void = () => undefined;
      const leave = () => {
        this.#queue.delete(place);
        this.#turns.delete(turn);
        signal.removeEventListener('abort', giveUp);
        forgetLimit();
      };
      const turn: Turn = {
        begin: () => {
          leave();
          resolve(this.#takeSlot());
        },
        refuse: (error) => {
          leave();
          reject(error);
        },
      };
      const giveUp = () => turn.refuse(new ParleyError('ABORTED', 'the sentence was given up while waiting'));
      const nowMs = this.#time.now();
      const place: Waiting<Turn> = SentenceQueue.place(turn, urgency, cost, nowMs);
      this.#turns.add(turn);
      signal.addEventListener('abort', giveUp, { once: true });
      const leaves = this.#queue.add(place, nowMs);
      leaves?.item.refuse(this.#busy(urgency.class));
      const { maxWaitMs } = this.#options;
      if (maxWaitMs === undefined || leaves === place) return;
      forgetLimit = this.#time.after(maxWaitMs, () => turn.refuse(this.#waitedTooLong(maxWaitMs)));
    });
  }

  #busy(kind: SpeechClass): ParleyError {
    const { engine, maxWaiting, concurrency } = this.#options;
    const seconds = (this.#usualMs * (this.#queue.size + 1)) / concurrency / 1000;
    return new ParleyError(
      'ENGINE_BUSY',
      `${maxWaiting} sentences of class ${kind} wait for the engine ${engine}, which is what MAX_QUEUE_DEPTH allows`,
      { retryAfterSeconds: Math.min(Math.max(seconds, MIN_RETRY_SECONDS), MAX_RETRY_SECONDS) },
    );
  }

  #waitedTooLong(ms: number): ParleyError {
    const { engine } = this.#options;
    return new ParleyError(
      'TIMEOUT',
      `the sentence waited ${ms / 1000} s for the engine ${engine}, which is what REQUEST_TIMEOUT allows`,
    );
  }

  #takeSlot(): ReleaseSlot {
    this.#active++;
    const takenAtMs = this.#time.now();
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#active--;
      const nowMs = this.#time.now();
      const tookMs = nowMs - takenAtMs;
      this.#usualMs = this.#usualMs === 0 ? tookMs : this.#usualMs + RECENT * (tookMs - this.#usualMs);
      this.#queue.take(nowMs)?.item.begin();
    };
  }
}
