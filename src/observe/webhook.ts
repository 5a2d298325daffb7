// Sends the record of each ended telephone call to the application's webhook.
//
//   waiting ──▶ in flight ──▶ taken
//      ▲            ├───────▶ refused     4xx, redirects: permanent
//      └── backoff ◀┴───────▶ expired     5xx, 429, no response: for too long
//
// The queue is bounded: the newest record replaces the oldest. Records exist in memory only, so records that
// wait when the server ends are lost, and counted.
import type { CallRecord } from '../call/phone-calls.js';
import type { Time } from '../time.js';
import type { Log } from '../log.js';
import { signedHeaders } from '../signed-headers.js';

interface WebhookLimits {
  /** Most records that wait, without those in flight. */
  readonly maxWaiting: number;
  readonly atOnce: number;
  /** Milliseconds until the head of a response. */
  readonly timeoutMs: number;
  /** Milliseconds from the end of a call to the last attempt. */
  readonly expiryMs: number;
  /**
   * Milliseconds of backoff after the first failure, doubled each time up to the most; jitter takes up to
   * half of it.
   */
  readonly firstRestMs: number;
  readonly mostRestMs: number;
  /** Most milliseconds that `close` takes. */
  readonly flushMs: number;
}

interface WebhookOptions {
  readonly url: string;
  readonly secret: string;
  readonly time: Time;
  /** Milliseconds since 1970. */
  readonly wallClock: () => number;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Log;
  readonly limits?: Partial<WebhookLimits>;
}

type WebhookOutcome = 'taken' | 'refused' | 'expired' | 'dropped' | 'abandoned';

interface Delivery extends Message {
  readonly sentAtMs: number;
  attempts: number;
  /** Ends the backoff; undefined if the delivery is due. */
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
const LINE_MS = 10_000; // between two log lines on dropped records

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

  /** Number of records by outcome, since the start of the server. */
  get figures(): Readonly<Record<WebhookOutcome, number>> {
    return { ...this.#figures };
  }

  /** Records that wait or are in flight. */
  get size(): number {
    return this.#waiting.size + this.#flying.size;
  }

  /** Records that wait for another attempt. */
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

  /** Tries waiting records once more, for a bounded time. No request is in flight when it resolves. */
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
      const cancelTimer = time.after(this.#limits.flushMs, resolve);
      this.#idle = () => {
        cancelTimer();
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

  /** Sends records that are due, oldest first, within the limit of requests in flight. */
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
      log.warn({ call, attempts, status }, 'call record given up: the webhook did not accept it in time');
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

interface AttemptParts {
  readonly url: string;
  readonly secret: string;
  readonly time: Time;
  /** Milliseconds since 1970. */
  readonly wallClock: () => number;
  /** Milliseconds until the head of the response. */
  readonly timeoutMs: number;
}

interface Message {
  /** Id of the call. */
  readonly id: string;
  readonly body: string;
}

type Answer =
  | { readonly kind: 'taken' }
  /** Permanent: the record is not sent again. */
  | { readonly kind: 'refused'; readonly status: number }
  /** Temporary. Without a status there was no response. */
  | { readonly kind: 'again'; readonly status?: number; readonly waitMs: number };

const TOO_MANY = 429;
const LARGEST_WAIT_MS = 24 * 3600 * 1000; // beyond the expiry of every record

/** Sends a record once. Never rejects. */
async function attempt(parts: AttemptParts, message: Message, signal: AbortSignal): Promise<Answer> {
  const { url, secret, time, wallClock, timeoutMs } = parts;
  const late = new AbortController();
  const forget = time.after(timeoutMs, () => late.abort());
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        ...signedHeaders(CALL_ENDED, { secret, body: message.body, unixMs: wallClock() }),
        'idempotency-key': message.id,
      },
      body: message.body,
      redirect: 'manual', // records go only to the address that the operator configured
      signal: AbortSignal.any([signal, late.signal]),
    });
    await response.body?.cancel();
    return meaningOf(response, wallClock());
  } catch {
    return { kind: 'again', waitMs: 0 };
  } finally {
    forget();
  }
}

function meaningOf({ status, ok, headers }: Response, nowMs: number): Answer {
  if (ok) return { kind: 'taken' };
  if (status < 500 && status !== TOO_MANY) return { kind: 'refused', status };
  return { kind: 'again', status, waitMs: waitIn(headers.get('retry-after'), nowMs) };
}

/** Milliseconds of Retry-After: seconds or a date (RFC 9110, section 10.2.3); 0 for other text. */
function waitIn(value: string | null, nowMs: number): number {
  if (value === null) return 0;
  const waitMs = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return Number.isNaN(waitMs) ? 0 : Math.min(LARGEST_WAIT_MS, Math.max(0, waitMs));
}

const CALL_ENDED = 'call.ended';

/**
 * The record as JSON in the terms of the HTTP interface. Unknown fields are absent; times are Unix seconds.
 */
export function callRecordBody(record: CallRecord) {
  const { id, protocol, direction, callId, from, to, headers, trunk, route, startedAt, answeredAt, endedAt } =
    record;
  const { end, answer, codec, srtp, setupMs, firstAudioMs, totalMs, connectedMs, digits } = record;
  const { recordings, transferredTo } = record;
  return {
    event: CALL_ENDED,
    created_at: endedAt / 1000,
    call_id: id,
    call: {
      object: 'call.record',
      id,
      protocol,
      door: protocol, // its old name, for one more release
      direction,
      sip_call_id: callId,
      from,
      to,
      headers,
      trunk,
      route,
      created_at: startedAt / 1000,
      answered_at: answeredAt === undefined ? undefined : answeredAt / 1000,
      ended_at: endedAt / 1000,
      end,
      answer,
      codec,
      srtp,
      duration_ms: totalMs,
      connected_ms: connectedMs,
      setup_ms: setupMs,
      first_audio_ms: firstAudioMs,
      ...mediaOf(record),
      digit_count: digits,
      recordings,
      transferred_to: transferredTo,
    },
  };
}

function mediaOf({ sent, received, remote }: CallRecord) {
  return {
    sent: sent && {
      packets: sent.packets,
      silence_packets: sent.silencePackets,
      underruns: sent.underruns,
    },
    received: received && {
      packets: received.packets,
      loss: received.loss,
      jitter_ms: received.jitterMs,
      mos: received.mos,
    },
    remote: remote && {
      loss: remote.loss,
      jitter_ms: remote.jitterMs,
      rtt_ms: remote.rttMs,
      mos: remote.mos,
    },
  };
}
