// How a WebSocket was asked for, and by whom: known from its headers, or from
// the key that its first message brings.
import type { IncomingMessage } from 'node:http';
import { ParleyError } from '../errors.js';
import type { AccessGuard, Visit } from './access.js';
import type { SocketDialect, SocketVisit } from './socket-dialect.js';
import { withBearerKey } from './socket-key.js';

export interface UpgradeTarget {
  readonly url: URL;
  readonly params: Readonly<Record<string, string>>;
  readonly requestId: string;
  readonly dialect: SocketDialect;
}

export class UpgradeVisit implements SocketVisit {
  readonly url: URL;
  readonly params: Readonly<Record<string, string>>;
  readonly requestId: string;
  readonly #guard: Pick<AccessGuard, 'check'>;
  readonly #asked: Visit;
  #client: string | undefined;

  /** Throws UNAUTHORIZED or FORBIDDEN where the headers do not suffice and no message can mend it. */
  constructor(guard: Pick<AccessGuard, 'check'>, request: IncomingMessage, target: UpgradeTarget) {
    const { url, params, requestId, dialect } = target;
    this.url = url;
    this.params = params;
    this.requestId = requestId;
    this.#guard = guard;
    this.#asked = {
      // A page of another origin may open a socket like any GET, and then read
      // and write: it is judged as what writes.
      method: 'POST',
      access: 'key',
      remoteAddress: request.socket.remoteAddress,
      headers: withBearerKey(request.headers),
    };
    try {
      this.#client = guard.check(this.#asked);
    } catch (error) {
      const keyMayCome =
        dialect.keyInFirstMessage === true && this.#asked.headers['authorization'] === undefined;
      if (!keyMayCome || !isUnauthorized(error)) throw error;
    }
  }

  get authorized(): boolean {
    return this.#client !== undefined;
  }

  get client(): string {
    return this.#client ?? this.#asked.remoteAddress ?? '';
  }

  authorize(key: string): boolean {
    if (this.#client !== undefined) return true;
    const headers = { ...this.#asked.headers, authorization: `Bearer ${key}` };
    try {
      this.#client = this.#guard.check({ ...this.#asked, headers });
      return true;
    } catch (error) {
      if (isUnauthorized(error)) return false;
      throw error;
    }
  }
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof ParleyError && error.code === 'UNAUTHORIZED';
}
