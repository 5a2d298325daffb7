// Queries DNS for NAPTR, SRV and address records. CachedResolver keeps answers for their TTL within
// bounds and shares concurrent queries; systemResolver asks the name servers of this machine. An empty
// list means that there are no such records; a rejection, that no server answered.
import { promises as dns } from 'node:dns';
import type { Time } from '../../src/time.js';

export interface NaptrRecord {
  readonly order: number;
  readonly preference: number;
  readonly flags: string;
  readonly service: string;
  readonly replacement: string;
}

export interface SrvRecord {
  readonly priority: number;
  readonly weight: number;
  readonly port: number;
  readonly target: string;
}

interface Answer<T> {
  readonly records: readonly T[];
  /** Validity of the answer; undefined if the source does not say. */
  readonly ttlSeconds?: number;
}

export interface Resolver {
  naptr(name: string): Promise<Answer<NaptrRecord>>;
  srv(name: string): Promise<Answer<SrvRecord>>;
  addresses(name: string, family: 4 | 6): Promise<Answer<string>>;
}

interface CacheBounds {
  readonly leastSeconds: number;
  readonly mostSeconds: number;
  /** Used for answers without a TTL and for empty answers. */
  readonly usualSeconds: number;
  readonly mostEntries: number;
  /** Time after which a query counts as unanswered. */
  readonly timeoutMs: number;
}

export const CACHE_BOUNDS: CacheBounds = {
  leastSeconds: 5,
  mostSeconds: 3600,
  usualSeconds: 60,
  mostEntries: 2000,
  timeoutMs: 3000,
};

interface Entry {
  readonly answer: Promise<Answer<unknown>>;
  /** Undefined while the query is pending. */
  goodUntilMs: number | undefined;
}

export class CachedResolver implements Resolver {
  readonly #resolver: Resolver;
  readonly #time: Time;
  readonly #bounds: CacheBounds;
  readonly #entries = new Map<string, Entry>();

  constructor(resolver: Resolver, time: Time, bounds: CacheBounds = CACHE_BOUNDS) {
    this.#resolver = resolver;
    this.#time = time;
    this.#bounds = bounds;
  }

  /** Number of cached answers and pending queries. */
  get size(): number {
    return this.#entries.size;
  }

  readonly naptr: Resolver['naptr'] = (name) =>
    this.#ask(`naptr ${name.toLowerCase()}`, () => this.#resolver.naptr(name));

  readonly srv: Resolver['srv'] = (name) =>
    this.#ask(`srv ${name.toLowerCase()}`, () => this.#resolver.srv(name));

  readonly addresses: Resolver['addresses'] = (name, family) =>
    this.#ask(`${family} ${name.toLowerCase()}`, () => this.#resolver.addresses(name, family));

  #ask<T>(key: string, question: () => Promise<Answer<T>>): Promise<Answer<T>> {
    const known = this.#entries.get(key);
    if (known !== undefined && (known.goodUntilMs ?? Infinity) > this.#time.now()) {
      return known.answer as Promise<Answer<T>>; // the key determines the record type
    }
    const entry: Entry = { answer: this.#inTime(key, question), goodUntilMs: undefined };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    this.#makeRoom();
    entry.answer.then(
      (answer) => {
        entry.goodUntilMs = this.#time.now() + this.#ttlSeconds(answer) * 1000;
      },
      () => {
        // Failed queries are not cached.
        if (this.#entries.get(key) === entry) this.#entries.delete(key);
      },
    );
    return entry.answer as Promise<Answer<T>>;
  }

  #inTime<T>(key: string, question: () => Promise<Answer<T>>): Promise<Answer<T>> {
    return new Promise((resolve, reject) => {
      const late = () =>
        reject(new Error(`DNS has not answered within ${this.#bounds.timeoutMs} ms: ${key}`));
      const cancelTimer = this.#time.after(this.#bounds.timeoutMs, late);
      const asked = question();
      asked.then(cancelTimer, cancelTimer);
      asked.then(resolve, reject);
    });
  }

  #ttlSeconds({ records, ttlSeconds }: Answer<unknown>): number {
    const { leastSeconds, mostSeconds, usualSeconds } = this.#bounds;
    const stated = records.length === 0 ? usualSeconds : (ttlSeconds ?? usualSeconds);
    return Math.min(Math.max(stated, leastSeconds), mostSeconds);
  }

  #makeRoom(): void {
    if (this.#entries.size <= this.#bounds.mostEntries) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }
}

const NOTHING = new Set(['ENODATA', 'ENOTFOUND']);

/**
 * `timeoutMs` applies to one attempt at one name server. `servers` replaces the name servers of this
 * machine, as `127.0.0.1:53`.
 */
export function systemResolver(timeoutMs: number, servers?: readonly string[]): Resolver {
  const resolver = new dns.Resolver({ timeout: timeoutMs, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  return {
    naptr: (name) =>
      orNothing(async () => ({
        records: (await resolver.resolveNaptr(name)).map(
          ({ order, preference, flags, service, replacement }) => ({
            order,
            preference,
            flags,
            service,
            replacement,
          }),
        ),
      })),
    srv: (name) =>
      orNothing(async () => ({
        records: (await resolver.resolveSrv(name)).map(({ priority, weight, port, name: target }) => ({
          priority,
          weight,
          port,
          target,
        })),
      })),
    addresses: (name, family) =>
      orNothing(async () => {
        const found = await (family === 6
          ? resolver.resolve6(name, { ttl: true })
          : resolver.resolve4(name, { ttl: true }));
        const ttlSeconds = Math.min(...found.map(({ ttl }) => ttl));
        return { records: found.map(({ address }) => address), ttlSeconds };
      }),
  };
}

async function orNothing<T>(ask: () => Promise<Answer<T>>): Promise<Answer<T>> {
  try {
    return await ask();
  } catch (error) {
    if (NOTHING.has((error as NodeJS.ErrnoException).code ?? '')) return { records: [] };
    throw error;
  }
}
