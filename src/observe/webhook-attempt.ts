// One attempt to hand a call record over: what is sent, and what the answer
// means.
import { createHmac } from 'node:crypto';
import type { Time } from '../time.js';
import { CALL_ENDED } from './call-record-body.js';

export interface AttemptParts {
  readonly url: string;
  readonly secret: string;
  readonly time: Time;
  /** Milliseconds since 1970. */
  readonly wallClock: () => number;
  /** Milliseconds until the head of the answer. */
  readonly timeoutMs: number;
}

export interface Message {
  /** Of the call. */
  readonly id: string;
  readonly body: string;
}

export type Answer =
  | { readonly kind: 'taken' }
  /** Sending it again would change nothing. */
  | { readonly kind: 'refused'; readonly status: number }
  /** Absent status: nobody answered. */
  | { readonly kind: 'again'; readonly status?: number; readonly waitMs: number };

const TOO_MANY = 429;
const LARGEST_WAIT_MS = 24 * 3600 * 1000; // nobody waits longer; what is above needs no exact number

/** Never rejects. */
export async function attempt(parts: AttemptParts, message: Message, signal: AbortSignal): Promise<Answer> {
  const { url, secret, time, wallClock, timeoutMs } = parts;
  const late = new AbortController();
  const forget = time.after(timeoutMs, () => late.abort());
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'parley',
        'x-parley-event': CALL_ENDED,
        'x-parley-signature': signature(secret, message.body, Math.floor(wallClock() / 1000)),
        'idempotency-key': message.id,
      },
      body: message.body,
      redirect: 'manual', // a record goes to whom the operator named, and to nobody else
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

/** `t=<Unix seconds>,v1=<hex HMAC-SHA256 of "t.body">`: who knows the secret can tell an old copy from a new record. */
export function signature(secret: string, body: string, unixSeconds: number): string {
  const mac = createHmac('sha256', secret).update(`${unixSeconds}.${body}`).digest('hex');
  return `t=${unixSeconds},v1=${mac}`;
}

function meaningOf({ status, ok, headers }: Response, nowMs: number): Answer {
  if (ok) return { kind: 'taken' };
  if (status < 500 && status !== TOO_MANY) return { kind: 'refused', status };
  return { kind: 'again', status, waitMs: waitIn(headers.get('retry-after'), nowMs) };
}

/** Retry-After is a number of seconds or a date (RFC 9110, section 10.2.3); 0 where it is neither. */
function waitIn(value: string | null, nowMs: number): number {
  if (value === null) return 0;
  const waitMs = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return Number.isNaN(waitMs) ? 0 : Math.min(LARGEST_WAIT_MS, Math.max(0, waitMs));
}
