// Who may use the server: API keys, and what protects one without keys.
//
// A server on loopback is not private: any web page in the user's browser can
// send requests to it, and a hostile name server can make its page look like
// this host (DNS rebinding). So a server without keys refuses to be driven by
// pages of other origins, and on loopback it answers to its own names only. A
// key needs neither: no page of others knows it.
import { createHash, timingSafeEqual } from 'node:crypto';
import { ParleyError } from '../errors.js';

/** `open` to all; `key` wants one where keys are configured; `local` is open to the machine itself. */
export type Access = 'open' | 'key' | 'local';

export interface AccessOptions {
  /** Empty: no request needs a key. */
  readonly apiKeys: readonly string[];
  /** Origins of other web pages that may use the server. */
  readonly corsOrigins: readonly string[];
  /** The address that the server listens on. */
  readonly host: string;
}

/** What a decision is made from. */
export interface Visit {
  readonly method: string;
  readonly access: Access;
  readonly remoteAddress: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

export class AccessGuard {
  readonly #keys: readonly Buffer[];
  readonly #origins: ReadonlySet<string>;
  readonly #originHosts: ReadonlySet<string>;
  readonly #loopback: boolean;

  constructor({ apiKeys, corsOrigins, host }: AccessOptions) {
    this.#keys = apiKeys.map(digest);
    this.#origins = new Set(corsOrigins);
    this.#originHosts = new Set(
      corsOrigins.map((origin) => hostOf(origin)).filter((name) => name !== undefined),
    );
    this.#loopback = isLoopbackName(host);
  }

  /**
   * Throws UNAUTHORIZED or FORBIDDEN when the request must not go on. Answers who shares the server with others:
   * the key that was checked, or the address.
   */
  check(visit: Visit): string {
    if (this.#keys.length === 0) this.#checkOrigin(visit);
    else if (this.#needsKey(visit)) return this.#checkKey(tokenIn(visit.headers));
    return visit.remoteAddress ?? '';
  }

  #needsKey({ access, method, remoteAddress, headers }: Visit): boolean {
    if (access === 'open' || method === 'OPTIONS') return false; // a preflight never carries a key
    if (access === 'key') return true;
    // Behind a proxy on this machine everybody has a loopback address; a web
    // page that reached it by a name of its own is not the machine either.
    const forwarded = headers['x-forwarded-for'] !== undefined || headers['forwarded'] !== undefined;
    if (forwarded || !this.#isOwnName(nameIn(headers))) return true;
    return remoteAddress === undefined || !isLoopbackAddress(remoteAddress);
  }

  #checkKey(token: string | undefined): string {
    if (token === undefined) {
      throw new ParleyError('UNAUTHORIZED', 'this server wants an API key: Authorization: Bearer <key>');
    }
    const given = digest(token);
    // Every key is compared, so the time tells neither which one nor how much of it was right.
    const matches = this.#keys.map((key, index) => (timingSafeEqual(key, given) ? index : -1));
    const index = Math.max(...matches);
    if (index < 0) throw new ParleyError('UNAUTHORIZED', 'the API key is not one of this server');
    return `key ${index}`;
  }

  #checkOrigin({ method, headers }: Visit): void {
    const name = nameIn(headers);
    if (this.#loopback && !this.#isOwnName(name)) {
      throw new ParleyError(
        'FORBIDDEN',
        `the Host header must name this machine, not "${shown(headers['host'])}"`,
      );
    }
    const origin = headers['origin'];
    if (origin === undefined || READING.has(method) || this.#origins.has(String(origin))) return;
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

/** ElevenLabs' clients have a header of their own for it. */
function tokenIn({ authorization, 'xi-api-key': own }: Visit['headers']): string | undefined {
  const bearer = /^bearer +(\S+) *$/i.exec(String(authorization ?? ''))?.[1];
  return bearer ?? (typeof own === 'string' && own !== '' ? own : undefined);
}

function digest(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

function nameIn(headers: Visit['headers']): string | undefined {
  return typeof headers['host'] === 'string' ? hostOf(`http://${headers['host']}`) : undefined;
}

/** Name and port as a URL of that scheme has them, without the scheme's own port; undefined if it is none. */
function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).host || undefined : undefined;
}

function isLoopbackName(name: string): boolean {
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
