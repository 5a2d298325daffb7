// The variables of the telephone door: where it listens, who may call, and what
// callers hear.
import { isIP } from 'node:net';
import type { ConfigReader } from './config-reader.js';

export const DIGEST_NAMES = ['MD5', 'SHA-256', 'SHA-512-256'] as const;
export type DigestName = (typeof DIGEST_NAMES)[number];

/** Calls that go out to it are allowed. */
export interface Destination {
  /** In small letters: of the called user; or `@host` for any user there, or `*` for everything else. */
  readonly prefix: string;
  /** 0 allows none; undefined sets no limit. */
  readonly callsPerMinute: number | undefined;
}

export interface SipConfig {
  readonly enabled: boolean;
  /** Addresses to listen on; at least one. */
  readonly hosts: readonly string[];
  /** UDP and TCP; 0 lets the system choose. */
  readonly port: number;
  /** Somebody chose the port: it must be had. */
  readonly isStated: boolean;
  readonly tlsPort: number | undefined;
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
  readonly tlsCa: string | undefined;
  readonly clientCertificates: boolean;
  /** What peers are told instead of the addresses listened on. */
  readonly publicAddresses: readonly string[];
  readonly allow: readonly string[];
  readonly challenge: readonly string[];
  readonly usersFile: string | undefined;
  readonly realm: string;
  /** Hashes that callers are challenged with, one challenge each, in this order; at least one. */
  readonly digests: readonly DigestName[];
  /** Patterns of the header fields of an inbound call that applications are shown. */
  readonly callHeaders: readonly string[];
  readonly routesFile: string | undefined;
  readonly trunksFile: string | undefined;
  readonly greeting: string;
  readonly greetingVoice: string | undefined;
  readonly greetingLanguage: string | undefined;
  /** How long it rings before a call that no rule answers is answered. */
  readonly ringMs: number;
  /** 0 sets no limit. */
  readonly silenceLimitMs: number;
  /** 0 asks for no refreshes. */
  readonly sessionSeconds: number;
  readonly leastSessionSeconds: number;
  /** Whether callers may have themselves transferred by REFER, which makes this server call. */
  readonly transfers: 'off' | 'any';
  readonly requestsPerSecond: number;
  /** Whether SIP URIs are called that are at the domain of no trunk. */
  readonly directCalls: boolean;
  /** Whether 3xx responses to calls are followed. */
  readonly redirections: boolean;
  /** Empty: every destination may be called. */
  readonly destinations: readonly Destination[];
  /** Calls that one API key may place; 0 sets no limit. */
  readonly callsPerMinute: number;
}

export const SIP_VARIABLES = {
  SIP_ENABLED: '0 closes the telephone door',
  SIP_HOST:
    'comma-separated addresses to listen on for SIP; others than loopback want SIP_ALLOW, SIP_CHALLENGE or SIP_TRUNKS',
  SIP_PORT: 'port of SIP over UDP and TCP; 0 lets the system choose',
  SIP_TLS_PORT: 'port of SIP over TLS; none without',
  SIP_TLS_CERT: 'file of the certificate (PEM) for SIP, together with SIP_TLS_KEY; TLS_CERT where absent',
  SIP_TLS_KEY: 'file of its private key (PEM)',
  SIP_TLS_CA:
    'file of the authorities (PEM) that peers over TLS are believed by; those of the system where absent',
  SIP_TLS_CLIENT_CERTS: '1 wants a certificate of such an authority of everybody who connects over TLS',
  PUBLIC_ADDRESS:
    'comma-separated addresses that phones are told, where they differ from those of this machine',
  SIP_ALLOW: 'comma-separated addresses and networks whose calls are taken',
  SIP_CHALLENGE:
    'comma-separated addresses and networks whose calls are taken with a password of SIP_USERS_FILE',
  SIP_USERS_FILE: 'file of callers, one name:password a line',
  SIP_REALM: 'realm of their passwords',
  SIP_DIGEST: 'comma-separated hashes of their passwords, preferred first: MD5, SHA-256, SHA-512-256',
  SIP_CALL_HEADERS:
    'comma-separated header fields of inbound calls that applications are shown, * for any characters; - for none',
  SIP_ROUTES: 'file (JSON) of rules that choose what answers a call',
  SIP_TRUNKS: 'file (JSON) of the trunks that calls go out through',
  GREETING: 'what callers hear where no rule says otherwise',
  GREETING_VOICE: 'voice of the greeting',
  GREETING_LANGUAGE: 'language of the greeting, such as en',
  SIP_RING: 'seconds that it rings before a call that no rule answers is answered with the greeting',
  SIP_SILENCE_LIMIT:
    'seconds without speech, digits or commands after which a call is ended; 0 sets no limit',
  SIP_SESSION_EXPIRES:
    'seconds after which a call that nobody refreshed is taken for dead; 0 asks for no refreshes',
  SIP_MIN_SE: 'the shortest such time that is accepted of others',
  SIP_TRANSFERS: 'off, or any: whether callers may have this server call somebody else (REFER)',
  SIP_DIRECT_CALLS: '0 calls only through trunks: a SIP URI at the domain of no trunk is refused',
  SIP_REDIRECTIONS: '1 follows 3xx responses to calls, five at most, to allowed destinations',
  SIP_DESTINATIONS:
    'comma-separated prefixes of numbers that may be called, @host for any user of a host, * for all others; +49=60 allows 60 calls a minute, +49900=0 none',
  SIP_CALLS_PER_MINUTE: 'calls a minute that each API key may place; 0 sets no limit',
  SIP_RATE: 'requests a second of one source, ten seconds of them at once',
} as const;

