// Admits requests and WebSocket upgrades: it checks access first, then the rate limit of the client.
import { clientAddress, neighbourhood } from '../../call/client-limits.js';
import { ParleyError } from '../../errors.js';
import { systemTime, type Time } from '../../time.js';
import { type Access, type AccessGuard, type AccessRequest, keyIn } from './access.js';

const MINUTE_MS = 60_000;
const MOST_CLIENTS = 10_000;
const COUNTED: ReadonlySet<Access> = new Set(['key', 'call', 'account', 'token']);

interface Standing {
  /** Requests a minute. */
  readonly limit: number;
  /** Number of further requests that would be admitted now. */
  readonly remaining: number;
  /** Milliseconds until the full limit is available again. */
  readonly resetMs: number;
  /** Milliseconds until the next request is admitted; 0 if this one was. */
  readonly waitMs: number;
}

type Headers = Readonly<Record<string, string>>;

export class Admission {
  readonly #guard: AccessGuard;
  readonly #rates: RateLimits | undefined;

  /** Without `rates` the number of requests is not limited. */
  constructor(guard: AccessGuard, rates?: RateLimits) {
    this.#guard = guard;
    this.#rates = rates;
  }

  /** True if the server has API keys: then calls have owners. */
  get keyed(): boolean {
    return this.#guard.keyed;
  }

  /**
   * Returns the client that limits count: the name of a key, or an address. Throws UNAUTHORIZED, FORBIDDEN or
   * RATE_LIMITED. `onHeaders` receives the rate-limit headers of the answer, whether the request is admitted
   * or not.
   */
  admit(request: AccessRequest, onHeaders?: (headers: Headers) => void): string {
    if (this.#rates === undefined) return this.#guard.check(request);
    let client: string;
    try {
      client = this.#guard.check(request);
    } catch (error) {
      // Wrong keys are counted by address, separately from admitted requests.
      if (error instanceof ParleyError && error.code === 'UNAUTHORIZED') {
        const address = clientAddress(request.remoteAddress, request.headers);
        this.#count(`refused ${neighbourhood(address)}`, onHeaders);
      }
      throw error;
    }
    const isCounted = COUNTED.has(request.access) && request.method !== 'OPTIONS';
    if (isCounted) this.#count(client, onHeaders);
    return client;
  }

  /**
   * True if the request may see internal details: it comes from this machine, it has a key, or the server has
   * no keys. Throws RATE_LIMITED for too many wrong keys.
   */
  isKnown(request: Omit<AccessRequest, 'access'>): boolean {
    const local = { ...request, access: 'local' } as const;
    try {
      // A request without a key is not counted: it does not try to guess one.
      if (keyIn(request.headers) === undefined) this.#guard.check(local);
      else this.admit(local);
      return true;
    } catch (error) {
      if (error instanceof ParleyError && error.code === 'UNAUTHORIZED') return false;
      throw error;
    }
  }

  #count(client: string, onHeaders?: (headers: Headers) => void): void {
    const standing = this.#rates?.take(client);
    if (standing === undefined) return;
    onHeaders?.(standingHeaders(standing));
    if (standing.waitMs > 0) throw rateLimited(standing);
  }
}

/**
 * Limits the requests of each client per minute with the generic cell rate algorithm: one number per client,
 * neither a window (at whose edge twice as many would pass) nor a timer. A burst may use the whole limit at
 * once.
 *
 * `@fastify/rate-limit` is not used: it counts routes only, not WebSockets, and its windows follow the wall
 * clock.
 */
export class RateLimits {
  readonly #limit: number;
  readonly #time: Time;
  readonly #mostClients: number;
  /** By client, the theoretical arrival time of GCRA in milliseconds. Least recent client first. */
  readonly #arrivalMs = new Map<string, number>();

  constructor(perMinute: number, time: Time = systemTime, mostClients = MOST_CLIENTS) {
    this.#limit = perMinute;
    this.#time = time;
    this.#mostClients = mostClients;
  }

  /** The number of remembered clients. */
  get clients(): number {
    return this.#arrivalMs.size;
  }

  /** Counts one request. A refused request costs nothing. */
  take(client: string): Standing {
    const nowMs = this.#time.now();
    const stepMs = MINUTE_MS / this.#limit;
    const beforeMs = Math.max(this.#arrivalMs.get(client) ?? 0, nowMs);
    const afterMs = beforeMs + stepMs;
    const waitMs = Math.max(0, afterMs - nowMs - MINUTE_MS);
    // Less than a microsecond is a rounding error.
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

  #remember(client: string, arrivalMs: number): void {
    this.#arrivalMs.delete(client);
    this.#arrivalMs.set(client, arrivalMs);
    if (this.#arrivalMs.size <= this.#mostClients) return;
    // Forgets the least recent client, which most likely has its full limit again.
    const [oldest] = this.#arrivalMs.keys();
    if (oldest !== undefined) this.#arrivalMs.delete(oldest);
  }
}

/** The header names of OpenAI. */
function standingHeaders({ limit, remaining, resetMs }: Standing): Record<string, string> {
  return {
    'x-ratelimit-limit-requests': String(limit),
    'x-ratelimit-remaining-requests': String(remaining),
    'x-ratelimit-reset-requests': `${(resetMs / 1000).toFixed(3)}s`,
  };
}

function rateLimited({ limit, waitMs }: Standing): ParleyError {
  const message = `this client has made more than ${limit} requests a minute, which is what RATE_LIMIT allows`;
  return new ParleyError('RATE_LIMITED', message, { retryAfterSeconds: waitMs / 1000 });
}
