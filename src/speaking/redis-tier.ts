// Redis as the store of renderings that servers share: the only file that
// touches @redis/client. Each client has one connection in its life; when to
// try again is decided by the store (rendering-store.ts), which also answers
// at once while there is none.
import { randomBytes } from 'node:crypto';
import { createClient, RESP_TYPES } from '@redis/client';
import { ParleyError } from '../errors.js';
import type { Log } from '../observe/log.js';
import { RenderingStore, type RenderingStoreParts, type StoreConnection } from './rendering-store.js';

const CONNECT_MS = 2000; // of the socket: until then a client that is given up cannot let go of it

export interface RedisTierOptions {
  /** redis:// or rediss://; what it says of user and password reaches no log. */
  readonly url: string;
  readonly ttlSeconds: number;
  readonly time: RenderingStoreParts['time'];
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/** Throws CONFIG_INVALID for what is no address of Redis; whether there is one shows later. */
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
    socket: { reconnectStrategy: false, connectTimeout: CONNECT_MS },
    commandOptions: { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } },
  });
  const ended = new Promise<unknown>((resolve) => client.on('error', resolve).on('end', resolve));
  const close = () => client.destroy();
  signal.addEventListener('abort', close, { once: true });
  // A client that is given up before its socket is there would go on with it, and wait for an answer for good.
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

/** Where it is, for the log. */
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

/** A word: ECONNREFUSED of the system, WRONGPASS of Redis. Messages may say more than a log should. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it ended';
  const { code } = error as { code?: unknown };
  if (typeof code === 'string') return code;
  return /^[A-Z]{3,}\b/.exec(error.message)?.[0] ?? error.constructor.name;
}
