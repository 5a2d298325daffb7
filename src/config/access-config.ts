// Reads the variables of HTTP access: the addresses that it is served on, the API keys, and the limits of
// clients.
import { type ConfigReader, isLoopback } from './environment.js';
import type { Variable } from './variables.js';

export interface AccessConfig {
  readonly host: string;
  /** TCP port; 0 lets the system choose. */
  readonly port: number;
  /** Path of a Unix socket to listen on in addition to the port. */
  readonly udsPath: string | undefined;
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
  /** Entries for `apiKeyIn`. */
  readonly apiKeys: readonly string[];
  readonly apiKeysFile: string | undefined;
  readonly allowOpen: boolean;
  readonly corsOrigins: readonly string[];
  /** Requests of one client in a minute; 0 sets no limit. */
  readonly rateLimit: number;
  readonly maxSockets: number;
}

export interface ApiKey {
  /** Undefined if the key has no name. */
  readonly name: string | undefined;
  readonly key: string;
}

type Reader = ConfigReader<Variable>;

const NAMED_KEY = /^([A-Za-z][\w.-]{0,63})[ \t]+(\S+)$/;
const LEAST_KEY = 16; // characters
const MOST_PATH_BYTES = 107; // path of a Unix socket: sockaddr_un has 108 bytes with the NUL

/** Reads an entry of API_KEYS or API_KEYS_FILE: a key alone, or a name, a space and the key. */
export function apiKeyIn(entry: string): ApiKey {
  const [, name, key = entry] = NAMED_KEY.exec(entry) ?? [];
  return { name, key };
}

export function readAccess(read: Reader): AccessConfig {
  const config: AccessConfig = {
    host: read.raw('HOST') ?? '127.0.0.1',
    port: read.integer('PORT', 8080, 0, 65_535),
    udsPath: read.raw('UDS_PATH'),
    tlsCert: read.raw('TLS_CERT'),
    tlsKey: read.raw('TLS_KEY'),
    apiKeys: read.list('API_KEYS'),
    apiKeysFile: read.raw('API_KEYS_FILE'),
    allowOpen: read.flag('ALLOW_OPEN'),
    corsOrigins: read.listOf('CORS_ORIGINS', 'origins such as https://example.org, without a path', isOrigin),
    rateLimit: read.integer('RATE_LIMIT', 0, 0, 1_000_000),
    maxSockets: read.integer('MAX_SOCKETS', 256, 0, 100_000),
  };
  checkAccess(config, read);
  return config;
}

function isOrigin(item: string): boolean {
  return URL.canParse(item) && new URL(item).origin === item;
}

/** Reports variables that contradict each other, and keys and paths that could not be used. */
function checkAccess(config: AccessConfig, read: Reader): void {
  const { host, apiKeys: entries, apiKeysFile, allowOpen, tlsCert, tlsKey, udsPath } = config;
  const apiKeys = entries.map((entry) => apiKeyIn(entry).key);
  if (!isLoopback(host) && apiKeys.length === 0 && apiKeysFile === undefined && !allowOpen) {
    const wanted = 'set API_KEYS or API_KEYS_FILE, or ALLOW_OPEN=1 to serve anybody';
    read.problem('HOST', `${host} is open to others: ${wanted}`);
  }
  if (apiKeys.some((key) => key.length < LEAST_KEY)) {
    read.problem('API_KEYS', `must be keys of at least ${LEAST_KEY} characters each`);
  }
  if (apiKeys.some((key) => !/^[\x21-\x7e]*$/.test(key))) {
    read.problem('API_KEYS', 'must be keys of ASCII without spaces: others cannot be sent');
  }
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    read.problem('TLS_CERT', 'and TLS_KEY must be set together');
  }
  const pathBytes = Buffer.byteLength(udsPath ?? '');
  if (pathBytes > MOST_PATH_BYTES) {
    read.problem('UDS_PATH', `must have at most ${MOST_PATH_BYTES} bytes, not ${pathBytes}`);
  }
}
