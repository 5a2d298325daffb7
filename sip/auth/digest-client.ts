// Answers challenges to requests of ours (RFC 3261 section 22, RFC 8760).
import { quoted } from '../message/scanner.js';
import { digestResponse, type QualityOfProtection, type Secret } from './digest.js';
import { digestAlgorithm, DIGEST_ALGORITHMS, hashed, type DigestAlgorithm } from './digest-algorithm.js';
import { readAuthFields } from './auth-fields.js';
import type { KnownPeer } from './known-peer.js';

export interface Account {
  readonly username: string;
  readonly secret: Secret;
  /** The realms whose challenges may be answered with it; every other one is none of ours. */
  readonly realms: readonly string[];
}

/** The request that was challenged, or that is about to be sent. */
export interface AskedRequest {
  readonly method: string;
  /** Its Request-URI as text. */
  readonly uri: string;
  readonly body: Uint8Array;
}

export interface AuthorizationField {
  readonly name: 'Authorization' | 'Proxy-Authorization';
  readonly value: string;
}

export type ClientVerdict =
  | { readonly fields: readonly AuthorizationField[] }
  /** `refused`: this account was answered with already and is not wanted. */
  | { readonly failure: 'unreadable' | 'no-known-algorithm' | 'unknown-realm' | 'refused' };

interface Challenge {
  readonly field: AuthorizationField['name'];
  readonly realm: string;
  readonly nonce: string;
  readonly opaque: string | undefined;
  readonly algorithm: DigestAlgorithm;
  /** Undefined if the server names no algorithm, and the answer must not either. */
  readonly named: boolean;
  readonly qop: QualityOfProtection | undefined;
  readonly stale: boolean;
  readonly userhash: boolean;
}

interface Standing {
  readonly challenge: Challenge;
  readonly clientNonce: string;
  count: number;
  /** How often running the nonce was stale at its first use. */
  readonly staleRounds: number;
}

/** Which use of its nonce a field was. */
interface NonceUse {
  readonly key: string;
  readonly count: number;
  readonly staleRounds: number;
}

const MOST_STALE_ROUNDS = 2;

/** One account at one peer: its nonces are counted here, so that later requests go without being challenged. */
export class DigestClient {
  readonly peer: KnownPeer;
  readonly #account: Account;
  readonly #clientNonce: () => string;
  /** By field and realm: a proxy and the server behind it each have their own. */
  readonly #standing = new Map<string, Standing>();
  readonly #uses = new WeakMap<AuthorizationField, NonceUse>();

  /** `randomBytes` gives so many bytes that nobody can foresee. */
  constructor(peer: KnownPeer, account: Account, randomBytes: (count: number) => Uint8Array) {
    this.peer = peer;
    this.#account = account;
    this.#clientNonce = () => Buffer.from(randomBytes(12)).toString('hex');
  }

