// Who may use the server: API keys, and what protects one without keys.
//
// A server on loopback is not private: any web page in the user's browser can
// send requests to it, and a hostile name server can make its page look like
// this host (DNS rebinding). So a server without keys refuses to be driven by
// pages of other origins, and on loopback it answers to its own names only. A
// key needs neither: no page of others knows it.
import { neighbourhood } from '../../call/client-limits.js';
import { ParleyError } from '../../errors.js';
import type { KeyRing } from './key-ring.js';
import { UNIX } from './visitor.js';

/**
 * `open` to all; `key` wants one where keys are configured; `local` is open to the machine itself; `origin` to all
 * but pages of other origins, for what asks who comes by itself.
 */
export type Access = 'open' | 'key' | 'local' | 'origin';

export interface AccessOptions {
  readonly keys: KeyRing;
  /** Origins of other web pages that may use the server. */
  readonly corsOrigins: readonly string[];
  /** The address that the server listens on. */
  readonly host: string;
}

/** What a decision is made from. */
export interface AccessRequest {
  readonly method: string;
  readonly access: Access;
  /** `unix` for whoever came by the Unix socket, undefined for one that has left already. */
  readonly remoteAddress: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** A WebSocket: browsers open one for any page, with GET and without asking first. */
  readonly upgrade?: boolean;
}

/** Fields by which proxies say for whom they ask: RFC 7239, RFC 9110 section 7.6.3, and the common ones before them. */
const FORWARDED =
  /^(?:forwarded|via|x-(?:original-)?forwarded(?:-.+)?|x-(?:real|client|cluster-client)-ip|x-envoy-external-address|(?:true-client|cf-connecting|fastly-client|fly-client)-ip)$/;

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

export class AccessGuard {
  readonly #keys: KeyRing;
  readonly #origins: ReadonlySet<string>;
  readonly #originHosts: ReadonlySet<string>;
  readonly #loopback: boolean;

  constructor({ keys, corsOrigins, host }: AccessOptions) {
    this.#keys = keys;
    this.#origins = new Set(corsOrigins);
    this.#originHosts = new Set(
      corsOrigins.map((origin) => hostOf(origin)).filter((name) => name !== undefined),
    );
    this.#loopback = isLoopbackName(host);
  }

  /** True if requests need a key at all. */
  get keyed(): boolean {
    return this.#keys.required;
  }

  /**
   * Throws UNAUTHORIZED or FORBIDDEN when the request must not go on. Answers who shares the server with others:
   * the name of the key that was checked, or the address.
   */
  check(request: AccessRequest): string {
    if (!this.#keys.required || request.access === 'origin') this.#checkOrigin(request);
    else if (this.#needsKey(request)) return this.checkKey(keyIn(request.headers));
    return neighbourhood(request.remoteAddress);
  }

  #needsKey({ access, method, remoteAddress, headers }: AccessRequest): boolean {
    if (access === 'open' || method === 'OPTIONS') return false; // a preflight never carries a key
    if (access === 'key') return true;
    // Behind a proxy on this machine everybody has a loopback address; a web
    // page that reached it by a name of its own is not the machine either.
    const forwarded = Object.keys(headers).some((name) => FORWARDED.test(name));
    if (forwarded || !this.#isOwnName(nameIn(headers))) return true;
    if (remoteAddress === UNIX) return false;
    return remoteAddress === undefined || !isLoopbackAddress(remoteAddress);
  }

  /** The name of a key; throws UNAUTHORIZED when it is none. */
  checkKey(key: string | undefined): string {
    if (key === undefined) {
      const how = 'Authorization: Bearer <key>, or xi-api-key: <key>';
      throw new ParleyError('UNAUTHORIZED', `this server wants an API key: ${how}`);
    }
    const name = this.#keys.nameOf(key);
    if (name === undefined) throw new ParleyError('UNAUTHORIZED', 'the API key is not one of this server');
    return name;
  }

  #checkOrigin({ method, headers, remoteAddress, upgrade }: AccessRequest): void {
    const name = nameIn(headers);
    // No web page reaches a Unix socket but through a proxy, whose names are not known here.
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

/** Throws MALFORMED where a request has several Host headers (RFC 9112, section 3.2): a proxy may heed another one. */
export function refuseSecondHost(rawHeaders: readonly string[]): void {
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host');
  if (hosts.length <= 1) return;
  throw new ParleyError('MALFORMED', 'a request must have one Host header, and this one has several');
}

/** Some clients send an empty bearer token when they have no key. */
export function keyIn(headers: AccessRequest['headers']): string | undefined {
  const bearer = /^bearer +(\S+) *$/i.exec(String(headers['authorization'] ?? ''))?.[1];
  const other = headers['xi-api-key'];
  return bearer ?? (typeof other === 'string' && other !== '' ? other : undefined);
}

/** HTTP/2 has a field of its own for it, which no header of HTTP/1 can be mistaken for. */
function hostIn(headers: AccessRequest['headers']): string | string[] | undefined {
  return headers[':authority'] ?? headers['host'];
}

function nameIn(headers: AccessRequest['headers']): string | undefined {
  const host = hostIn(headers);
  return typeof host === 'string' ? hostOf(`http://${host}`) : undefined;
}

/** Name and port as a URL of that scheme has them, without the scheme's own port; undefined if it is none. */
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

// What a stranger sent goes into an answer short and without control characters.
function shown(value: string | string[] | undefined): string {
  return String(value ?? '')
    .slice(0, 100)
    .replace(/[^\x20-\x7e]/g, '?');
}
