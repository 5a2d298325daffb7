// The arithmetic of digest authentication, the same for both sides (RFC 7616
// section 3.4).
import { hashed, type DigestAlgorithm } from './digest-algorithm.js';

export type QualityOfProtection = 'auth' | 'auth-int';

/** What a password is kept as: its hash with name and realm, or itself. */
export type Secret = { readonly password: string } | { readonly ha1: string };

export interface DigestParts {
  readonly algorithm: DigestAlgorithm;
  readonly username: string;
  readonly realm: string;
  readonly secret: Secret;
  readonly nonce: string;
  readonly method: string;
  /** As the client writes it. */
  readonly uri: string;
  /** Undefined for the form of RFC 2069, which counts nothing. */
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
