// Decides who may use the server: it checks API keys, and protects a server that has none.
//
// A server on loopback is not private. Any web page in the user's browser can send requests to it, and a
// hostile name server can make its page look like this host (DNS rebinding). So a server without keys refuses
// requests from pages of other origins. On loopback it also answers under its own names only. With a key
// neither check is needed, because pages of others do not know the key.
import type { Socket } from 'node:net';
import { clientAddress, neighbourhood, peerAddress } from '../../call/client-limits.js';
import { ParleyError } from '../../errors.js';
import type { KeyRing } from './api-keys.js';
import type { ClientSecrets } from './client-secrets.js';

/**
 * Access rule of a route. `open`: anyone. `key`: needs a key if the server has keys. `call`: like `key`, but
 * takes a client secret as well. `account`: like `key`, and the key may be the password of Basic
 * authentication. `token`: the request carries what admits it to its call, which was checked.
 * `local`: like `key`, but open to this machine. `origin`: anyone except pages of other origins, for
 * protocols with their own authentication.
 */
export type Access = 'open' | 'key' | 'call' | 'account' | 'token' | 'local' | 'origin';

export interface AccessOptions {
  readonly keys: KeyRing;
  /** Client secrets that stand for a key; none if absent. */
  readonly secrets?: Pick<ClientSecrets, 'ownerOf'>;
  /** Origins of other web pages that may use the server. */
  readonly corsOrigins: readonly string[];
  /** The address that the server listens on. */
  readonly host: string;
}

/** The facts on which a decision is based. */
export interface AccessRequest {
  readonly method: string;
  readonly access: Access;
  /** `unix` for a connection over the Unix socket; undefined if the client has left. */
  readonly remoteAddress: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** True for a WebSocket: a browser lets any page open one with GET, without a preflight. */
  readonly upgrade?: boolean;
}

/** Header fields that proxies add: RFC 7239, RFC 9110 section 7.6.3, and their common predecessors. */
const FORWARDED =
  /^(?:forwarded|via|x-(?:original-)?forwarded(?:-.+)?|x-(?:real|client|cluster-client)-ip|x-envoy-external-address|(?:true-client|cf-connecting|fastly-client|fly-client)-ip)$/;

/** Takes the place of the remote address on connections over the Unix socket. */
const UNIX = 'unix';

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

export class AccessGuard {
  readonly #keys: KeyRing;
  readonly #secrets: Pick<ClientSecrets, 'ownerOf'> | undefined;
  readonly #origins: ReadonlySet<string>;
  readonly #originHosts: ReadonlySet<string>;
  readonly #loopback: boolean;

  constructor({ keys, secrets, corsOrigins, host }: AccessOptions) {
    this.#keys = keys;
    this.#secrets = secrets;
    this.#origins = new Set(corsOrigins);
    this.#originHosts = new Set(
      corsOrigins.map((origin) => hostOf(origin)).filter((name) => name !== undefined),
    );
    this.#loopback = isLoopbackName(host);
  }

  /** True if the server has API keys. */
  get keyed(): boolean {
    return this.#keys.required;
  }

  /**
   * Throws UNAUTHORIZED or FORBIDDEN if the request is refused. Returns the client that limits count: the
   * name of the key that was checked, or the address.
   */
  check(request: AccessRequest): string {
    if (!this.#keys.required || request.access === 'origin') this.#checkOrigin(request);
    else if (this.#needsKey(request)) {
      const password = request.access === 'account' ? passwordIn(request.headers) : undefined;
      const key = password ?? keyIn(request.headers);
      return (request.access === 'call' ? this.#ownerOf(key) : undefined) ?? this.checkKey(key);
    }
    return neighbourhood(clientAddress(request.remoteAddress, request.headers));
  }

  #needsKey({ access, method, remoteAddress, headers }: AccessRequest): boolean {
    if (access === 'open' || method === 'OPTIONS') return false; // a preflight never carries a key
    if (access === 'token') return false;
    if (access === 'key' || access === 'call' || access === 'account') return true;
    // Behind a proxy on this machine every request has a loopback address. A page that reached this server
    // under a foreign name is not this machine either.
    const forwarded = Object.keys(headers).some((name) => FORWARDED.test(name));
    if (forwarded || !this.#isOwnName(nameIn(headers))) return true;
    if (remoteAddress === UNIX) return false;
    return remoteAddress === undefined || !isLoopbackAddress(remoteAddress);
  }

  /** Name of the key that a client secret stands for, if the server still has this key. */
  #ownerOf(secret: string | undefined): string | undefined {
    const owner = secret === undefined ? undefined : this.#secrets?.ownerOf(secret);
    return owner !== undefined && this.#keys.has(owner) ? owner : undefined;
  }

  /** Returns the name of a key; throws UNAUTHORIZED if it is missing or unknown. */
  checkKey(key: string | undefined): string {
    if (key === undefined) {
      const how = 'Authorization: Bearer <key>, or xi-api-key: <key>';
      throw new ParleyError('UNAUTHORIZED', `this server requires an API key: ${how}`);
    }
    const name = this.#keys.nameOf(key);
    if (name === undefined) throw new ParleyError('UNAUTHORIZED', 'the API key is not one of this server');
    return name;
  }

  #checkOrigin({ method, headers, remoteAddress, upgrade }: AccessRequest): void {
    const name = nameIn(headers);
    // A page reaches a Unix socket only through a proxy, whose names are not known here.
    if (this.#loopback && remoteAddress !== UNIX && !this.#isOwnName(name)) {
      throw new ParleyError(
        'FORBIDDEN',
        `the Host header must name this machine, not "${shown(hostIn(headers))}"`,
      );
    }
    const origin = headers['origin'];
    const isReading = READING.has(method) && upgrade !== true;
    if (origin === undefined || isReading || this.#origins.has(String(origin))) return;
    if (name !== undefined && hostOf(String(origin)) === name) return;
    throw new ParleyError(
      'FORBIDDEN',
      `pages of ${shown(origin)} may not use this server; CORS_ORIGINS lists those that may`,
    );
  }

  #isOwnName(host: string | undefined): boolean {
    if (host === undefined) return false;
    return this.#originHosts.has(host) || isLoopbackName(host.replace(/:\d+$/, ''));
  }
}

