// Reads the variables of telephone calls: SIP addresses, callers and outbound calls, the media of calls, and
// captures.
import { isIP } from 'node:net';
import { type ConfigReader, isLoopback, isNetwork } from './environment.js';
import { SECTIONS, type Variable } from './variables.js';

const DIGEST_NAMES = ['MD5', 'SHA-256', 'SHA-512-256'] as const;
type DigestName = (typeof DIGEST_NAMES)[number];

/** A destination that outbound calls may reach. */
export interface Destination {
  /**
   * A lower-case pattern: a prefix of the called user, `@host` for any user there, or `*` for everything
   * else.
   */
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
  /** The port or address was set explicitly: a port in use is an error. */
  readonly isStated: boolean;
  readonly tlsPort: number | undefined;
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
  readonly tlsCa: string | undefined;
  readonly clientCertificates: boolean;
  /** Addresses announced to peers instead of the listening ones. */
  readonly publicAddresses: readonly string[];
  readonly allow: readonly string[];
  readonly challenge: readonly string[];
  readonly usersFile: string | undefined;
  readonly realm: string;
  /** Hashes of digest challenges, one challenge each, in this order; at least one. */
  readonly digests: readonly DigestName[];
  /** Patterns of the header fields of inbound calls that applications receive. */
  readonly callHeaders: readonly string[];
  readonly routesFile: string | undefined;
  readonly trunksFile: string | undefined;
  readonly greeting: string;
  readonly greetingVoice: string | undefined;
  readonly greetingLanguage: string | undefined;
  /** Ringing time of a call that no rule answers, before the greeting. */
  readonly ringMs: number;
  /** 0 sets no limit. */
  readonly silenceLimitMs: number;
  /** 0 asks for no refreshes. */
  readonly sessionSeconds: number;
  readonly leastSessionSeconds: number;
  /** `any`: callers may send REFER, which makes this server place a call. */
  readonly transfers: 'off' | 'any';
  readonly requestsPerSecond: number;
  /** True allows calls to SIP URIs outside the domains of the trunks. */
  readonly directCalls: boolean;
  /** True follows 3xx responses to calls. */
  readonly redirections: boolean;
  /** Empty: every destination may be called. */
  readonly destinations: readonly Destination[];
  /** Limit for each API key; 0 sets no limit. */
  readonly callsPerMinute: number;
}

/** Key exchange of SRTP: in the session descriptions (RFC 4568) or by a DTLS handshake (RFC 5763). */
type SrtpKeying = 'sdes' | 'dtls';
type TelephoneCodec = 'PCMU' | 'PCMA' | 'G722' | 'opus';

export interface PhoneMediaConfig {
  /** First and last UDP port of the calls' media. */
  readonly rtpPorts: readonly [number, number];
  readonly rtpPortDrainMs: number;
  /** 0 to 63. */
  readonly rtpDscp: number;
  /** 0: calls without packets never end. */
  readonly rtpTimeoutMs: number;
  /** Networks that media may come from without being named by a description or the signalling. */
  readonly rtpLatchNetworks: readonly string[];
  readonly srtp: 'off' | 'prefer' | 'require';
  /** Preferred first; undefined: the transport of the signalling decides. */
  readonly srtpKeying: readonly SrtpKeying[] | undefined;
  /** Comfort noise (RFC 3389) is offered, and sent in pauses. */
  readonly comfortNoise: boolean;
  /** Preferred first. */
  readonly sipCodecs: readonly TelephoneCodec[];
}

export interface CaptureConfig {
  /** HEP collector of SIP messages and media reports; undefined: none. */
  readonly collector: CollectorConfig | undefined;
  /** Undefined: no capture files. */
  readonly files: CaptureFilesConfig | undefined;
  /** Captures keep SRTP keys and digest responses, which are blanked otherwise. */
  readonly keys: boolean;
}

export interface CollectorConfig {
  /** Address or host name. */
  readonly host: string;
  readonly port: number;
  readonly captureId: number;
  readonly key: string | undefined;
}

interface CaptureFilesConfig {
  readonly folder: string;
  readonly calls: CapturedCalls;
  /** Files contain RTP as well. */
  readonly rtp: boolean;
  readonly bytesPerFile: number;
  /** Age limit of files, and size limit of all together; 0: no limit. */
  readonly keepMs: number;
  readonly keepBytes: number;
}

