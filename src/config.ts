// The environment, read once into one frozen, typed value.
//
// Every mistake is collected and reported together, naming the variable and
// what it may be. Modules receive values; none reads the environment.
import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { CAPTURE_VARIABLES, readCaptureConfig, type CaptureConfig } from './capture-config.js';
import { noticesOf } from './config-notices.js';
import { ConfigReader, type Environment } from './config-reader.js';
import { ELEVENLABS_VARIABLES, readElevenLabsVoices, type ElevenLabsVoices } from './elevenlabs-config.js';
import { ParleyError } from './errors.js';
import {
  MODEL_VARIABLES,
  modelNotice,
  MOST_TOKENS,
  readModelConfig,
  type ModelConfig,
} from './model-config.js';
import { LINUX, type MachineFiles } from './numa-node.js';
import { readSipConfig, SIP_VARIABLES, type SipConfig } from './sip-config.js';
import { readTelephoneConfig, TELEPHONE_VARIABLES, type TelephoneConfig } from './telephone-config.js';

export interface Config {
  readonly host: string;
  readonly port: number;
  /** Each as `apiKeyIn` reads it. */
  readonly apiKeys: readonly string[];
  readonly allowOpen: boolean;
  readonly corsOrigins: readonly string[];
  readonly engine: 'auto' | 'qwen3' | 'flite' | 'espeak';
  /** espeak may be used where its package, which is under GPL-3.0, is installed. */
  readonly espeak: boolean;
  readonly defaultVoice: string | undefined;
  readonly elevenLabsVoices: ElevenLabsVoices;
  readonly maxCalls: number;
  /** 0: the default, which follows from `maxCalls`. */
  readonly maxCallsPerClient: number;
  /** The same. */
  readonly maxHalfOpenPerClient: number;
  readonly maxTextLength: number;
  readonly maxWaitingUtterances: number;
  /** Said in a call before it ends because its engine lost its GPU. */
  readonly hangUpPhrase: string | undefined;
  readonly maxQueueDepth: number;
  readonly textIdleMs: number;
  readonly lexiconFile: string | undefined;
  readonly engineTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly audioCacheMax: number;
  readonly audioCacheBytes: number;
  readonly frameCacheBytes: number;
  readonly redisUrl: string | undefined;
  readonly redisTtlSeconds: number;
  readonly modelId: string;
  readonly strictModels: boolean;
  readonly maxNewTokens: number;
  readonly silenceThresholdDb: number;
  readonly idleTimeoutMs: number;
  readonly preloadModel: boolean;
  readonly voicesDir: string;
  readonly voiceCacheMax: number;
  readonly referenceUrls: boolean;
  readonly maxUploadBytes: number;
  readonly apiKeysFile: string | undefined;
  readonly rateLimit: number;
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
  readonly udsPath: string | undefined;
  readonly maxSockets: number;
  readonly prometheusEnabled: boolean;
  readonly setupTimeoutMs: number;
  readonly encoderWorkers: number;
  readonly opusApplication: 'audio' | 'voip';
  readonly opusComplexity: number;
  readonly opusBitrate: number;
  readonly iceHostAddresses: readonly string[];
  readonly udpPorts: readonly [number, number] | undefined;
  readonly sip: SipConfig;
  readonly captures: CaptureConfig;
  /** Milliseconds that calls get to end by themselves after SIGTERM. */
  readonly drainTimeoutMs: number;
  readonly logLevel: LogLevel;
  readonly logText: boolean;
  readonly logNumbers: boolean;
  readonly callWebhookUrl: string | undefined;
  readonly callWebhookSecret: string | undefined;
  readonly model: ModelConfig;
  readonly phoneMedia: TelephoneConfig;
  /** What is no mistake but should be known: a sentence each. */
  readonly notices: readonly string[];
}

export interface ApiKey {
  /** Undefined: the key has no name of its own. */
  readonly name: string | undefined;
  readonly key: string;
}

