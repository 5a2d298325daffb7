// Keeps the client secrets that an application makes with its API key and gives to a web page. A secret opens
// calls for a short time in the name of that key, so the page never sees the key. Of the calls of that key,
// it may change, end and hear only those that it has opened.
//
// Secrets are in memory, as salted digests only. A look-up compares digests, so its time reveals nothing of a
// secret.
import { createHash, randomBytes } from 'node:crypto';
import { ParleyError } from '../../errors.js';
import { systemTime, type Time } from '../../time.js';

const PREFIX = 'ek_'; // as OpenAI's
const BYTES = 32;
const MOST_OF_OWNER = 10_000;
const MOST = 50_000;
const MOST_SESSION_BYTES = 64 * 1024 * 1024; // of the sessions of all secrets together
const MOST_CALLS = 20; // that a secret is known to have opened
const SWEEP_MS = 1000; // between two searches for expired secrets

interface Secret {
  /** Name of the API key; undefined if the server has none. */
  readonly owner: string | undefined;
  readonly expiresMs: number;
  /** Ids of the latest calls that it has opened. */
  readonly calls: Set<string>;
  /** The session of the calls that it opens, as JSON; undefined if none is stated. */
  readonly session: string | undefined;
}

interface ClientSecretOptions {
  readonly time?: Time;
  readonly mostOfOwner?: number;
  readonly most?: number;
  readonly mostSessionBytes?: number;
}

export class ClientSecrets {
  readonly #time: Time;
  readonly #mostOfOwner: number;
  readonly #most: number;
  readonly #salt = randomBytes(16);
  /** By digest. */
  readonly #secrets = new Map<string, Secret>();
  readonly #counts = new Map<string | undefined, number>();
  #sweptMs = -Infinity;
  readonly #mostSessionBytes: number;
  #sessionBytes = 0;

  constructor({
    time = systemTime,
    mostOfOwner = MOST_OF_OWNER,
    most = MOST,
    mostSessionBytes = MOST_SESSION_BYTES,
  }: ClientSecretOptions = {}) {
    this.#mostSessionBytes = mostSessionBytes;
    this.#time = time;
    this.#mostOfOwner = mostOfOwner;
    this.#most = most;
  }

  /** Secrets that are kept; expired ones may be among them. */
  get size(): number {
    return this.#secrets.size;
  }

  /** Throws CLIENT_LIMIT if the owner has too many secrets, or OVERLOADED if all owners together have. */
  make(owner: string | undefined, seconds: number, described?: object): string {
    const session = described === undefined ? undefined : JSON.stringify(described);
    this.#makeRoom(owner);
    if (this.#countOf(owner) >= this.#mostOfOwner) {
      throw new ParleyError(
        'CLIENT_LIMIT',
        `this client has ${this.#mostOfOwner} client secrets that are valid`,
      );
    }
    if (this.#secrets.size >= this.#most) {
      throw new ParleyError('OVERLOADED', `the server has ${this.#most} client secrets that are valid`);
    }
    const bytes = sizeOf(session);
    if (this.#sessionBytes + bytes > this.#mostSessionBytes) {
      const message = `the sessions of all client secrets have ${this.#mostSessionBytes} bytes, which is the most`;
      throw new ParleyError('OVERLOADED', message);
    }
    this.#sessionBytes += bytes;
    const secret = `${PREFIX}${randomBytes(BYTES).toString('base64url')}`;
    this.#secrets.set(this.#digest(secret), {
      owner,
      expiresMs: this.#time.now() + seconds * 1000,
      calls: new Set(),
      session,
    });
    this.#counts.set(owner, this.#countOf(owner) + 1);
    return secret;
  }

  /** Name of the API key that made the secret; undefined if the secret is unknown or expired. */
  ownerOf(secret: string): string | undefined {
    return this.#find(secret)?.owner;
  }

  /** True for a secret that is valid. */
  has(secret: string): boolean {
    return this.#find(secret) !== undefined;
  }

  /** The session that a valid secret was made with: a JSON object. */
  sessionOf(secret: string): Readonly<Record<string, unknown>> | undefined {
    const session = this.#find(secret)?.session;
    return session === undefined ? undefined : (JSON.parse(session) as Readonly<Record<string, unknown>>);
  }

  /** The secret has opened this call. Anything that is no valid secret is ignored. */
  opened(secret: string, call: string): void {
    const calls = this.#find(secret)?.calls;
    calls?.add(call);
    const [oldest] = calls ?? [];
    if (calls !== undefined && calls.size > MOST_CALLS && oldest !== undefined) calls.delete(oldest);
  }

  hasOpened(secret: string, call: string): boolean {
    return this.#find(secret)?.calls.has(call) === true;
  }

  #find(secret: string): Secret | undefined {
    if (!secret.startsWith(PREFIX)) return undefined;
    const found = this.#secrets.get(this.#digest(secret));
    return found !== undefined && found.expiresMs > this.#time.now() ? found : undefined;
  }

  #makeRoom(owner: string | undefined): void {
    const nowMs = this.#time.now();
    const isFull = this.#countOf(owner) >= this.#mostOfOwner || this.#secrets.size >= this.#most;
    if (!isFull && nowMs - this.#sweptMs < SWEEP_MS) return;
    this.#sweptMs = nowMs;
    for (const [digest, secret] of this.#secrets) {
      if (secret.expiresMs > nowMs) continue;
      this.#secrets.delete(digest);
      this.#sessionBytes -= sizeOf(secret.session);
      const left = this.#countOf(secret.owner) - 1;
      if (left > 0) this.#counts.set(secret.owner, left);
      else this.#counts.delete(secret.owner);
    }
  }

  #countOf(owner: string | undefined): number {
    return this.#counts.get(owner) ?? 0;
  }

  #digest(secret: string): string {
    return createHash('sha256').update(this.#salt).update(secret).digest('base64');
  }
}

function sizeOf(session: string | undefined): number {
  return session === undefined ? 0 : Buffer.byteLength(session);
}
