// Answers of DNS, kept as long as they are good, within bounds; calls that ask
// for the same name at the same time share one question.
import type { Time } from '../../src/time.js';
import type { Answer, Resolver } from './resolver.js';

export interface CacheBounds {
  readonly leastSeconds: number;
  readonly mostSeconds: number;
  /** For answers without a TTL, and for those that say there is nothing. */
  readonly usualSeconds: number;
  readonly mostEntries: number;
  /** After which a question counts as unanswered. */
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
  /** Undefined while the question is under way. */
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

  /** Answers that are kept, and questions under way. */
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
      return known.answer as Promise<Answer<T>>; // the key says of what kind
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
        // What failed is asked again by whoever comes next.
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