/** `marked`: calls that request it by X-Parley-Capture. Patterns capture matching calls in addition. */
export type CapturedCalls = 'off' | 'all' | 'marked' | readonly CallPattern[];

interface CallPattern {
  readonly field: 'to' | 'from';
  readonly pattern: string;
}

type Reader = ConfigReader<Variable>;

const GREETING = SECTIONS['SIP: calls'].GREETING.default;
const MOST_GREETING = 5000;
const NETWORKS = 'addresses or networks such as 10.0.0.0/8';

interface TlsFiles {
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
}

/** `http` has the certificate of HTTP, which SIP shares unless it has its own. */
export function readSip(read: Reader, http: TlsFiles): SipConfig {
  const config: SipConfig = {
    ...readSipAddresses(read, http),
    ...readCallers(read),
    ...readCallHandling(read),
    ...readOutboundCalls(read),
  };
  checkSip(config, read);
  return config;
}

/** Reads the addresses that SIP is received on, and the certificate. */
function readSipAddresses(read: Reader, http: TlsFiles) {
  const isAddress = (item: string) => isIP(item) !== 0;
  const hosts = read.listOf('SIP_HOST', 'IP addresses', isAddress);
  const own = read.raw('SIP_TLS_CERT') !== undefined || read.raw('SIP_TLS_KEY') !== undefined;
  return {
    enabled: read.flag('SIP_ENABLED', true),
    hosts: hosts.length === 0 ? ['127.0.0.1'] : hosts,
    port: read.integer('SIP_PORT', 5060, 0, 65_535),
    isStated: (['SIP_PORT', 'SIP_HOST', 'SIP_TLS_PORT'] as const).some(
      (name) => read.raw(name) !== undefined,
    ),
    tlsPort: read.raw('SIP_TLS_PORT') === undefined ? undefined : read.integer('SIP_TLS_PORT', 0, 0, 65_535),
    tlsCert: own ? read.raw('SIP_TLS_CERT') : http.tlsCert,
    tlsKey: own ? read.raw('SIP_TLS_KEY') : http.tlsKey,
    tlsCa: read.raw('SIP_TLS_CA'),
    clientCertificates: read.flag('SIP_TLS_CLIENT_CERTS'),
    publicAddresses: read.listOf('PUBLIC_ADDRESS', 'IP addresses', isAddress),
  };
}

/** Callers that are accepted, and their passwords. */
function readCallers(read: Reader) {
  return {
    allow: read.listOf('SIP_ALLOW', NETWORKS, isNetwork),
    challenge: read.listOf('SIP_CHALLENGE', NETWORKS, isNetwork),
    usersFile: read.raw('SIP_USERS_FILE'),
    realm: read.raw('SIP_REALM') ?? 'parley',
    digests: digestsOf(read),
    callHeaders: callHeadersOf(read),
    requestsPerSecond: read.integer('SIP_RATE', 50, 1, 100_000),
  };
}

/** The answer to a call, and the limits of its duration. */
function readCallHandling(read: Reader) {
  return {
    routesFile: read.raw('SIP_ROUTES'),
    greeting: read.raw('GREETING') ?? GREETING,
    greetingVoice: read.raw('GREETING_VOICE'),
    greetingLanguage: read.raw('GREETING_LANGUAGE'),
    ringMs: read.number('SIP_RING', 0, 0, 120) * 1000,
    silenceLimitMs: read.number('SIP_SILENCE_LIMIT', 60, 0, 86_400) * 1000,
    sessionSeconds: read.integer('SIP_SESSION_EXPIRES', 1800, 0, 86_400),
    leastSessionSeconds: read.integer('SIP_MIN_SE', 90, 90, 86_400),
    transfers: read.choice('SIP_TRANSFERS', ['off', 'any'], 'off'),
  };
}

function readOutboundCalls(read: Reader) {
  return {
    trunksFile: read.raw('SIP_TRUNKS'),
    directCalls: read.flag('SIP_DIRECT_CALLS', true),
    redirections: read.flag('SIP_REDIRECTIONS'),
    destinations: destinationsOf(read),
    callsPerMinute: read.integer('SIP_CALLS_PER_MINUTE', 0, 0, 100_000),
  };
}

