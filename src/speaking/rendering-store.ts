// Whole renderings in a store that servers share. Its loss costs nothing but
// speed: nobody waits for it longer than a look may take, what cannot be had is
// rendered, and what cannot be written is left out.
//
//   connecting ──▶ connected ──▶ waiting ──▶ connecting …     closed, from any
//       └──────── cannot ──────────▲
//
// A connection that ends, or lets looks wait too long several times in a row, is
// given up; until the next one stands every look is a miss at once. Forgetting
// is a new generation: what was written under another one is not found any more,
// by no server, and goes when its time is over.
import { ParleyError } from '../errors.js';
import type { LookedUp, RenderingTier } from './audio-cache.js';
import type { Sound } from './sound.js';
import { isGeneration, packSound, unpackSound } from './stored-sound.js';

/** A connection that works. Its promises reject when it ends. */
export interface StoreConnection {
  /** In the order of the keys; null where there is nothing. */
  get(keys: readonly string[]): Promise<readonly (Uint8Array | null)[]>;
  /** For so many seconds, or for good. */
  set(key: string, value: Uint8Array, ttlSeconds: number | undefined): Promise<void>;
  /** Resolves with the reason when it ends, whoever ended it. */
  readonly ended: Promise<unknown>;
  close(): void;
}

export interface RenderingStoreParts {
  /** Rejects at the latest when the signal is aborted, and leaves nothing open then. */
  readonly connect: (signal: AbortSignal) => Promise<StoreConnection>;
  readonly ttlSeconds: number;
  readonly time: {
    now(): number;
    after(ms: number, action: () => void): () => void;
  };
  readonly random: () => number;
  /** An unguessable word of at most 64 characters. */
  readonly newGeneration: () => string;
  /** One line when it is lost, and one when it is back. */
  readonly onLost: (reason: unknown) => void;
  readonly onThere: () => void;
  /** One line when it takes no more, although it can be asked. */
  readonly onRefused: (reason: unknown) => void;
}

const PREFIX = 'parley:rendering:';
const GENERATION = 'parley:generation';
const LOOK_MS = 50;
const WRITE_MS = 5000;
const CONNECT_MS = 3000;
const MAX_FAILURES = 3; // in a row, each of a look that began after the one before: a short stall is one, however many wait
const MAX_LOOKS = 256; // at once
const MAX_VALUE_BYTES = 2 * 1024 * 1024; // a minute or two of MP3: more would not come within a look
const MAX_WRITING_BYTES = 16 * 1024 * 1024; // waiting to be written
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 10_000;
const STEADY_MS = 10_000; // a connection that stood so long: the next try after it comes soon

const NOTHING: LookedUp = {};

export class RenderingStore implements RenderingTier {
  readonly #parts: RenderingStoreParts;
  readonly #closing = new AbortController();
  #connection: StoreConnection | undefined;
  #connectedAtMs = 0;
  #retryMs = FIRST_RETRY_MS;
  #cancelRetry: (() => void) | undefined;
  #connecting: Promise<void> = Promise.resolve();
  #told: 'nothing' | 'there' | 'lost' = 'nothing';
  #refused = false;
  #failures = 0;
  #failedAtMs = 0;
  #looks = 0;
  #writingBytes = 0;
  /** A generation that the store has still to be told: until then nothing in it is to be trusted. */
  #owed: string | undefined;

  /** Begins to connect; never waits for it. */
  constructor(parts: RenderingStoreParts) {
    this.#parts = parts;
    this.#connect();
  }