const NAMED_KEY = /^([A-Za-z][\w.-]{0,63})[ \t]+(\S+)$/;

/** A key as API_KEYS and API_KEYS_FILE state it: alone, or behind its name and a space. */
export function apiKeyIn(entry: string): ApiKey {
  const [, name, key = entry] = NAMED_KEY.exec(entry) ?? [];
  return { name, key };
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Every variable with what it means, for the README and the test that compares both. */
export const VARIABLES = {
  HOST: 'address to listen on; an open one wants API_KEYS, API_KEYS_FILE or ALLOW_OPEN=1',
  PORT: 'TCP port of HTTP; 0 lets the system choose',
  API_KEYS:
    'comma-separated keys, one of which requests must carry but those for the page, /docs and /health',
  ALLOW_OPEN: '1 allows an open HOST without keys',
  CORS_ORIGINS: 'comma-separated origins of other web pages that may use the server',
  ENGINE: 'auto, qwen3, flite or espeak',
  ESPEAK: '1 uses espeak (GPL-3.0) where its package is installed',
  DEFAULT_VOICE: 'voice of requests that name none',
  ...ELEVENLABS_VARIABLES,
  MAX_CALLS: 'calls open at once',
  MAX_CALLS_PER_CLIENT: 'calls that each key or address may have at once; 0 for as many as MAX_CALLS',
  MAX_HALF_OPEN_PER_CLIENT:
    'of them, how many may be in set-up; 0 for a quarter of MAX_CALLS, but at least 4',
  MAX_TEXT_LENGTH: 'characters of one text',
  MAX_WAITING_UTTERANCES: 'texts that may wait in one call behind the one being spoken',
  MAX_QUEUE_DEPTH:
    'sentences of calls that may wait for an engine; as many of WebSockets, and of HTTP; 0 for the most',
  HANG_UP_PHRASE: 'what a call hears before it ends because its engine lost its GPU; - for nothing',
  TEXT_IDLE_TIMEOUT: 'seconds without a token after which an unfinished text fails',
  LEXICON_FILE: 'file (JSON) of words and how they are said, read at the start',
  ENGINE_TIMEOUT: 'seconds that the synthesis of one sentence may take',
  REQUEST_TIMEOUT:
    'seconds until the first sound of an HTTP request, and that a sentence may wait for its engine',
  AUDIO_CACHE_MAX: 'renderings of HTTP requests kept in memory; 0 keeps none',
  AUDIO_CACHE_BYTES: 'bytes that they may take together',
  FRAME_CACHE_BYTES: 'bytes of encoded sentences kept for calls; 0 keeps none',
  REDIS_URL: 'redis:// or rediss:// address of a store of renderings that servers share',
  REDIS_TTL: 'seconds for which it keeps one',
  STRICT_MODELS: '1 refuses requests that name another model than those of /v1/models',
  SILENCE_THRESHOLD_DB: 'level in dBFS below which the edges of a sentence are silence',
  IDLE_TIMEOUT: 'seconds without work after which an engine is unloaded; 0 keeps it loaded',
  PRELOAD_MODEL: '1 loads the engines at start, 0 on first use',
  VOICES_DIR: 'folder in which voices made over HTTP are kept',
  VOICE_CACHE_MAX: 'of them, how many are kept in memory ready for use',
  REFERENCE_URLS: '1 allows reference audio by http(s) URL; never from private addresses',
  MAX_UPLOAD_BYTES: 'bytes of a reference audio',
  API_KEYS_FILE: 'file of keys, one a line, read again when it changes',
  RATE_LIMIT: 'requests that each key or address may make at once, and again in a minute; 0 sets no limit',
  TLS_CERT: 'file of the certificate (PEM), together with TLS_KEY; HTTPS instead of HTTP',
  TLS_KEY: 'file of its private key (PEM)',
  UDS_PATH: 'Unix socket to listen on, besides the port',
  MAX_SOCKETS: 'WebSockets open at once',
  PROMETHEUS_ENABLED: '0 leaves /metrics out',
  SETUP_TIMEOUT: 'seconds within which a browser call must be connected',
  ENCODER_WORKERS: 'threads that encode; one less than the cores by default',
  OPUS_APPLICATION: 'what the Opus encoder is tuned for: audio or voip',
  OPUS_COMPLEXITY: 'effort of the Opus encoder, 0 to 10',
  OPUS_BITRATE: 'bits per second of the Opus encoder',
  ICE_HOST_ADDRESSES: 'comma-separated addresses at which browsers reach this machine',
  UDP_PORT_MIN: 'first UDP port of browser calls, together with UDP_PORT_MAX',
  UDP_PORT_MAX: 'last UDP port of browser calls',
  ...SIP_VARIABLES,
  ...CAPTURE_VARIABLES,
  DRAIN_TIMEOUT: 'seconds that calls get to end by themselves after SIGTERM; no new ones are taken meanwhile',
  LOG_LEVEL: LOG_LEVELS.join(', '),
  LOG_TEXT: '1 writes spoken texts into the log',
  LOG_NUMBERS: '1 writes telephone numbers into the log whole; their last two digits otherwise',
  CALL_WEBHOOK_URL: 'http(s) address that is sent a record of each telephone call when it is over',
  CALL_WEBHOOK_SECRET: 'what these records are signed with, together with CALL_WEBHOOK_URL',
  ...MODEL_VARIABLES,
  ...TELEPHONE_VARIABLES,
} as const;

type Variable = keyof typeof VARIABLES;
type Reader = ConfigReader<Variable>;

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

function isOrigin(item: string): boolean {
  return URL.canParse(item) && new URL(item).origin === item;
}

function readPorts(read: Reader): readonly [number, number] | undefined {
  if (read.raw('UDP_PORT_MIN') === undefined && read.raw('UDP_PORT_MAX') === undefined) return undefined;
  const first = read.integer('UDP_PORT_MIN', 0, 1024, 65_535);
  const last = read.integer('UDP_PORT_MAX', 0, 1024, 65_535);
  if (first === 0 || last === 0) read.problem('UDP_PORT_MIN', 'and UDP_PORT_MAX must be set together');
  else if (last <= first) read.problem('UDP_PORT_MAX', `must be above UDP_PORT_MIN=${first}`);
  return [first, last];
}

/** An address, or a network such as 10.0.0.0/8. */
function isNetwork(item: string): boolean {
  const [address = '', bits, more] = item.split('/');
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return (
    more === undefined && (bits === undefined ? most > 0 : /^\d{1,3}$/.test(bits) && Number(bits) <= most)
  );
}

const MOST_PATH_BYTES = 107; // of a Unix socket: sockaddr_un has 108 with the NUL

/** How the server is reached: what one variable asks of another. */
function checkDoors(config: Config, read: Reader): void {
  const { host, apiKeys: entries, apiKeysFile, allowOpen, tlsCert, tlsKey, udsPath, redisUrl } = config;
  const apiKeys = entries.map((entry) => apiKeyIn(entry).key);
  if (!isLoopback(host) && apiKeys.length === 0 && apiKeysFile === undefined && !allowOpen) {
    const wanted = 'set API_KEYS or API_KEYS_FILE, or ALLOW_OPEN=1 to serve anybody';
    read.problem('HOST', `${host} is open to others: ${wanted}`);
  }
  if (apiKeys.some((key) => key.length < 16)) {
    read.problem('API_KEYS', 'must be keys of at least 16 characters each');
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
  if (redisUrl !== undefined && !isRedisUrl(redisUrl)) {
    read.problem('REDIS_URL', 'must be an address such as redis://host:6379 or rediss://user:password@host');
  }
}

const LEAST_SECRET = 16; // characters, as of a key

function checkWebhook({ callWebhookUrl: url, callWebhookSecret: secret }: Config, read: Reader): void {
  if ((url === undefined) !== (secret === undefined)) {
    read.problem('CALL_WEBHOOK_URL', 'and CALL_WEBHOOK_SECRET must be set together');
  }
  // What it is instead is not repeated: its path may be a secret.
  if (url !== undefined && !isWebhookUrl(url)) {
    const what = 'must be an address such as https://example.org/calls, without a user name or password';
    read.problem('CALL_WEBHOOK_URL', what);
  }
  if (secret !== undefined && secret.length < LEAST_SECRET) {
    read.problem('CALL_WEBHOOK_SECRET', `must have at least ${LEAST_SECRET} characters`);
  }
}

function isWebhookUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === '';
}

const HANG_UP_PHRASE = 'We are sorry, this call cannot go on. Please call again later. Goodbye.';
const MOST_PHRASE = 300; // characters: some twenty seconds

function readHangUpPhrase(read: Reader): string | undefined {
  const phrase = read.raw('HANG_UP_PHRASE') ?? HANG_UP_PHRASE;
  if (phrase.length > MOST_PHRASE)
    read.problem('HANG_UP_PHRASE', `must have at most ${MOST_PHRASE} characters`);
  return phrase === '-' ? undefined : phrase;
}

function isRedisUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return (protocol === 'redis:' || protocol === 'rediss:') && hostname !== '';
}

