// How a WebSocket was asked for, and by whom: known from its headers, or from
// the key that its first message brings.
import type { IncomingMessage } from 'node:http';
import { ParleyError } from '../../errors.js';
import type { AccessRequest } from './access.js';
import type { Gate } from './gate.js';
import type { Dialect, Visit } from './socket-dialect.js';
import { withBearerKey } from './socket-key.js';
import { addressOf } from './visitor.js';

export interface UpgradeTarget {
  readonly url: URL;
  readonly params: Readonly<Record<string, string>>;
  readonly requestId: string;
  readonly dialect: Dialect;
}

export class UpgradeVisit implements Visit {
  readonly url: URL;
  readonly params: Readonly<Record<string, string>>;
  readonly requestId: string;
  readonly #gate: Pick<Gate, 'admit'>;
  readonly #asked: AccessRequest;
  #client: string | undefined;

  /** Throws RATE_LIMITED, and UNAUTHORIZED or FORBIDDEN where the headers do not suffice and no message can mend it. */
  constructor(gate: Pick<Gate, 'admit'>, request: IncomingMessage, target: UpgradeTarget) {
    const { url, params, requestId, dialect } = target;
    this.url = url;
    this.params = params;
    this.requestId = requestId;
    this.#gate = gate;
    this.#asked = {
      // A page of another origin may open a socket like any GET, and then read
      // and write: it is judged as what writes.
      method: 'POST',
      access: 'key',
      remoteAddress: addressOf(request.socket),
      headers: withBearerKey(request.headers),
    };
    try {
      this.#client = gate.admit(this.#asked);
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
      this.#client = this.#gate.admit({ ...this.#asked, headers });
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
