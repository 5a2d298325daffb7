// Keeps whole renderings in a store that servers share: Redis. Losing the store costs only speed. A look
// takes a limited time, a rendering that is not found is made, and one that cannot be written is dropped.
//
//   connecting ──▶ connected ──▶ waiting ──▶ connecting …     closed, from any
//       └──────── cannot ──────────▲
//
// A connection is given up when it ends, or when several looks in a row take too long. Until the next one
// stands, every look is a miss at once. A clear begins a new generation: no server finds renderings of an
// older one any more, and they expire.
import { randomBytes } from 'node:crypto';
import { createClient, RESP_TYPES } from '@redis/client';
import { ParleyError } from '../errors.js';
import type { Config } from '../config/config.js';
import type { Log } from '../log.js';
import type { Time } from '../time.js';
import { AudioCache, type LookedUp, type RenderingTier } from './audio-cache.js';
import type { Sound } from './sound.js';
import { isGeneration, packSound, unpackSound } from './stored-sound.js';

/** An open connection. Its promises reject when it ends. */
export interface StoreConnection {
  /** Values in the order of the keys; null if a key is absent. */
  get(keys: readonly string[]): Promise<readonly (Uint8Array | null)[]>;
  /** Keeps the value for `ttlSeconds`, or for ever if that is undefined. */
  set(key: string, value: Uint8Array, ttlSeconds: number | undefined): Promise<void>;
  /** Resolves with the reason when the connection ends, on whichever side. */
  readonly ended: Promise<unknown>;
  close(): void;
}

interface RenderingStoreParts {
  /** Rejects when the signal is aborted, if not before, and then leaves nothing open. */
  readonly connect: (signal: AbortSignal) => Promise<StoreConnection>;
  readonly ttlSeconds: number;
  readonly time: {
    now(): number;
    after(ms: number, action: () => void): () => void;
  };
  readonly random: () => number;
  /** A new name of a generation: unguessable, at most 64 characters. */
  readonly newGeneration: () => string;
  /** Called once when the connection is lost, and `onThere` once when it is back. */
  readonly onLost: (reason: unknown) => void;
  readonly onThere: () => void;
  /** Called when the store refuses writes although it answers looks. */
  readonly onRefused: (reason: unknown) => void;
}

const PREFIX = 'parley:rendering:';
const GENERATION = 'parley:generation';
const LOOK_MS = 50;
const WRITE_MS = 5000;
const CONNECT_MS = 3000;
// Failures in a row. A look counts only if it began after the failure before: a short stall is one failure of
// many looks.
const MAX_FAILURES = 3;
const MAX_LOOKS = 256; // at once
const MAX_VALUE_BYTES = 2 * 1024 * 1024; // a minute or two of MP3: more would not arrive within LOOK_MS
const MAX_WRITING_BYTES = 16 * 1024 * 1024; // waiting to be written
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 10_000;
const STEADY_MS = 10_000; // after a connection that lasted this long, the first retry comes soon

const NOTHING: LookedUp = {};

export class RenderingStore implements RenderingTier {
  readonly #parts: RenderingStoreParts;
  readonly #closing = new AbortController();
  #connection: StoreConnection | undefined;
  #connectedAtMs = 0;
  #retryMs = FIRST_RETRY_MS;
  #cancelRetry: (() => void) | undefined;
  #connecting: Promise<void> = Promise.resolve();
  #reported: 'nothing' | 'there' | 'lost' = 'nothing';
  #refused = false;
  #failures = 0;
  #failedAtMs = 0;
  #looks = 0;
  #writingBytes = 0;
  /** A new generation that is not written to the store yet. Until then nothing in the store may be used. */
  #owed: string | undefined;

  /** Begins to connect and does not wait. */
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
      // A failure of an earlier connection says nothing about the present one.
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

  /** This server forgets at once, and the store as soon as it can be reached. */
  clear(): void {
    this.#owed = this.#parts.newGeneration();
    if (this.#connection !== undefined) this.#settle(this.#connection);
  }

  /** Idempotent. Resolves when nothing is open any more. */
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
    if (this.#reported !== 'there') this.#parts.onThere();
    this.#reported = 'there';
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
    if (this.#reported !== 'lost') this.#parts.onLost(reason);
    this.#reported = 'lost';
    // Random, so that servers that lost it together do not reconnect together.
    const ms = this.#retryMs * (0.5 + this.#parts.random() / 2);
    this.#retryMs = Math.min(2 * this.#retryMs, LAST_RETRY_MS);
    this.#cancelRetry = this.#parts.time.after(ms, () => this.#connect());
  }

  /** Settles as the work does, or rejects with TIMEOUT; the work itself goes on. */
  #within<T>(ms: number, work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const late = () => reject(new ParleyError('TIMEOUT', `no answer within ${ms} ms`));
      // An answer that has arrived still counts, because this process itself may have been busy.
      const cancel = this.#parts.time.after(ms, () => setImmediate(late));
      work.finally(cancel).then(resolve, reject);
    });
  }
}