/**
 * Throws MALFORMED if a request has several Host headers (RFC 9112, section 3.2): a proxy may have used
 * another one.
 */
export function refuseSecondHost(rawHeaders: readonly string[]): void {
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host');
  if (hosts.length <= 1) return;
  throw new ParleyError('MALFORMED', 'a request must have one Host header, and this one has several');
}

/** The key of a request. Some clients send an empty bearer token when they have no key. */
export function keyIn(headers: AccessRequest['headers']): string | undefined {
  const bearer = /^bearer +(\S+) *$/i.exec(String(headers['authorization'] ?? ''))?.[1];
  const other = headers['xi-api-key'];
  return bearer ?? (typeof other === 'string' && other !== '' ? other : undefined);
}

const ACCOUNT = /^(?:AC|SK)\w{0,64}$/;

/**
 * The password of Basic authentication (RFC 7617), if its user has the form of a Twilio account or API key.
 * This server asks no browser for it: a browser would send it with requests of foreign pages, too.
 */
function passwordIn(headers: AccessRequest['headers']): string | undefined {
  const [, encoded] = /^basic +([\w+/]+={0,2}) *$/i.exec(String(headers['authorization'] ?? '')) ?? [];
  if (encoded === undefined) return undefined;
  const [, user = '', password] = /^([^:]*):(.+)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
  return ACCOUNT.test(user) ? password : undefined;
}

/** HTTP/2 has the pseudo-header `:authority`, which is not a valid name of an HTTP/1 header. */
function hostIn(headers: AccessRequest['headers']): string | string[] | undefined {
  return headers[':authority'] ?? headers['host'];
}

function nameIn(headers: AccessRequest['headers']): string | undefined {
  const host = hostIn(headers);
  return typeof host === 'string' ? hostOf(`http://${host}`) : undefined;
}

/** Name and port of a URL, without the default port of its scheme; undefined if the URL is invalid. */
function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).host || undefined : undefined;
}

export function isLoopbackName(name: string): boolean {
  const bare = name.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  return bare === 'localhost' || bare.endsWith('.localhost') || isLoopbackAddress(bare);
}

function isLoopbackAddress(address: string): boolean {
  return address === '::1' || /^(::ffff:)?127(\.\d{1,3}){3}$/.test(address);
}

/** Makes foreign input safe for an error message: short and without control characters. */
function shown(value: string | string[] | undefined): string {
  return String(value ?? '')
    .slice(0, 100)
    .replace(/[^\x20-\x7e]/g, '?');
}

const CAME_BY_UNIX = Symbol('came by the Unix socket');

interface Marked {
  [CAME_BY_UNIX]?: true;
}

export function markUnix(socket: Socket): void {
  (socket as Marked)[CAME_BY_UNIX] = true;
}

/** The remote address, loopback for this machine, or `unix`; undefined if the client has left. */
export function addressOf(socket: Socket): string | undefined {
  try {
    return (socket as Marked)[CAME_BY_UNIX] === true ? UNIX : peerAddress(socket);
  } catch {
    return undefined; // the socket proxy of HTTP/2 throws when the session is closed
  }
}
