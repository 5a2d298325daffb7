// Sends the record of each telephone call that is over to an application.
//
//   waiting ──▶ in flight ──▶ taken
//      ▲            ├───────▶ refused     (4xx, redirects: it would be so again)
//      └── rests ◀──┴───────▶ expired     (5xx, 429, nobody there: for too long)
//
// What waits is bounded: the oldest is dropped for the newest. Records are kept
// in memory only, so those that wait when the server ends are lost, and counted.
import type { CallRecord } from '../call/phone-calls.js';
import type { Time } from '../time.js';
import { callRecordBody } from './call-record-body.js';
import type { Log } from './log.js';
import { type Answer, attempt, type Message } from './webhook-attempt.js';

export interface WebhookLimits {
  /** Records that may wait; those in flight are not among them. */
  readonly maxWaiting: number;
  readonly atOnce: number;
  /** Milliseconds until the head of an answer. */
  readonly timeoutMs: number;
  /** Milliseconds from the end of a call to the last attempt. */
  readonly expiryMs: number;
  /** Milliseconds of rest after the first failure, doubled each time up to the most; jitter takes up to half of it. */
  readonly firstRestMs: number;
  readonly mostRestMs: number;
  /** Milliseconds that closing may take. */
  readonly flushMs: number;
}

export interface WebhookOptions {
  readonly url: string;
  readonly secret: string;
  readonly time: Time;
  /** Milliseconds since 1970. */
  readonly wallClock: () => number;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Pick<Log, 'warn'>;
  readonly limits?: Partial<WebhookLimits>;
}

export type WebhookOutcome = 'taken' | 'refused' | 'expired' | 'dropped' | 'abandoned';

interface Delivery extends Message {
  readonly sentAtMs: number;
  attempts: number;
  /** Ends its rest; undefined of one that is due. */
  wake?: (() => void) | undefined;
}

const LIMITS: WebhookLimits = {
  maxWaiting: 1000,
  atOnce: 4,
  timeoutMs: 10_000,
  expiryMs: 15 * 60_000,
  firstRestMs: 1000,
  mostRestMs: 60_000,
  flushMs: 5000,
};
const LINE_MS = 10_000; // between two lines on records that were dropped

export class Webhook {
  readonly #options: WebhookOptions;
  readonly #limits: WebhookLimits;
  readonly #figures = { taken: 0, refused: 0, expired: 0, dropped: 0, abandoned: 0 };
  readonly #waiting = new Set<Delivery>();
  readonly #flying = new Set<Promise<void>>();
  readonly #end = new AbortController();
  #lastLineMs = -Infinity;
  #droppedSinceLine = 0;
  #idle: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: WebhookOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
  }

  /** Records by what became of them, since the server began. */
  get figures(): Readonly<Record<WebhookOutcome, number>> {
    return { ...this.#figures };
  }

  /** Records that wait or are in flight. */
  get size(): number {
    return this.#waiting.size + this.#flying.size;
  }

  /** Of them, those that wait for another attempt. */
  get resting(): number {
    return [...this.#waiting].filter(({ wake }) => wake !== undefined).length;
  }

  send(record: CallRecord): void {
    const { time, log } = this.#options;
    if (this.#closing !== undefined) {
      this.#figures.abandoned++;
      log.warn({ call: record.id }, 'call record not sent: the server closes');
      return;
    }
    if (this.#waiting.size >= this.#limits.maxWaiting) this.#dropOldest();
    const body = JSON.stringify(callRecordBody(record));
    this.#waiting.add({ id: record.id, body, sentAtMs: time.now(), attempts: 0 });
    this.#pump();
  }

  /** Tries what waits once more, for a bounded time; nothing is in flight when it resolves. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { time, log } = this.#options;
    for (const delivery of this.#waiting) {
      delivery.wake?.();
      delivery.wake = undefined;
    }
    await new Promise<void>((resolve) => {
      const callOff = time.after(this.#limits.flushMs, resolve);
      this.#idle = () => {
        callOff();
        resolve();
      };
      this.#pump();
    });
    this.#figures.abandoned += this.#waiting.size;
    this.#waiting.clear();
    this.#end.abort();
    await Promise.all(this.#flying);
    const { abandoned } = this.#figures;
    if (abandoned > 0) log.warn({ abandoned }, 'call records not sent: the server closed');
  }

  /** Sends as many as may be in flight of those that are due, oldest first. */
  #pump(): void {
    for (const delivery of this.#waiting) {
      if (this.#flying.size >= this.#limits.atOnce) return;
      if (delivery.wake !== undefined) continue;
      this.#waiting.delete(delivery);
      const flight = this.#fly(delivery).finally(() => {
        this.#flying.delete(flight);
        this.#pump();
      });
      this.#flying.add(flight);
    }
    if (this.size === 0) this.#idle?.();
  }

  async #fly(delivery: Delivery): Promise<void> {
    const { timeoutMs } = this.#limits;
    delivery.attempts++;
    const answer = await attempt({ ...this.#options, timeoutMs }, delivery, this.#end.signal);
    if (answer.kind === 'taken') {
      this.#figures.taken++;
    } else if (answer.kind === 'refused') {
      this.#figures.refused++;
      const { status } = answer;
      this.#options.log.warn({ call: delivery.id, status }, 'call record refused: it is not sent again');
    } else if (this.#closing !== undefined) {
      this.#figures.abandoned++;
    } else {
      this.#rest(delivery, answer);
    }
  }

  #rest(delivery: Delivery, { status, waitMs }: Extract<Answer, { kind: 'again' }>): void {
    const { time, random, log } = this.#options;
    const { expiryMs, firstRestMs, mostRestMs } = this.#limits;
    const { id: call, attempts, sentAtMs } = delivery;
    const fullMs = Math.min(mostRestMs, firstRestMs * 2 ** (attempts - 1));
    const restMs = Math.max(waitMs, fullMs * (1 - random() / 2));
    if (time.now() + restMs - sentAtMs > expiryMs) {
      this.#figures.expired++;
      log.warn({ call, attempts, status }, 'call record given up: nobody took it in time');
      return;
    }
    if (this.#waiting.size >= this.#limits.maxWaiting) this.#dropOldest();
    delivery.wake = time.after(restMs, () => {
      delivery.wake = undefined;
      this.#pump();
    });
    this.#waiting.add(delivery);
  }

  #dropOldest(): void {
    const [first, ...others] = this.#waiting;
    if (first === undefined) return;
    const oldest = others.reduce((found, one) => (one.sentAtMs < found.sentAtMs ? one : found), first);
    oldest.wake?.();
    this.#waiting.delete(oldest);
    this.#figures.dropped++;
    this.#droppedSinceLine++;
    const nowMs = this.#options.time.now();
    if (nowMs - this.#lastLineMs < LINE_MS) return;
    const fields = { records: this.#droppedSinceLine, dropped: this.#figures.dropped };
    this.#lastLineMs = nowMs;
    this.#droppedSinceLine = 0;
    this.#options.log.warn(fields, 'call records dropped: too many wait');
  }
}