const GREETING = 'Hello. This is Parley. What you hear is set by the variable GREETING.';
const MOST_GREETING = 5000;

type Reader = ConfigReader<keyof typeof SIP_VARIABLES>;

export interface SipSurroundings {
  readonly isLoopback: (host: string) => boolean;
  readonly isNetwork: (item: string) => boolean;
  /** Those of HTTP. */
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
}

export function readSipConfig(read: Reader, surroundings: SipSurroundings): SipConfig {
  const { isNetwork } = surroundings;
  const networks = (name: 'SIP_ALLOW' | 'SIP_CHALLENGE') =>
    read.listOf(name, 'addresses or networks such as 10.0.0.0/8', isNetwork);
  const hosts = read.listOf('SIP_HOST', 'IP addresses', (item) => isIP(item) !== 0);
  const own = read.raw('SIP_TLS_CERT') !== undefined || read.raw('SIP_TLS_KEY') !== undefined;
  const config: SipConfig = {
    enabled: read.flag('SIP_ENABLED', true),
    hosts: hosts.length === 0 ? ['127.0.0.1'] : hosts,
    port: read.integer('SIP_PORT', 5060, 0, 65_535),
    isStated: ['SIP_PORT', 'SIP_HOST', 'SIP_TLS_PORT'].some(
      (name) => read.raw(name as 'SIP_PORT') !== undefined,
    ),
    tlsPort: read.raw('SIP_TLS_PORT') === undefined ? undefined : read.integer('SIP_TLS_PORT', 0, 0, 65_535),
    tlsCert: own ? read.raw('SIP_TLS_CERT') : surroundings.tlsCert,
    tlsKey: own ? read.raw('SIP_TLS_KEY') : surroundings.tlsKey,
    tlsCa: read.raw('SIP_TLS_CA'),
    clientCertificates: read.flag('SIP_TLS_CLIENT_CERTS'),
    publicAddresses: read.listOf('PUBLIC_ADDRESS', 'IP addresses', (item) => isIP(item) !== 0),
    allow: networks('SIP_ALLOW'),
    challenge: networks('SIP_CHALLENGE'),
    usersFile: read.raw('SIP_USERS_FILE'),
    realm: read.raw('SIP_REALM') ?? 'parley',
    digests: digestsOf(read),
    callHeaders: callHeadersOf(read),
    routesFile: read.raw('SIP_ROUTES'),
    trunksFile: read.raw('SIP_TRUNKS'),
    greeting: read.raw('GREETING') ?? GREETING,
    greetingVoice: read.raw('GREETING_VOICE'),
    greetingLanguage: read.raw('GREETING_LANGUAGE'),
    ringMs: read.number('SIP_RING', 0, 0, 120) * 1000,
    silenceLimitMs: read.number('SIP_SILENCE_LIMIT', 60, 0, 86_400) * 1000,
    sessionSeconds: read.integer('SIP_SESSION_EXPIRES', 1800, 0, 86_400),
    leastSessionSeconds: read.integer('SIP_MIN_SE', 90, 90, 86_400),
    transfers: read.choice('SIP_TRANSFERS', ['off', 'any'], 'off'),
    requestsPerSecond: read.integer('SIP_RATE', 50, 1, 100_000),
    directCalls: read.flag('SIP_DIRECT_CALLS', true),
    redirections: read.flag('SIP_REDIRECTIONS'),
    destinations: destinationsOf(read),
    callsPerMinute: read.integer('SIP_CALLS_PER_MINUTE', 0, 0, 100_000),
  };
  check(config, read, surroundings);
  return config;
}

