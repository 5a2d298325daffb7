// Answers a repeated request with the outcome of the first one, if both have the same idempotency key.
//
//   first request ──▶ in progress ──▶ done, remembered for a day
//                          └────────▶ failed and forgotten: the next request starts anew
import { createHash } from 'node:crypto';
import { ParleyError } from '../../errors.js';
import type { Time } from '../../time.js';

export interface IdempotencyLimits {
  /** Milliseconds for which an outcome is remembered. */
  readonly keptMs: number;
  /** Limits of remembered keys, per client and in total. The oldest finished key is dropped first. */
  readonly mostOfClient: number;
  readonly most: number;
}

export interface KeyedRequest {
  readonly client: string;
  readonly key: string;
  /** The request; the order of its fields does not matter. */
  readonly body: object;
}

export interface Outcome<T> {
  readonly value: T;
  /** True if an earlier request produced the value. */
  readonly replayed: boolean;
}

interface Known<T> {
  readonly digest: string;
  readonly value: Promise<T>;
  /** Undefined while the request is in progress. */
  doneAtMs?: number;
}

const LIMITS: IdempotencyLimits = { keptMs: 24 * 3600 * 1000, mostOfClient: 10_000, most: 50_000 };

export class Idempotency<T> {
  readonly #time: Time;
  readonly #limits: IdempotencyLimits;
  /** Requests by client and key; within a client, oldest first. */
  readonly #clients = new Map<string, Map<string, Known<T>>>();
  #size = 0;

  constructor(time: Time, limits: Partial<IdempotencyLimits> = {}) {
    this.#time = time;
    this.#limits = { ...LIMITS, ...limits };
  }

  /** The number of remembered keys. */
  get size(): number {
    return this.#size;
  }

  /**
   * Rejects as `work` does, with IDEMPOTENCY_MISMATCH if the key came with another body, or with QUEUE_FULL.
   */
  async once({ client, key, body }: KeyedRequest, work: () => Promise<T>): Promise<Outcome<T>> {
    const digest = digestOf(body);
    this.#expire(client);
    const known = this.#clients.get(client)?.get(key);
    if (known === undefined) return { value: await this.#first(client, key, digest, work), replayed: false };
    if (known.digest !== digest) {
      throw new ParleyError('IDEMPOTENCY_MISMATCH', 'this "Idempotency-Key" came with another body before', {
        field: 'Idempotency-Key',
      });
    }
    return { value: await known.value, replayed: true };
  }

  #first(client: string, key: string, digest: string, work: () => Promise<T>): Promise<T> {
    this.#makeRoom(client);
    const keys = this.#clients.get(client) ?? new Map<string, Known<T>>();
    this.#clients.set(client, keys);
    const entry: Known<T> = { digest, value: work() };
    keys.set(key, entry);
    this.#size++;
    return entry.value.then(
      (value) => {
        entry.doneAtMs = this.#time.now();
        return value;
      },
      (error: unknown) => {
        this.#forget(client, key);
        throw error;
      },
    );
  }

  /** Expires the keys of this client only. The total limit bounds those of absent clients. */
  #expire(client: string): void {
    const before = this.#time.now() - this.#limits.keptMs;
    for (const [key, { doneAtMs }] of this.#clients.get(client) ?? []) {
      if (doneAtMs === undefined) continue;
      if (doneAtMs > before) return;
      this.#forget(client, key);
    }
  }

  #makeRoom(client: string): void {
    const { mostOfClient, most } = this.#limits;
    const own = this.#clients.get(client);
    if ((own?.size ?? 0) >= mostOfClient) this.#dropOldest(client);
    else if (this.#size >= most) this.#dropOldest(this.#largest());
  }

  /** The client with the most keys, which loses one. */
  #largest(): string {
    const [[first] = [''], ...others] = this.#clients;
    const size = (client: string) => this.#clients.get(client)?.size ?? 0;
    return others.reduce((found, [client]) => (size(client) > size(found) ? client : found), first);
  }

  #dropOldest(client: string): void {
    for (const [key, { doneAtMs }] of this.#clients.get(client) ?? []) {
      if (doneAtMs === undefined) continue;
      this.#forget(client, key);
      return;
    }
    throw new ParleyError('QUEUE_FULL', 'too many requests with an Idempotency-Key are being answered');
  }

  #forget(client: string, key: string): void {
    const keys = this.#clients.get(client);
    if (keys?.delete(key) !== true) return;
    this.#size--;
    if (keys.size === 0) this.#clients.delete(client);
  }
}

function digestOf(body: object): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(body)))
    .digest('base64');
}

/** The same value with the fields of every object sorted by name. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, field]) => [name, sorted(field)]));
}
