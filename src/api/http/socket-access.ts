// Authorises WebSockets. A program sends its API key in a header. A browser cannot, and sends it as a
// subprotocol, as OpenAI's clients do. Some dialects accept it in the first message.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { clientAddress, neighbourhood } from '../../call/client-limits.js';
import { ParleyError } from '../../errors.js';
import { type AccessRequest, addressOf } from './access.js';
import type { Admission } from './admission.js';
import type { Dialect, Handshake } from './socket-dialect.js';

const KEY_PROTOCOL = 'openai-insecure-api-key.';

interface UpgradeTarget {
  readonly url: URL;
  readonly params: Readonly<Record<string, string>>;
  readonly requestId: string;
  readonly dialect: Dialect;
  /** The key came with the first message. Throws QUEUE_FULL if there is no place for its socket. */
  readonly admitted: () => void;
}

export class UpgradeHandshake implements Handshake {
  readonly url: URL;
  readonly params: Readonly<Record<string, string>>;
  readonly requestId: string;
  readonly isAdmitted: boolean;
  readonly secret: string | undefined;
  readonly #admission: Pick<Admission, 'admit'>;
  readonly #request: AccessRequest;
  readonly #admitted: () => void;
  #client: string | undefined;

  /**
   * Throws RATE_LIMITED, or UNAUTHORIZED or FORBIDDEN if the headers do not suffice and no key can come
   * later.
   */
  constructor(admission: Pick<Admission, 'admit'>, request: IncomingMessage, target: UpgradeTarget) {
    const { url, params, requestId, dialect, admitted } = target;
    this.url = url;
    this.params = params;
    this.requestId = requestId;
    this.#admission = admission;
    this.#admitted = admitted;
    const headers = withBearerKey(request.headers);
    const key = bearerIn(headers);
    this.isAdmitted = dialect.admits?.({ url, params, key }) === true;
    this.secret = dialect.takesSecrets === true ? key : undefined;
    this.#request = {
      // A browser lets a page of another origin open a socket like any GET, but a socket also writes. So it
      // must pass the checks of a POST.
      method: 'POST',
      access: this.isAdmitted ? 'token' : dialect.takesSecrets === true ? 'call' : 'key',
      remoteAddress: addressOf(request.socket),
      headers,
    };
    try {
      this.#client = admission.admit(this.#request);
    } catch (error) {
      const keyMayCome =
        dialect.keyInFirstMessage === true && this.#request.headers['authorization'] === undefined;
      if (!keyMayCome || !isUnauthorized(error)) throw error;
    }
  }

  get authorized(): boolean {
    return this.#client !== undefined;
  }

  get client(): string {
    return this.#client ?? this.address;
  }

  /** The address that the client is counted by. */
  get address(): string {
    return neighbourhood(clientAddress(this.#request.remoteAddress, this.#request.headers));
  }

  authorize(key: string): boolean {
    if (this.#client !== undefined) return true;
    const headers = { ...this.#request.headers, authorization: `Bearer ${key}` };
    let client: string;
    try {
      client = this.#admission.admit({ ...this.#request, headers });
    } catch (error) {
      if (isUnauthorized(error)) return false;
      throw error;
    }
    this.#admitted();
    this.#client = client;
    return true;
  }
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof ParleyError && error.code === 'UNAUTHORIZED';
}

/**
 * The headers with the API key as a bearer token, wherever the request has it. An empty token counts as
 * absent.
 */
function withBearerKey(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { authorization, ...others } = headers;
  if (authorization !== undefined && !/^bearer *$/i.test(authorization)) return headers;
  const key = statedKey(headers);
  return key === undefined ? others : { ...others, authorization: `Bearer ${key}` };
}

function bearerIn({ authorization = '' }: IncomingHttpHeaders): string | undefined {
  return /^bearer +(\S+)$/i.exec(authorization)?.[1];
}

function statedKey(headers: IncomingHttpHeaders): string | undefined {
  const stated = headers['xi-api-key'];
  if (typeof stated === 'string' && stated !== '') return stated;
  const protocols = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  return protocols.find((name) => name.startsWith(KEY_PROTOCOL))?.slice(KEY_PROTOCOL.length);
}

/**
 * Browsers need one offered subprotocol confirmed. The one with the key is confirmed only if there is no
 * other.
 */
export function confirmedProtocol(offered: ReadonlySet<string>): string | false {
  const names = [...offered];
  return names.find((name) => !name.startsWith(KEY_PROTOCOL)) ?? names[0] ?? false;
}