  async look(key: string): Promise<LookedUp> {
    const connection = this.#connection;
    if (connection === undefined || this.#owed !== undefined || this.#looks >= MAX_LOOKS) return NOTHING;
    this.#looks++;
    const beganAtMs = this.#parts.time.now();
    const reading = connection.get([GENERATION, PREFIX + key]).finally(() => this.#looks--);
    try {
      const [mark, value] = await this.#within(LOOK_MS, reading);
      this.#failures = 0;
      return this.#read(key, mark ?? undefined, value ?? undefined);
    } catch (error) {
      // Those of a connection that is gone say nothing about the next one.
      if (connection === this.#connection) this.#failed(connection, beganAtMs, error);
      return NOTHING;
    }
  }

  #failed(connection: StoreConnection, beganAtMs: number, error: unknown): void {
    if (this.#failures > 0 && beganAtMs < this.#failedAtMs) return;
    this.#failures++;
    this.#failedAtMs = this.#parts.time.now();
    if (this.#failures >= MAX_FAILURES) this.#lose(connection, error);
  }

  /** The store forgets as soon as it can be told; this server does at once. */
  clear(): void {
    this.#owed = this.#parts.newGeneration();
    if (this.#connection !== undefined) this.#settle(this.#connection);
  }

  /** Idempotent; resolves when nothing of it is open. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#cancelRetry?.();
    this.#connection?.close();
    this.#connection = undefined;
    await this.#connecting;
  }

  #read(key: string, mark: Uint8Array | undefined, value: Uint8Array | undefined): LookedUp {
    if (this.#owed !== undefined) return NOTHING; // it was cleared meanwhile
    const generation = mark === undefined ? '' : Buffer.from(mark).toString();
    if (!isGeneration(generation)) return NOTHING;
    const stored = value === undefined ? undefined : unpackSound(value);
    if (stored?.generation === generation) return { sound: stored.sound };
    return { leave: (sound) => this.#leave(key, sound, generation) };
  }

  #leave(key: string, sound: Sound, generation: string): void {
    const connection = this.#connection;
    const { byteLength } = sound.bytes;
    if (connection === undefined || this.#owed !== undefined || byteLength > MAX_VALUE_BYTES) return;
    if (this.#writingBytes + byteLength > MAX_WRITING_BYTES) return;
    this.#writingBytes += byteLength;
    const value = packSound(sound, generation);
    const writing = connection
      .set(PREFIX + key, value, this.#parts.ttlSeconds)
      .finally(() => (this.#writingBytes -= byteLength));
    this.#within(WRITE_MS, writing).then(
      () => (this.#refused = false),
      (error: unknown) => this.#notWritten(connection, error),
    );
  }

  #notWritten(connection: StoreConnection, error: unknown): void {
    if (connection !== this.#connection) return;
    if (error instanceof ParleyError && error.code === 'TIMEOUT') return this.#lose(connection, error);
    if (!this.#refused) this.#parts.onRefused(error);
    this.#refused = true;
  }

  #settle(connection: StoreConnection): void {
    const owed = this.#owed;
    if (owed === undefined) return;
    this.#within(WRITE_MS, connection.set(GENERATION, Buffer.from(owed), undefined)).then(
      () => {
        if (this.#owed === owed) this.#owed = undefined;
      },
      (error: unknown) => this.#lose(connection, error),
    );
  }

  #connect(): void {
    const limit = new AbortController();
    const cancel = this.#parts.time.after(CONNECT_MS, () => limit.abort());
    this.#connecting = this.#parts
      .connect(AbortSignal.any([limit.signal, this.#closing.signal]))
      .finally(cancel)
      .then(
        (connection) => this.#connected(connection),
        (error: unknown) => this.#retry(error),
      );
  }

  #connected(connection: StoreConnection): void {
    if (this.#closing.signal.aborted) return connection.close();
    this.#connection = connection;
    this.#connectedAtMs = this.#parts.time.now();
    this.#failures = 0;
    if (this.#told !== 'there') this.#parts.onThere();
    this.#told = 'there';
    void connection.ended.then((reason) => this.#lose(connection, reason));
    this.#settle(connection);
  }

  #lose(connection: StoreConnection, reason: unknown): void {
    if (connection !== this.#connection) return;
    this.#connection = undefined;
    connection.close();
    if (this.#parts.time.now() - this.#connectedAtMs >= STEADY_MS) this.#retryMs = FIRST_RETRY_MS;
    this.#retry(reason);
  }

  #retry(reason: unknown): void {
    if (this.#closing.signal.aborted) return;
    if (this.#told !== 'lost') this.#parts.onLost(reason);
    this.#told = 'lost';
    // Servers that lost it together do not come back all at once.
    const ms = this.#retryMs * (0.5 + this.#parts.random() / 2);
    this.#retryMs = Math.min(2 * this.#retryMs, LAST_RETRY_MS);
    this.#cancelRetry = this.#parts.time.after(ms, () => this.#connect());
  }

  /** As the work does, or rejects with TIMEOUT; the work itself goes on. */
  #within<T>(ms: number, work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const late = () => reject(new ParleyError('TIMEOUT', `no answer within ${ms} ms`));
      // An answer that lies there already counts: this process may have been the one that was busy.
      const cancel = this.#parts.time.after(ms, () => setImmediate(late));
      work.finally(cancel).then(resolve, reject);
    });
  }
}
