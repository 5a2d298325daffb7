// Computes digest authentication for both sides (RFC 7616, RFC 8760): algorithms, the response, and
// the fields of challenges and credentials. KnownPeer marks the peers that may be challenged or
// answered.
import { createHash } from 'node:crypto';
import { Scanner, unquoted } from '../message/scanner.js';

export type QualityOfProtection = 'auth' | 'auth-int';

/** A stored secret: the password, or its hash with name and realm. */
export type Secret = { readonly password: string } | { readonly ha1: string };

/** A request that was challenged or is about to be sent. */
export interface DigestRequest {
  readonly method: string;
  /** Its Request-URI as text. */
  readonly uri: string;
  readonly body: Uint8Array;
}

interface DigestParts {
  readonly algorithm: DigestAlgorithm;
  readonly username: string;
  readonly realm: string;
  readonly secret: Secret;
  readonly nonce: string;
  readonly method: string;
  /** Spelt as the client wrote it. */
  readonly uri: string;
  /** Undefined for the form of RFC 2069, which has no nonce count. */
  readonly protection:
    | { readonly qop: QualityOfProtection; readonly nonceCount: string; readonly clientNonce: string }
    | undefined;
  readonly body: Uint8Array;
}

export function digestResponse(parts: DigestParts): string {
  const { algorithm, nonce, method, uri, protection, body } = parts;
  const hash = (text: string | Uint8Array) => hashed(algorithm, text);
  const ha1 = algorithm.session
    ? hash(`${secretHash(parts)}:${nonce}:${protection?.clientNonce ?? ''}`)
    : secretHash(parts);
  const ha2 = hash(protection?.qop === 'auth-int' ? `${method}:${uri}:${hash(body)}` : `${method}:${uri}`);
  if (protection === undefined) return hash(`${ha1}:${nonce}:${ha2}`);
  return hash(`${ha1}:${nonce}:${protection.nonceCount}:${protection.clientNonce}:${protection.qop}:${ha2}`);
}

function secretHash({ algorithm, username, realm, secret }: DigestParts): string {
  return 'ha1' in secret ? secret.ha1 : hashed(algorithm, `${username}:${realm}:${secret.password}`);
}

const HASHES = { 'SHA-512-256': 'sha512-256', 'SHA-256': 'sha256', MD5: 'md5' } as const;

type HashName = keyof typeof HASHES;

export interface DigestAlgorithm {
  /** Name as written, with `-sess` for session variants. */
  readonly name: string;
  readonly hash: HashName;
  /** The secret is bound to the first nonce of the session. */
  readonly session: boolean;
}

export const DIGEST_ALGORITHMS: readonly DigestAlgorithm[] = (Object.keys(HASHES) as HashName[]).flatMap(
  (hash) => [
    { name: hash, hash, session: false },
    { name: `${hash}-sess`, hash, session: true },
  ],
);

/** MD5 by default (RFC 7616, section 3.3); undefined for an unknown name. */
export function digestAlgorithm(name: string | undefined): DigestAlgorithm | undefined {
  const wanted = (name ?? 'MD5').toLowerCase();
  return DIGEST_ALGORITHMS.find((known) => known.name.toLowerCase() === wanted);
}

/** Hash in hexadecimal digits. */
export function hashed({ hash }: DigestAlgorithm, text: string | Uint8Array): string {
  return createHash(HASHES[hash]).update(text).digest('hex');
}

interface AuthFields {
  /** Lower case. */
  readonly scheme: string;
  /** Values by lower-case name, without quotes. */
  readonly values: ReadonlyMap<string, string>;
}

const MOST_CHARACTERS = 8192;
const MOST_PAIRS = 64;

/**
 * Parses all challenges or credentials in one header value (RFC 7235, section 2.1); some servers write
 * several challenges into one. Undefined for another form.
 */
export function readAuthFields(value: string): AuthFields[] | undefined {
  if (value.length > MOST_CHARACTERS) return undefined;
  const scanner = new Scanner(value);
  const found: { scheme: string; values: Map<string, string> }[] = [];
  for (let pairs = 0; pairs < MOST_PAIRS && !scanner.space().done; pairs++) {
    const name = scanner.token().toLowerCase();
    if (name === '') return undefined;
    const current = found.at(-1);
    if (!scanner.space().take('=')) {
      found.push({ scheme: name, values: new Map() });
      continue;
    }
    const text = scanner.space().quoted() ?? bareValue(scanner);
    // A repeated name is ambiguous and therefore rejected.
    if (current === undefined || current.values.has(name)) return undefined;
    current.values.set(name, unquoted(text));
    if (!scanner.space().done && !scanner.take(',')) return undefined;
  }
  return scanner.done ? found : undefined;
}

/** Some peers omit the quotes of a URI or a nonce. */
function bareValue(scanner: Scanner): string {
  const [text = ''] = /^[^\s,"]*/.exec(scanner.text.slice(scanner.at)) ?? [];
  scanner.at += text.length;
  return text;
}

const KNOWN = Symbol('a peer that is known');

/**
 * A peer that is known: an allowed source, or a trunk that this server called. Only known peers are
 * challenged, and only their challenges are answered: a stranger could test passwords offline with either.
 */
export interface KnownPeer {
  readonly [KNOWN]: true;
  /** Name of the trunk or address of the source; used for comparison only. */
  readonly name: string;
}

/** Call this only where a peer has been recognised. */
export function knownPeer(name: string): KnownPeer {
  return { [KNOWN]: true, name };
}