/**
 * The default is MD5 alone: most phones know no other hash, and many answer only the first of several
 * challenges.
 */
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

/** Reports variables that contradict each other. */
function checkSip(config: SipConfig, read: Reader): void {
  const { hosts, publicAddresses, sessionSeconds, leastSessionSeconds, greeting } = config;
  for (const host of hosts) {
    const family = isIP(host);
    const isWildcard = host === '0.0.0.0' || host === '::';
    if (isWildcard && !publicAddresses.some((address) => isIP(address) === family)) {
      read.problem(
        'PUBLIC_ADDRESS',
        `must have an IPv${family} address for phones to use, because SIP_HOST is ${host}`,
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
    read.problem('SIP_TLS_PORT', 'needs SIP_TLS_CERT and SIP_TLS_KEY, or TLS_CERT and TLS_KEY');
  }
  if (config.clientCertificates && config.tlsCa === undefined) {
    read.problem('SIP_TLS_CLIENT_CERTS', 'needs SIP_TLS_CA, the authorities that sign the certificates');
  }
  if (config.challenge.length > 0 && config.usersFile === undefined) {
    read.problem('SIP_CHALLENGE', 'needs SIP_USERS_FILE, the callers and their passwords');
  }
  if (sessionSeconds !== 0 && sessionSeconds < leastSessionSeconds) {
    read.problem('SIP_SESSION_EXPIRES', `must be 0 or at least SIP_MIN_SE=${leastSessionSeconds}`);
  }
  if (greeting.length > MOST_GREETING)
    read.problem('GREETING', `must have at most ${MOST_GREETING} characters`);
}

// Wideband first, G.722 before Opus because it costs no more than G.711.
const CODECS: readonly TelephoneCodec[] = ['G722', 'opus', 'PCMU', 'PCMA'];
const KEYINGS: readonly SrtpKeying[] = ['sdes', 'dtls'];
const LAST_FREE_PORT = 32_767; // Linux uses ports from 32,768 on for outgoing connections

export function readPhoneMedia(read: Reader): PhoneMediaConfig {
  const networks = read.listOf('RTP_LATCH_NETWORKS', NETWORKS, isNetwork);
  return {
    rtpPorts: readPorts(read),
    rtpPortDrainMs: read.number('RTP_PORT_DRAIN', 30, 0, 3600) * 1000,
    rtpDscp: read.integer('RTP_DSCP', 46, 0, 63),
    rtpTimeoutMs: read.number('RTP_TIMEOUT', 300, 0, 86_400) * 1000,
    rtpLatchNetworks: networks.map((item) => item.replace(/%[^/]*/, '')),
    srtp: read.choice('SRTP', ['off', 'prefer', 'require'], 'prefer'),
    srtpKeying: readKeyings(read),
    comfortNoise: read.flag('RTP_COMFORT_NOISE'),
    sipCodecs: readCodecs(read),
  };
}

function readPorts(read: Reader): readonly [number, number] {
  const first = read.integer('RTP_PORT_MIN', 16_384, 1024, 65_534);
  const last = read.integer('RTP_PORT_MAX', LAST_FREE_PORT, 1025, 65_535);
  // The port of RTP is even, and that of RTCP the one after it.
  if (last <= first + (first % 2))
    read.problem('RTP_PORT_MAX', `leaves no pair of ports from RTP_PORT_MIN=${first} on`);
  return [first, last];
}

function readKeyings(read: Reader): readonly SrtpKeying[] | undefined {
  const keyingOf = (item: string) => KEYINGS.find((name) => name === item.toLowerCase());
  const items = read.listOf(
    'SRTP_KEYING',
    `of ${KEYINGS.join(', ')}`,
    (item) => keyingOf(item) !== undefined,
  );
  const keyings = new Set(items.flatMap((item) => keyingOf(item) ?? []));
  return keyings.size === 0 ? undefined : [...keyings];
}

function readCodecs(read: Reader): readonly TelephoneCodec[] {
  const written = read.list('SIP_CODECS');
  const known = written.map((item) => CODECS.find((name) => name.toLowerCase() === item.toLowerCase()));
  const wrong = written.find((_, at) => known[at] === undefined);
  if (wrong !== undefined) read.problem('SIP_CODECS', `must be of ${CODECS.join(', ')}, not "${wrong}"`);
  const codecs = [...new Set(known.filter((name) => name !== undefined))];
  return codecs.length === 0 ? CODECS : codecs;
}

const HEP_PORT = 9060; // the default of Homer
const USUAL_BYTES = 32 * 1024 * 1024; // an hour of G.711 both ways is 80 MB
const USUAL_KEPT_BYTES = 10 * 1024 ** 3;
const DAY_MS = 86_400_000;
const MOST_KEY = 256;
const MOST_PATTERN = 256;

export function readCaptures(read: Reader): CaptureConfig {
  return { collector: readCollector(read), files: readFiles(read), keys: read.flag('PCAP_KEYS') };
}

function readCollector(read: Reader): CollectorConfig | undefined {
  const [captureId, key] = [read.integer('HEP_ID', 1, 0, 2 ** 32 - 1), read.raw('HEP_KEY')];
  if ((key?.length ?? 0) > MOST_KEY) read.problem('HEP_KEY', `must have at most ${MOST_KEY} characters`);
  const raw = read.raw('HEP_COLLECTOR');
  if (raw === undefined) {
    for (const name of ['HEP_ID', 'HEP_KEY'] as const) {
      if (read.raw(name) !== undefined)
        read.problem(name, 'needs HEP_COLLECTOR, the address of the collector');
    }
    return undefined;
  }
  const [, six, plain, digits] = /^(?:\[([^\]]+)\]|([^:[\]\s]+))(?::(\d{1,5}))?$/.exec(raw) ?? [];
  const [host, port] = [six ?? plain ?? '', Number(digits ?? HEP_PORT)];
  const isHost = six === undefined ? /^[\w.-]{1,253}$/.test(host) : isIP(six) === 6;
  if (!isHost || port < 1 || port > 65_535) {
    read.problem('HEP_COLLECTOR', `must be host:port, such as 192.0.2.1:${HEP_PORT}, not "${raw}"`);
  }
  return { host, port, captureId, key };
}

function readFiles(read: Reader): CaptureFilesConfig | undefined {
  const folder = read.raw('PCAP_DIR');
  const files = {
    calls: readCalls(read),
    rtp: read.flag('PCAP_RTP'),
    bytesPerFile: read.integer('PCAP_BYTES', USUAL_BYTES, 100_000, 2 ** 40),
    keepMs: read.number('PCAP_KEEP_DAYS', 30, 0, 36_500) * DAY_MS,
    keepBytes: read.integer('PCAP_KEEP_BYTES', USUAL_KEPT_BYTES, 0, 2 ** 50),
  };
  if (folder !== undefined) return files.calls === 'off' ? undefined : { folder, ...files };
  for (const name of ['PCAP_CALLS', 'PCAP_RTP', 'PCAP_BYTES', 'PCAP_KEEP_DAYS', 'PCAP_KEEP_BYTES'] as const) {
    if (read.raw(name) !== undefined) read.problem(name, 'needs PCAP_DIR, the folder of the files');
  }
  return undefined;
}

function readCalls(read: Reader): CapturedCalls {
  const items = read.list('PCAP_CALLS');
  const [first = 'marked'] = items;
  const word = first.toLowerCase();
  if (items.length <= 1 && (word === 'off' || word === 'all' || word === 'marked')) return word;
  const patterns = items.map((item) => /^(to|from):(.+)$/i.exec(item));
  const wrong = items.find((item, at) => patterns[at] === null || item.length > MOST_PATTERN);
  if (wrong !== undefined) {
    const what = 'must be off, all, marked, or patterns such as to:100,from:+49*';
    read.problem('PCAP_CALLS', `${what}, not "${wrong.slice(0, MOST_PATTERN)}"`);
  }
  return patterns.flatMap((match) => {
    const [, field, pattern] = match ?? [];
    return field === undefined || pattern === undefined
      ? []
      : [{ field: field.toLowerCase() as 'to' | 'from', pattern }];
  });
}