const SOCKET_MS = 2000; // limit for the socket: a client that is given up holds it until then

interface RedisTierOptions {
  /** redis:// or rediss://. Its user and password reach no log. */
  readonly url: string;
  readonly ttlSeconds: number;
  readonly time: RenderingStoreParts['time'];
  readonly log: Log;
}

/**
 * Each client of Redis connects once; the store decides when to try again. Throws CONFIG_INVALID for a wrong
 * address.
 */
export function openRedisTier({ url, ttlSeconds, time, log }: RedisTierOptions): RenderingStore {
  const redis = placeOf(url);
  return new RenderingStore({
    connect: (signal) => connect(url, signal),
    ttlSeconds,
    time,
    random: Math.random,
    newGeneration: () => randomBytes(12).toString('base64url'),
    onLost: (error) => log.warn({ redis, reason: reasonOf(error) }, 'renderings are not shared for now'),
    onThere: () => log.info({ redis }, 'renderings are shared'),
    onRefused: (error) => log.warn({ redis, reason: reasonOf(error) }, 'renderings cannot be written'),
  });
}

async function connect(url: string, signal: AbortSignal): Promise<StoreConnection> {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    maintNotifications: 'disabled',
    socket: { reconnectStrategy: false, connectTimeout: SOCKET_MS },
    commandOptions: { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } },
  });
  const ended = new Promise<unknown>((resolve) => client.on('error', resolve).on('end', resolve));
  const close = () => client.destroy();
  signal.addEventListener('abort', close, { once: true });
  // A client that is given up before its socket is open would go on with it and wait for ever.
  client.on('connect', () => {
    if (signal.aborted) close();
  });
  try {
    await client.connect();
    if (signal.aborted) throw new ParleyError('ABORTED', 'the connection was given up');
  } catch (error) {
    close();
    throw error;
  } finally {
    signal.removeEventListener('abort', close);
  }
  return {
    get: async (keys) => (await client.mGet([...keys])) as unknown as (Uint8Array | null)[],
    set: async (key, value, ttlSeconds) => {
      const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
      const expiration =
        ttlSeconds === undefined ? {} : { expiration: { type: 'EX', value: ttlSeconds } as const };
      await client.set(key, bytes, expiration);
    },
    ended,
    close,
  };
}

/** The address without user and password, for the log. */
function placeOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const known = url?.protocol === 'redis:' || url?.protocol === 'rediss:';
  if (url === undefined || !known || url.hostname === '' || !/^(\/\d*)?$/.test(url.pathname)) {
    throw new ParleyError(
      'CONFIG_INVALID',
      'REDIS_URL must be redis:// or rediss://, with a host, and a number where it names a database',
    );
  }
  return `${url.protocol}//${url.host}${url.pathname}`;
}

/** One word, as ECONNREFUSED of the system or WRONGPASS of Redis. Whole messages may hold secrets. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it ended';
  const { code } = error as { code?: unknown };
  if (typeof code === 'string') return code;
  return /^[A-Z]{3,}\b/.exec(error.message)?.[0] ?? error.constructor.name;
}

type CacheConfig = Pick<
  Config['caches'],
  'redisUrl' | 'redisTtlSeconds' | 'audioCacheMax' | 'audioCacheBytes'
>;

interface OpenedCache {
  readonly cache: AudioCache;
  /** Closes the store. */
  readonly close: () => Promise<void>;
}

/** The cache of whole renderings, with its store if one is configured. */
export function openAudioCache(config: CacheConfig, time: Time, log: Log): OpenedCache {
  const { redisUrl: url, redisTtlSeconds: ttlSeconds, audioCacheMax, audioCacheBytes } = config;
  const tier = url === undefined ? undefined : openRedisTier({ url, ttlSeconds, time, log });
  const cache = new AudioCache({ maxEntries: audioCacheMax, maxBytes: audioCacheBytes }, tier);
  return { cache, close: async () => tier?.close() };
}
