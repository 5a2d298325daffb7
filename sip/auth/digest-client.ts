// Answers challenges to requests of this server (RFC 3261 section 22, RFC 8760).
import { quoted } from '../message/scanner.js';
import {
  DIGEST_ALGORITHMS,
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

interface Account {
  readonly username: string;
  readonly secret: Secret;
  /** Realms whose challenges may be answered with this account. */
  readonly realms: readonly string[];
}

export interface AuthorizationField {
  readonly name: 'Authorization' | 'Proxy-Authorization';
  readonly value: string;
}

export type ClientVerdict =
  | { readonly fields: readonly AuthorizationField[] }
  /** `refused`: the server rejected the credentials of this account. */
  | { readonly failure: 'unreadable' | 'no-known-algorithm' | 'unknown-realm' | 'refused' };

interface Challenge {
  readonly field: AuthorizationField['name'];
  readonly realm: string;
  readonly nonce: string;
  readonly opaque: string | undefined;
  readonly algorithm: DigestAlgorithm;
  /** False if the server names no algorithm; then the answer must not either. */
  readonly named: boolean;
  readonly qop: QualityOfProtection | undefined;
  readonly stale: boolean;
  readonly userhash: boolean;
}

interface Standing {
  readonly challenge: Challenge;
  readonly clientNonce: string;
  count: number;
  /** Consecutive nonces that were stale at their first use. */
  readonly staleRounds: number;
}

/** Nonce count of a sent field. */
interface NonceUse {
  readonly key: string;
  readonly count: number;
  readonly staleRounds: number;
}

const MOST_STALE_ROUNDS = 2;

/** One account at one peer. It counts the uses of nonces, so that later requests need no challenge. */
export class DigestClient {
  readonly peer: KnownPeer;
  readonly #account: Account;
  readonly #clientNonce: () => string;
  /** Nonces by field and realm: a proxy and the server behind it have different ones. */
  readonly #standing = new Map<string, Standing>();
  readonly #uses = new WeakMap<AuthorizationField, NonceUse>();

  /** `randomBytes` returns unpredictable bytes. */
  constructor(peer: KnownPeer, account: Account, randomBytes: (count: number) => Uint8Array) {
    this.peer = peer;
    this.#account = account;
    this.#clientNonce = () => Buffer.from(randomBytes(12)).toString('hex');
  }

  /**
   * Returns the credentials for sending a request again, from the values of both challenge fields of its 401
   * or 407. `from` is the sender of the response and must be the peer of this account. `sent` are the
   * credentials of the challenged request, so that concurrent requests are treated separately.
   */
  answer(
    from: KnownPeer,
    challenges: { readonly www: readonly string[]; readonly proxy: readonly string[] },
    request: DigestRequest,
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
      // A rejected first use of a nonce means that name or password are wrong, and further tries may
      // lock the account. Later uses may fail because the server has dropped the nonce, whether it
      // says so or not.
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

  /** Returns credentials for another request to the same peer, with the nonces known so far. */
  authorize(request: DigestRequest): AuthorizationField[] {
    return [...this.#standing.values()].map((standing) => {
      standing.count++;
      const field = { name: standing.challenge.field, value: this.#credentials(standing, request) };
      this.#uses.set(field, {
        key: keyOf(standing.challenge),
        count: standing.count,
        staleRounds: standing.staleRounds,
      });
      return field;
    });
  }

  #useIn(sent: readonly AuthorizationField[], key: string): NonceUse | undefined {
    return sent.map((field) => this.#uses.get(field)).find((use) => use?.key === key);
  }

  #credentials({ challenge, clientNonce, count }: Standing, { method, uri, body }: DigestRequest): string {
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

/** Challenges that can be answered; undefined if a value is malformed. */
function readChallenges(field: Challenge['field'], values: readonly string[]): Challenge[] | undefined {
  const read = values.map(readAuthFields);
  if (read.includes(undefined)) return undefined;
  return read.flat().flatMap((found): Challenge[] => {
    const at = (name: string) => found?.values.get(name);
    const [realm, nonce, algorithm] = [at('realm'), at('nonce'), digestAlgorithm(at('algorithm'))];
    const offered = at('qop')
      ?.split(',')
      .map((text) => text.trim().toLowerCase());
    // `auth` is safer than `auth-int` if a proxy changes the body.
    const qop = offered?.includes('auth') ? 'auth' : offered?.includes('auth-int') ? 'auth-int' : undefined;
    if (found?.scheme !== 'digest' || realm === undefined || nonce === undefined || algorithm === undefined)
      return [];
    if (offered !== undefined && qop === undefined) return [];
    const named = at('algorithm') !== undefined;
    const [stale, userhash] = ['stale', 'userhash'].map((name) => at(name)?.toLowerCase() === 'true');
    return [
      {
        field,
        realm,
        nonce,
        opaque: at('opaque'),
        algorithm,
        named,
        qop,
        stale: stale === true,
        userhash: userhash === true,
      },
    ];
  });
}

/** The strongest known challenge of each field and realm (RFC 8760, section 2.4). */
function strongestEach(challenges: readonly Challenge[]): Challenge[] {
  const best = new Map<string, Challenge>();
  const rank = ({ algorithm }: Challenge) => DIGEST_ALGORITHMS.indexOf(algorithm);
  for (const challenge of challenges) {
    const other = best.get(keyOf(challenge));
    if (other === undefined || rank(challenge) < rank(other)) best.set(keyOf(challenge), challenge);
  }
  return [...best.values()];
}