const MOST_WAITING = 100_000; // an older server had no limit under MAX_QUEUE_DEPTH=0

/** The configuration that the variables state, on this machine; throws CONFIG_INVALID with every mistake at once. */
export function readConfig(env: Environment, machine: MachineFiles = LINUX): Config {
  const read = new ConfigReader<Variable>(env);
  const model = readModelConfig(read, { engine: read.raw('ENGINE')?.toLowerCase(), env, machine });
  const seconds = (name: Variable, fallback: number) => read.number(name, fallback, 0.1, 3600) * 1000;
  const config: Config = {
    host: read.raw('HOST') ?? '127.0.0.1',
    port: read.integer('PORT', 8080, 0, 65_535),
    apiKeys: read.list('API_KEYS'),
    allowOpen: read.flag('ALLOW_OPEN'),
    corsOrigins: read.listOf('CORS_ORIGINS', 'origins such as https://example.org, without a path', isOrigin),
    engine: read.choice('ENGINE', ['auto', 'qwen3', 'flite', 'espeak'], 'auto'),
    espeak: read.flag('ESPEAK'),
    defaultVoice: read.raw('DEFAULT_VOICE'),
    elevenLabsVoices: readElevenLabsVoices(read),
    maxCalls: read.integer('MAX_CALLS', 200, 1, 100_000),
    maxCallsPerClient: read.integer('MAX_CALLS_PER_CLIENT', 0, 0, 100_000),
    maxHalfOpenPerClient: read.integer('MAX_HALF_OPEN_PER_CLIENT', 0, 0, 100_000),
    maxTextLength: read.integer('MAX_TEXT_LENGTH', 4096, 1, 1_000_000),
    maxWaitingUtterances: read.integer('MAX_WAITING_UTTERANCES', 16, 1, 1000),
    maxQueueDepth: read.integer('MAX_QUEUE_DEPTH', 256, 0, MOST_WAITING) || MOST_WAITING,
    hangUpPhrase: readHangUpPhrase(read),
    textIdleMs: seconds('TEXT_IDLE_TIMEOUT', 60),
    lexiconFile: read.raw('LEXICON_FILE'),
    engineTimeoutMs: seconds('ENGINE_TIMEOUT', 20),
    requestTimeoutMs: seconds('REQUEST_TIMEOUT', 60),
    audioCacheMax: read.integer('AUDIO_CACHE_MAX', 256, 0, 1_000_000),
    audioCacheBytes: read.integer('AUDIO_CACHE_BYTES', 128 * 1024 * 1024, 0, 2 ** 40),
    frameCacheBytes: read.integer('FRAME_CACHE_BYTES', 32 * 1024 * 1024, 0, 2 ** 40),
    redisUrl: read.raw('REDIS_URL'),
    redisTtlSeconds: read.integer('REDIS_TTL', 86_400, 1, 2 ** 31),
    modelId: read.raw('MODEL_ID') ?? 'parley',
    strictModels: read.flag('STRICT_MODELS'),
    maxNewTokens: read.integer('MAX_NEW_TOKENS', 0, 0, MOST_TOKENS) || 2048,
    silenceThresholdDb: read.number('SILENCE_THRESHOLD_DB', -50, -120, 0),
    idleTimeoutMs: read.number('IDLE_TIMEOUT', 0, 0, 86_400) * 1000,
    preloadModel: read.flag('PRELOAD_MODEL', true),
    voicesDir: read.raw('VOICES_DIR') ?? 'voices',
    voiceCacheMax: read.integer('VOICE_CACHE_MAX', 32, 0, 100_000),
    referenceUrls: read.flag('REFERENCE_URLS'),
    maxUploadBytes: read.integer('MAX_UPLOAD_BYTES', 10 * 1024 * 1024, 1024, 2 ** 30),
    apiKeysFile: read.raw('API_KEYS_FILE'),
    rateLimit: read.integer('RATE_LIMIT', 0, 0, 1_000_000),
    tlsCert: read.raw('TLS_CERT'),
    tlsKey: read.raw('TLS_KEY'),
    udsPath: read.raw('UDS_PATH'),
    maxSockets: read.integer('MAX_SOCKETS', 256, 0, 100_000),
    prometheusEnabled: read.flag('PROMETHEUS_ENABLED', true),
    setupTimeoutMs: seconds('SETUP_TIMEOUT', 20),
    encoderWorkers: read.integer('ENCODER_WORKERS', Math.max(1, availableParallelism() - 1), 1, 256),
    opusApplication: read.choice('OPUS_APPLICATION', ['audio', 'voip'], 'audio'),
    opusComplexity: read.integer('OPUS_COMPLEXITY', 5, 0, 10),
    opusBitrate: read.integer('OPUS_BITRATE', 32_000, 6000, 128_000),
    iceHostAddresses: read.listOf('ICE_HOST_ADDRESSES', 'IP addresses', (item) => isIP(item) !== 0),
    udpPorts: readPorts(read),
    sip: readSipConfig(read, {
      isLoopback,
      isNetwork,
      tlsCert: read.raw('TLS_CERT'),
      tlsKey: read.raw('TLS_KEY'),
    }),
    captures: readCaptureConfig(read),
    drainTimeoutMs: read.number('DRAIN_TIMEOUT', 30, 0, 86_400) * 1000,
    logLevel: read.choice('LOG_LEVEL', LOG_LEVELS, 'info'),
    logText: read.flag('LOG_TEXT'),
    logNumbers: read.flag('LOG_NUMBERS'),
    callWebhookUrl: read.raw('CALL_WEBHOOK_URL'),
    callWebhookSecret: read.raw('CALL_WEBHOOK_SECRET'),
    model,
    phoneMedia: readTelephoneConfig(read, isNetwork),
    notices: [
      ...noticesOf(env, Object.keys(VARIABLES), model.directory !== undefined),
      ...[modelNotice(model, env) ?? []].flat(),
    ],
  };
  checkDoors(config, read);
  checkWebhook(config, read);
  if (read.problems.length > 0) {
    throw new ParleyError(
      'CONFIG_INVALID',
      `the configuration is not usable:\n- ${read.problems.join('\n- ')}`,
    );
  }
  return Object.freeze(config);
}
