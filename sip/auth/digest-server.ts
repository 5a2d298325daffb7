// Challenges callers and verifies their credentials (RFC 3261 section 22, RFC 8760).
import { timingSafeEqual } from 'node:crypto';
import { quoted } from '../message/scanner.js';
import {
  digestAlgorithm,
  type DigestAlgorithm,
  type DigestRequest,
  digestResponse,
  hashed,
  type KnownPeer,
  type QualityOfProtection,
  readAuthFields,
  type Secret,
} from './digest.js';
import type { Nonces } from './nonces.js';

interface DigestServerOptions {
  readonly realm: string;
  /** Offered algorithms, the preferred one first; MD5 is for phones that support nothing else. */
  readonly algorithms: readonly DigestAlgorithm[];
  readonly qops: readonly QualityOfProtection[];
  readonly nonces: Nonces;
  /** Secret of a user for an algorithm; undefined for an unknown user. */
  readonly secretOf: (username: string, algorithm: DigestAlgorithm) => Secret | undefined;
  /** True if a URI in credentials denotes the requested one: proxies may have rewritten it. */
  readonly sameResource?: (claimed: string, requested: string) => boolean;
}

type ServerVerdict =
  | { readonly username: string }
  /**
   * `missing`, `stale`, `foreign` (a nonce never issued to this peer): challenge again. `malformed`: 400.
   * `replayed` (correct but used before, as a duplicated packet is): challenge again. `wrong` (name or
   * password): challenge again and count a failure of the source.
   */
  | { readonly failure: 'missing' | 'stale' | 'foreign' | 'malformed' | 'replayed' | 'wrong' };

interface Credentials {
  readonly username: string;
  readonly nonce: string;
  readonly uri: string;
  readonly response: string;
  readonly algorithm: DigestAlgorithm;
  readonly protection: {
    readonly qop: QualityOfProtection;
    readonly nonceCount: string;
    readonly clientNonce: string;
  };
}

const RESPONSE = /^[0-9a-f]{32}(?:[0-9a-f]{32})?$/i;

export class DigestServer {
  readonly #options: DigestServerOptions;

  constructor(options: DigestServerOptions) {
    this.#options = options;
  }

  /** Values for WWW-Authenticate or Proxy-Authenticate, one field each. Only for a known peer. */
  challenge(peer: KnownPeer, stale = false): string[] {
    const { realm, algorithms, qops, nonces } = this.#options;
    const nonce = nonces.issue(peer.name);
    return algorithms.map(
      ({ name }) =>
        `Digest realm=${quoted(realm)}, nonce="${nonce}", algorithm=${name}, qop="${qops.join(',')}"` +
        (stale ? ', stale=true' : ''),
    );
  }

  /**
   * Verifies the values of Authorization or Proxy-Authorization. Credentials for other realms are ignored.
   */
  verify(peer: KnownPeer, values: readonly string[], request: DigestRequest): ServerVerdict {
    for (const value of values) {
      const fields = readAuthFields(value);
      const [only] = fields ?? [];
      if (fields?.length !== 1 || only === undefined) return { failure: 'malformed' };
      if (only.scheme !== 'digest' || only.values.get('realm') !== this.#options.realm) continue;
      const credentials = this.#read(only.values);
      return credentials === undefined ? { failure: 'malformed' } : this.#check(peer, credentials, request);
    }
    return { failure: 'missing' };
  }

  #read(values: ReadonlyMap<string, string>): Credentials | undefined {
    const algorithm = digestAlgorithm(values.get('algorithm'));
    const qop = this.#options.qops.find((known) => known === values.get('qop')?.toLowerCase());
    const [username, nonce, uri, response, nonceCount, clientNonce] = [
      'username',
      'nonce',
      'uri',
      'response',
      'nc',
      'cnonce',
    ].map((name) => values.get(name));
    if (algorithm === undefined || !this.#options.algorithms.includes(algorithm) || qop === undefined)
      return undefined;
    if (username === undefined || nonce === undefined || uri === undefined || clientNonce === undefined)
      return undefined;
    if (!RESPONSE.test(response ?? '') || !/^[0-9a-f]{8}$/i.test(nonceCount ?? '')) return undefined;
    const protection = { qop, nonceCount: nonceCount ?? '', clientNonce };
    return { username, nonce, uri, response: response ?? '', algorithm, protection };
  }

  #check(peer: KnownPeer, credentials: Credentials, { method, uri, body }: DigestRequest): ServerVerdict {
    const { realm, nonces, secretOf, sameResource = (a, b) => a === b } = this.#options;
    const { username, nonce, algorithm, protection } = credentials;
    const age = nonces.check(nonce, peer.name);
    if (age !== 'fresh') return { failure: age };
    const secret = secretOf(username, algorithm);
    // Unknown users cost as much time as wrong passwords.
    const expected = digestResponse({
      algorithm,
      username,
      realm,
      nonce,
      method,
      uri: credentials.uri,
      protection,
      body,
      secret: secret ?? { password: '' },
    });
    const right = sameText(expected, credentials.response.toLowerCase(), algorithm);
    if (!right || secret === undefined || !sameResource(credentials.uri, uri)) return { failure: 'wrong' };
    return nonces.use(nonce, Number.parseInt(protection.nonceCount, 16))
      ? { username }
      : { failure: 'replayed' };
  }
}

/** Compares in constant time; both texts are hashed first to equal lengths. */
function sameText(a: string, b: string, algorithm: DigestAlgorithm): boolean {
  return timingSafeEqual(Buffer.from(hashed(algorithm, a)), Buffer.from(hashed(algorithm, b)));
}