  /**
   * What to send the request again with, from the values of both challenge fields of its 401 or 407. The response
   * must have come from `from`, which is compared with the peer of this account. `sent` are the fields that the
   * challenged request went with; of several requests at once, each is judged by its own.
   */
  answer(
    from: KnownPeer,
    challenges: { readonly www: readonly string[]; readonly proxy: readonly string[] },
    request: AskedRequest,
    sent?: readonly AuthorizationField[],
  ): ClientVerdict {
    if (from.name !== this.peer.name) return { failure: 'unknown-realm' };
    const www = readChallenges('Authorization', challenges.www);
    const proxy = readChallenges('Proxy-Authorization', challenges.proxy);
    if (www === undefined || proxy === undefined) return { failure: 'unreadable' };
    const all = [...www, ...proxy];
    if (all.length === 0) return { failure: 'no-known-algorithm' };
    const ours = all.filter(({ realm }) => this.#account.realms.includes(realm));
    if (ours.length === 0) return { failure: 'unknown-realm' };
    for (const challenge of strongestEach(ours)) {
      const key = keyOf(challenge);
      const before = sent === undefined ? this.#standing.get(key) : this.#useIn(sent, key);
      const staleRounds = before?.count === 1 ? before.staleRounds + 1 : 0;
      // The first use of a nonce was not accepted: name or password are wrong, and asking on locks accounts. Later
      // uses may fail because the server has forgotten the nonce, whether it says so or not.
      if (before?.count === 1 && (!challenge.stale || staleRounds > MOST_STALE_ROUNDS)) {
        this.#standing.delete(key);
        return { failure: 'refused' };
      }
      this.#standing.set(key, {
        challenge,
        clientNonce: this.#clientNonce(),
        count: 0,
        staleRounds,
      });
    }
    return { fields: this.authorize(request) };
  }

  /** For a request that goes to the same peer: under the nonces that it has given so far. */
  authorize(request: AskedRequest): AuthorizationField[] {
    return [...this.#standing.values()].map((standing) => {
      standing.count++;
      const field = { name: standing.challenge.field, value: this.#credentials(standing, request) };
      this.#uses.set(field, { key: keyOf(standing.challenge), count: standing.count, staleRounds: standing.staleRounds });
      return field;
    });
  } // prettier-ignore

  #useIn(sent: readonly AuthorizationField[], key: string): NonceUse | undefined {
    return sent.map((field) => this.#uses.get(field)).find((use) => use?.key === key);
  }

  #credentials({ challenge, clientNonce, count }: Standing, { method, uri, body }: AskedRequest): string {
    const { algorithm, realm, nonce, opaque, qop } = challenge;
    const { username, secret } = this.#account;
    const nonceCount = count.toString(16).padStart(8, '0');
    const protection = qop === undefined ? undefined : { qop, nonceCount, clientNonce };
    const response = digestResponse({
      algorithm,
      username,
      realm,
      secret,
      nonce,
      method,
      uri,
      protection,
      body,
    });
    const user = challenge.userhash ? hashed(algorithm, `${username}:${realm}`) : username;
    const values = [
      `username=${quoted(user)}`,
      `realm=${quoted(realm)}`,
      `nonce=${quoted(nonce)}`,
      `uri=${quoted(uri)}`,
      `response="${response}"`,
      ...(challenge.named ? [`algorithm=${algorithm.name}`] : []),
      ...(qop === undefined && !algorithm.session ? [] : [`cnonce="${clientNonce}"`]),
      ...(qop === undefined ? [] : [`qop=${qop}`, `nc=${nonceCount}`]),
      ...(opaque === undefined ? [] : [`opaque=${quoted(opaque)}`]),
      ...(challenge.userhash ? ['userhash=true'] : []),
    ];
    return `Digest ${values.join(', ')}`;
  }
}

function keyOf({ field, realm }: Challenge): string {
  return `${field} ${realm}`;
}

/** Those that can be answered; undefined if a value is malformed. */
function readChallenges(field: Challenge['field'], values: readonly string[]): Challenge[] | undefined {
  const read = values.map(readAuthFields);
  if (read.includes(undefined)) return undefined;
  return read.flat().flatMap((found): Challenge[] => {
    const at = (name: string) => found?.values.get(name);
    const [realm, nonce, algorithm] = [at('realm'), at('nonce'), digestAlgorithm(at('algorithm'))];
    const offered = at('qop')?.split(',').map((text) => text.trim().toLowerCase());
    // With a body that a proxy may touch, auth is the safer of the two.
    const qop = offered?.includes('auth') ? 'auth' : offered?.includes('auth-int') ? 'auth-int' : undefined;
    if (found?.scheme !== 'digest' || realm === undefined || nonce === undefined || algorithm === undefined) return [];
    if (offered !== undefined && qop === undefined) return [];
    const named = at('algorithm') !== undefined;
    const [stale, userhash] = ['stale', 'userhash'].map((name) => at(name)?.toLowerCase() === 'true');
    return [{ field, realm, nonce, opaque: at('opaque'), algorithm, named, qop, stale: stale === true, userhash: userhash === true }];
  }); // prettier-ignore
}

/** One of each field and realm: the strongest that is known here (RFC 8760 section 2.4). */
function strongestEach(challenges: readonly Challenge[]): Challenge[] {
  const best = new Map<string, Challenge>();
  const rank = ({ algorithm }: Challenge) => DIGEST_ALGORITHMS.indexOf(algorithm);
  for (const challenge of challenges) {
    const other = best.get(keyOf(challenge));
    if (other === undefined || rank(challenge) < rank(other)) best.set(keyOf(challenge), challenge);
  }
  return [...best.values()];
}
