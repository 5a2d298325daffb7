// How many requests each client may make in a minute.
//
// Each client may make as many at once as the limit says, and then one each
// time its share of a minute has passed: one number a client (the generic cell
// rate algorithm), so there is neither a window at whose edge twice as many
// pass, nor a timer. (Not @fastify/rate-limit: it sees routes only, not the
// WebSockets that count too, and its windows go by the wall clock.)
import { ParleyError } from '../../errors.js';
import { systemTime, type Time } from '../../time.js';

const MINUTE_MS = 60_000;
const MOST_CLIENTS = 10_000;

export interface Standing {
  /** Requests a minute. */
  readonly limit: number;
  /** Of them, how many could follow at once. */
  readonly remaining: number;
  /** Milliseconds until all of them could. */
  readonly resetMs: number;
  /** Milliseconds until the next is accepted; 0 where this one was. */
  readonly waitMs: number;
}

export class RateLimits {
  readonly #limit: number;
  readonly #time: Time;
  readonly #mostClients: number;
  /** By client, when everything it asked for will be paid off; whoever asked last comes last. */
  readonly #paidOffMs = new Map<string, number>();

  constructor(perMinute: number, time: Time = systemTime, mostClients = MOST_CLIENTS) {
    this.#limit = perMinute;
    this.#time = time;
    this.#mostClients = mostClients;
  }

  /** Clients that are remembered. */
  get clients(): number {
    return this.#paidOffMs.size;
  }

  /** Counts one more request; a refused one costs nothing. */
  take(client: string): Standing {
    const nowMs = this.#time.now();
    const stepMs = MINUTE_MS / this.#limit;
    const beforeMs = Math.max(this.#paidOffMs.get(client) ?? 0, nowMs);
    const afterMs = beforeMs + stepMs;
    const waitMs = Math.max(0, afterMs - nowMs - MINUTE_MS);
    // Under a thousandth of a millisecond is the rounding of sums, no debt.
    const accepted = waitMs < 0.001;
    const owedMs = (accepted ? afterMs : beforeMs) - nowMs;
    this.#remember(client, nowMs + owedMs);
    return {
      limit: this.#limit,
      remaining: Math.max(0, Math.floor((MINUTE_MS - owedMs) / stepMs + 0.001)),
      resetMs: owedMs,
      waitMs: accepted ? 0 : waitMs,
    };
  }

  #remember(client: string, paidOffMs: number): void {
    this.#paidOffMs.delete(client);
    this.#paidOffMs.set(client, paidOffMs);
    if (this.#paidOffMs.size <= this.#mostClients) return;
    // Whoever has not asked for longest is forgotten, and most likely owes nothing.
    const [oldest] = this.#paidOffMs.keys();
    if (oldest !== undefined) this.#paidOffMs.delete(oldest);
  }
}

/** Under the names that clients of OpenAI read. */
export function standingHeaders({ limit, remaining, resetMs }: Standing): Record<string, string> {
  return {
    'x-ratelimit-limit-requests': String(limit),
    'x-ratelimit-remaining-requests': String(remaining),
    'x-ratelimit-reset-requests': `${(resetMs / 1000).toFixed(3)}s`,
  };
}

export function rateLimited({ limit, waitMs }: Standing): ParleyError {
  const message = `this client has made more than ${limit} requests a minute, which is what RATE_LIMIT allows`;
  return new ParleyError('RATE_LIMITED', message, { retryAfterSeconds: waitMs / 1000 });
}
