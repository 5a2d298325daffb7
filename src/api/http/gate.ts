// Who comes in, over HTTP and as a WebSocket alike: first whether at all, then
// how often.
import { neighbourhood } from '../../call/client-limits.js';
import { ParleyError } from '../../errors.js';
import { type AccessGuard, keyIn, type AccessRequest } from './access.js';
import { type RateLimits, rateLimited, standingHeaders } from './rate-limits.js';

type Headers = Readonly<Record<string, string>>;

export class Gate {
  readonly #guard: AccessGuard;
  readonly #rates: RateLimits | undefined;

  /** Without limits everybody may come as often as they like. */
  constructor(guard: AccessGuard, rates?: RateLimits) {
    this.#guard = guard;
    this.#rates = rates;
  }

  /** True if clients are told apart by their keys: then calls have owners. */
  get keyed(): boolean {
    return this.#guard.keyed;
  }

  /**
   * Answers who shares the server with others: the name of a key, or an address. Throws UNAUTHORIZED, FORBIDDEN or
   * RATE_LIMITED. `tell` is given what the answer says of the limit, whether the request is accepted or not.
   */
  admit(request: AccessRequest, tell?: (headers: Headers) => void): string {
    if (this.#rates === undefined) return this.#guard.check(request);
    let client: string;
    try {
      client = this.#guard.check(request);
    } catch (error) {
      // Whoever tries keys is counted by address, apart from those who have one.
      if (error instanceof ParleyError && error.code === 'UNAUTHORIZED') {
        this.#count(`refused ${neighbourhood(request.remoteAddress)}`, tell);
      }
      throw error;
    }
    const isFree = request.access !== 'key' || request.method === 'OPTIONS';
    if (!isFree) this.#count(client, tell);
    return client;
  }

  /**
   * True if the request may see what strangers may not: it comes from this machine, it has a key, or the server has
   * none. Throws RATE_LIMITED for too many wrong keys.
   */
  isKnown(request: Omit<AccessRequest, 'access'>): boolean {
    const local = { ...request, access: 'local' } as const;
    try {
      // A request without a key is no attempt to guess one.
      if (keyIn(request.headers) === undefined) this.#guard.check(local);
      else this.admit(local);
      return true;
    } catch (error) {
      if (error instanceof ParleyError && error.code === 'UNAUTHORIZED') return false;
      throw error;
    }
  }

  #count(client: string, tell?: (headers: Headers) => void): void {
    const standing = this.#rates?.take(client);
    if (standing === undefined) return;
    tell?.(standingHeaders(standing));
    if (standing.waitMs > 0) throw rateLimited(standing);
  }
}