/** MD5 alone where nothing is said: most phones know no other hash, and many answer only the first of several challenges. */
function digestsOf(read: Reader): readonly DigestName[] {
  const nameOf = (item: string) => DIGEST_NAMES.find((name) => name === item.toUpperCase());
  const items = read.listOf(
    'SIP_DIGEST',
    `some of ${DIGEST_NAMES.join(', ')}`,
    (item) => nameOf(item) !== undefined,
  );
  const names = new Set(items.flatMap((item) => nameOf(item) ?? []));
  return names.size === 0 ? ['MD5'] : [...names];
}

const CALL_HEADERS = ['X-*', 'Diversion', 'User-to-User', 'P-Asserted-Identity'];

function callHeadersOf(read: Reader): readonly string[] {
  if (read.raw('SIP_CALL_HEADERS') === '-') return [];
  const isName = (item: string) => /^[\w.!%*+`'~-]{1,100}$/.test(item);
  const names = read.listOf('SIP_CALL_HEADERS', 'names of header fields, such as X-Tenant or X-*', isName);
  return names.length === 0 ? CALL_HEADERS : names;
}

const DESTINATION = /^(\*|@[^\s@=]+|[^\s@=]+)(?:=(\d{1,6}))?$/;

function destinationsOf(read: Reader): readonly Destination[] {
  const items = read.listOf('SIP_DESTINATIONS', 'prefixes such as +49 or +49=60', (item) =>
    DESTINATION.test(item),
  );
  const found = items.flatMap((item): Destination[] => {
    const [, prefix = '', calls] = DESTINATION.exec(item) ?? [];
    const host = /^@\[(.+)\]$/.exec(prefix)?.[1];
    const written = (host === undefined ? prefix : `@${host}`).toLowerCase();
    return prefix === ''
      ? []
      : [{ prefix: written, callsPerMinute: calls === undefined ? undefined : Number(calls) }];
  });
  const twice = found.find(({ prefix }, at) => found.findIndex((other) => other.prefix === prefix) !== at);
  if (twice !== undefined) read.problem('SIP_DESTINATIONS', `names "${twice.prefix}" twice`);
  return found;
}

/** What one variable asks of another. */
function check(config: SipConfig, read: Reader, { isLoopback }: SipSurroundings): void {
  const { hosts, publicAddresses, sessionSeconds, leastSessionSeconds, greeting } = config;
  for (const host of hosts) {
    const family = isIP(host);
    const isWildcard = host === '0.0.0.0' || host === '::';
    if (isWildcard && !publicAddresses.some((address) => isIP(address) === family)) {
      read.problem(
        'PUBLIC_ADDRESS',
        `must have an IPv${family} address that phones are told, as SIP_HOST is ${host}`,
      );
    }
  }
  if (
    hosts.some((host) => !isLoopback(host)) &&
    config.allow.length + config.challenge.length === 0 &&
    config.trunksFile === undefined
  ) {
    read.problem(
      'SIP_HOST',
      'is open to others, none of whom may call: set SIP_ALLOW, SIP_CHALLENGE or SIP_TRUNKS',
    );
  }
  if (config.tlsPort !== undefined && (config.tlsCert === undefined || config.tlsKey === undefined)) {
    read.problem('SIP_TLS_PORT', 'wants SIP_TLS_CERT and SIP_TLS_KEY, or TLS_CERT and TLS_KEY');
  }
  if (config.clientCertificates && config.tlsCa === undefined) {
    read.problem('SIP_TLS_CLIENT_CERTS', 'wants SIP_TLS_CA, the authorities that they are believed by');
  }
  if (config.challenge.length > 0 && config.usersFile === undefined) {
    read.problem('SIP_CHALLENGE', 'wants SIP_USERS_FILE, the callers and their passwords');
  }
  if (sessionSeconds !== 0 && sessionSeconds < leastSessionSeconds) {
    read.problem('SIP_SESSION_EXPIRES', `must be 0 or at least SIP_MIN_SE=${leastSessionSeconds}`);
  }
  if (greeting.length > MOST_GREETING)
    read.problem('GREETING', `must have at most ${MOST_GREETING} characters`);
}
