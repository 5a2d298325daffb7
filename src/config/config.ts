// Reads the environment once into one frozen, typed value. One error reports every mistake, with the variable
// and its allowed values. Other modules receive values; none of them reads the environment.
import { readFileSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { ParleyError } from '../errors.js';
import { type AgentsConfig, readAgentsConfig } from './agent-config.js';
import { type AudioSocketConfig, readAudioSocketConfig } from './audio-socket-config.js';
import { ConfigReader, type Environment, isLoopback, noticesOf } from './environment.js';
import { type HearingConfig, readHearingConfig } from './hearing-config.js';
import { readRecognitionConfig, type RecognitionConfig } from './recognition-config.js';
import { LINUX, type MachineFiles, type ModelConfig, modelNotice, readModelConfig } from './model-config.js';
import { type NamedRelays, readNamedRelays } from './named-relay.js';
import { readRecordingConfig, type RecordingConfig } from './recording-config.js';
import { readSpeechServers, type SpeechServersConfig } from './speech-servers-config.js';
import { readTelephoneConfig } from './telephone-config.js';
import { SECTIONS, type Variable, VARIABLES } from './variables.js';
import { readWebRtcConfig, type WebRtcConfig } from './webrtc-config.js';

/** Names of voices of this server by the voice ids that ElevenLabs' clients send. */
type ElevenLabsVoices = ReadonlyMap<string, string>;

export interface Config {
  readonly host: string;
  readonly port: number;
  /** Entries for `apiKeyIn`. */
  readonly apiKeys: readonly string[];
  readonly allowOpen: boolean;
  readonly corsOrigins: readonly string[];
  readonly engine: 'auto' | 'qwen3' | 'openai' | 'flite' | 'espeak';
  /** Undefined: the engine `openai` does not exist. */
  readonly speechServers: SpeechServersConfig | undefined;
  /** Allows espeak, whose package is under GPL-3.0, if it is installed. */
  readonly espeak: boolean;
  readonly defaultVoice: string | undefined;
  readonly elevenLabsVoices: ElevenLabsVoices;
  readonly maxCalls: number;
  /** 0: the default, which follows from `maxCalls`. */
  readonly maxCallsPerClient: number;
  /** 0: the default, which follows from `maxCalls`. */
  readonly maxHalfOpenPerClient: number;
  readonly maxTextLength: number;
  readonly maxWaitingUtterances: number;
  /** Spoken in a call that ends because its engine lost its GPU. */
  readonly hangUpPhrase: string | undefined;
  readonly maxQueueDepth: number;
  readonly textIdleMs: number;
  /** A call begins to speak a text in tokens with this part of it. */
  readonly firstPiece: 'clause' | 'sentence';
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
  readonly soundCacheBytes: number;
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
  readonly webrtc: WebRtcConfig;
  /** Undefined: calls cannot be recorded. */
  readonly recording: RecordingConfig | undefined;
  readonly hearing: HearingConfig;
  readonly recognition: RecognitionConfig;
  readonly agents: AgentsConfig;
  /** Undefined: no calls come over AudioSocket. */
  readonly audioSocket: AudioSocketConfig | undefined;
  /** Applications of ConversationRelay that requests may name for one call. */
  readonly namedRelays: NamedRelays;
  readonly sip: Telephone['sip'];
  readonly captures: Telephone['captures'];
  /** Milliseconds that calls get to end by themselves after SIGTERM. */
  readonly drainTimeoutMs: number;
  readonly logLevel: LogLevel;
  /** `auto`: text at a terminal, JSON elsewhere. */
  readonly logStyle: 'auto' | 'json' | 'text';
  readonly logText: boolean;
  readonly logNumbers: boolean;
  /** The application that decides how incoming calls are answered; undefined: the routes do. */
  readonly incoming: IncomingConfig | undefined;
  readonly callWebhookUrl: string | undefined;
  readonly callWebhookSecret: string | undefined;
  readonly model: ModelConfig;
  readonly phoneMedia: Telephone['phoneMedia'];
  /** Warnings for the operator, one sentence each. */
  readonly notices: readonly string[];
}

interface IncomingConfig {
  /** Undefined: applications decide that follow the events of the server. */
  readonly url: string | undefined;
  /** Name of their API key. */
  readonly decider: string | undefined;
  readonly timeoutMs: number;
  readonly fallback: 'routes' | 'reject';
}

interface ApiKey {
  /** Undefined if the key has no name. */
  readonly name: string | undefined;
  readonly key: string;
}

const NAMED_KEY = /^([A-Za-z][\w.-]{0,63})[ \t]+(\S+)$/;

/** Reads an entry of API_KEYS or API_KEYS_FILE: a key alone, or a name, a space and the key. */
export function apiKeyIn(entry: string): ApiKey {
  const [, name, key = entry] = NAMED_KEY.exec(entry) ?? [];
  return { name, key };
}

function keyNames({ apiKeys, apiKeysFile }: Pick<Config, 'apiKeys' | 'apiKeysFile'>) {
  return { names: apiKeys.map((entry) => apiKeyIn(entry).name), hasFile: apiKeysFile !== undefined };
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

type Reader = ConfigReader<Variable>;
type Telephone = ReturnType<typeof readTelephoneConfig>;

const MOST_WAITING = 100_000; // an older server had no limit under MAX_QUEUE_DEPTH=0

/**
 * Reads the configuration from the variables, on this machine. Throws CONFIG_INVALID with every mistake at
 * once. A test may bring a reader that notes what is read.
 */
export function readConfig(
  env: Environment,
  machine: MachineFiles = LINUX,
  read = new ConfigReader<Variable>(env),
): Config {
  const model = readModelConfig(read, { engine: read.raw('ENGINE')?.toLowerCase(), env, machine });
  const access = readAccess(read);
  const recognition = readRecognitionConfig(read, env);
  const agents = readAgentsConfig(read, env);
  const config: Config = {
    ...access,
    ...readEngines(read),
    ...readVoices(read),
    ...readCaches(read),
    ...readLimits(read),
    ...readEncoders(read),
    webrtc: readWebRtcConfig(read),
    recording: readRecordingConfig(read),
    hearing: readHearingConfig(read),
    recognition,
    agents,
    namedRelays: readNamedRelays(read),
    audioSocket: readAudioSocketConfig(read, agents, keyNames(access)),
    ...readTelephoneConfig(read, access),
    ...readOperation(read),
    maxNewTokens: model.maxNewTokens || 2048,
    model,
    notices: [
      ...noticesOf(env, Object.keys(VARIABLES), {
        voice: model.directory !== undefined,
        hearing: (recognition.recogniser ?? recognition.aligner) !== undefined,
      }),
      ...[modelNotice(model, env) ?? []].flat(),
    ],
  };
  checkAccess(config, read);
  checkWebhook(config, read);
  if (read.problems.length > 0) {
    const mistakes = read.problems.join('\n- ');
    throw new ParleyError('CONFIG_INVALID', `the configuration is not usable:\n- ${mistakes}`);
  }
  return Object.freeze(config);
}

function seconds(read: Reader, name: Variable, fallback: number): number {
  return read.number(name, fallback, 0.1, 3600) * 1000;
}

/** Reads the addresses that HTTP is served on, and the access rules. */
function readAccess(read: Reader) {
  return {
    host: read.raw('HOST') ?? '127.0.0.1',
    port: read.integer('PORT', 8080, 0, 65_535),
    udsPath: read.raw('UDS_PATH'),
    tlsCert: read.raw('TLS_CERT'),
    tlsKey: read.raw('TLS_KEY'),
    apiKeys: read.list('API_KEYS'),
    apiKeysFile: read.raw('API_KEYS_FILE'),
    allowOpen: read.flag('ALLOW_OPEN'),
    corsOrigins: read.listOf('CORS_ORIGINS', 'origins such as https://example.org, without a path', isOrigin),
  };
}

function readEngines(read: Reader) {
  return {
    engine: read.choice('ENGINE', ['auto', 'qwen3', 'openai', 'flite', 'espeak'], 'auto'),
    speechServers: readSpeechServers(read),
    espeak: read.flag('ESPEAK'),
    modelId: read.raw('MODEL_ID') ?? 'parley',
    strictModels: read.flag('STRICT_MODELS'),
    maxQueueDepth: read.integer('MAX_QUEUE_DEPTH', 256, 0, MOST_WAITING) || MOST_WAITING,
    engineTimeoutMs: seconds(read, 'ENGINE_TIMEOUT', 20),
    requestTimeoutMs: seconds(read, 'REQUEST_TIMEOUT', 60),
    idleTimeoutMs: read.number('IDLE_TIMEOUT', 0, 0, 86_400) * 1000,
    preloadModel: read.flag('PRELOAD_MODEL', true),
    silenceThresholdDb: read.number('SILENCE_THRESHOLD_DB', -50, -120, 0),
    lexiconFile: read.raw('LEXICON_FILE'),
  };
}

function readVoices(read: Reader) {
  return {
    defaultVoice: read.raw('DEFAULT_VOICE'),
    elevenLabsVoices: readElevenLabsVoices(read),
    voicesDir: read.raw('VOICES_DIR') ?? 'voices',
    voiceCacheMax: read.integer('VOICE_CACHE_MAX', 32, 0, 100_000),
    soundCacheBytes: read.integer('SOUND_CACHE_BYTES', 32 * 1024 * 1024, 0, 2 ** 40),
    referenceUrls: read.flag('REFERENCE_URLS'),
    maxUploadBytes: read.integer('MAX_UPLOAD_BYTES', 10 * 1024 * 1024, 1024, 2 ** 30),
  };
}

function readCaches(read: Reader) {
  return {
    audioCacheMax: read.integer('AUDIO_CACHE_MAX', 256, 0, 1_000_000),
    audioCacheBytes: read.integer('AUDIO_CACHE_BYTES', 128 * 1024 * 1024, 0, 2 ** 40),
    frameCacheBytes: read.integer('FRAME_CACHE_BYTES', 32 * 1024 * 1024, 0, 2 ** 40),
    redisUrl: read.raw('REDIS_URL'),
    redisTtlSeconds: read.integer('REDIS_TTL', 86_400, 1, 2 ** 31),
  };
}

/** Limits of calls, texts and clients. */
function readLimits(read: Reader) {
  return {
    maxCalls: read.integer('MAX_CALLS', 200, 1, 100_000),
    maxCallsPerClient: read.integer('MAX_CALLS_PER_CLIENT', 0, 0, 100_000),
    maxHalfOpenPerClient: read.integer('MAX_HALF_OPEN_PER_CLIENT', 0, 0, 100_000),
    maxTextLength: read.integer('MAX_TEXT_LENGTH', 4096, 1, 1_000_000),
    maxWaitingUtterances: read.integer('MAX_WAITING_UTTERANCES', 16, 1, 1000),
    textIdleMs: seconds(read, 'TEXT_IDLE_TIMEOUT', 60),
    firstPiece: read.choice('FIRST_PIECE', ['clause', 'sentence'], 'clause'),
    rateLimit: read.integer('RATE_LIMIT', 0, 0, 1_000_000),
    maxSockets: read.integer('MAX_SOCKETS', 256, 0, 100_000),
    setupTimeoutMs: seconds(read, 'SETUP_TIMEOUT', 20),
  };
}

function readEncoders(read: Reader) {
  return {
    encoderWorkers: read.integer('ENCODER_WORKERS', Math.max(1, availableParallelism() - 1), 1, 256),
    opusApplication: read.choice('OPUS_APPLICATION', ['audio', 'voip'], 'audio'),
    opusComplexity: read.integer('OPUS_COMPLEXITY', 5, 0, 10),
    opusBitrate: read.integer('OPUS_BITRATE', 32_000, 6000, 128_000),
  };
}

/** Logs, metrics, reports of calls, and the end of the process. */
function readOperation(read: Reader) {
  return {
    logLevel: read.choice('LOG_LEVEL', LOG_LEVELS, 'info'),
    logStyle: read.choice('LOG_STYLE', ['auto', 'json', 'text'], 'auto'),
    logText: read.flag('LOG_TEXT'),
    logNumbers: read.flag('LOG_NUMBERS'),
    prometheusEnabled: read.flag('PROMETHEUS_ENABLED', true),
    incoming: readIncoming(read),
    callWebhookUrl: read.raw('CALL_WEBHOOK_URL'),
    callWebhookSecret: read.raw('CALL_WEBHOOK_SECRET'),
    hangUpPhrase: readHangUpPhrase(read),
    drainTimeoutMs: read.number('DRAIN_TIMEOUT', 30, 0, 86_400) * 1000,
  };
}

function readIncoming(read: Reader): IncomingConfig | undefined {
  const url = read.raw('CALL_INCOMING_URL');
  const timeoutMs = read.number('CALL_INCOMING_TIMEOUT', 3, 0.1, 30) * 1000;
  const fallback = read.choice('CALL_INCOMING_FALLBACK', ['routes', 'reject'], 'routes');
  const decider = read.raw('CALL_INCOMING_KEY');
  if (url === undefined && decider === undefined) return undefined;
  if (url !== undefined && decider !== undefined)
    read.problem('CALL_INCOMING_KEY', 'and CALL_INCOMING_URL are two ways to decide: set one of them');
  if (url !== undefined && !isWebhookUrl(url)) read.problem('CALL_INCOMING_URL', WEBHOOK_URL);
  return { url, decider, timeoutMs, fallback };
}

function isOrigin(item: string): boolean {
  return URL.canParse(item) && new URL(item).origin === item;
}

const MOST_PATH_BYTES = 107; // path of a Unix socket: sockaddr_un has 108 bytes with the NUL

/** Reports variables of HTTP access that contradict each other. */
function checkAccess(config: Config, read: Reader): void {
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

// The message does not repeat the value: its path may be a secret.
const WEBHOOK_URL = 'must be an address such as https://example.org/calls, without a user name or password';

function checkWebhook(
  { callWebhookUrl: url, callWebhookSecret: secret, incoming }: Config,
  read: Reader,
): void {
  const isAsked = incoming?.url !== undefined;
  if (isAsked && secret === undefined)
    read.problem('CALL_INCOMING_URL', 'needs CALL_WEBHOOK_SECRET, which signs its requests');
  const isLone = url === undefined ? !isAsked && secret !== undefined : secret === undefined;
  if (isLone) read.problem('CALL_WEBHOOK_URL', 'and CALL_WEBHOOK_SECRET must be set together');
  if (url !== undefined && !isWebhookUrl(url)) read.problem('CALL_WEBHOOK_URL', WEBHOOK_URL);
  if (secret !== undefined && secret.length < LEAST_SECRET) {
    read.problem('CALL_WEBHOOK_SECRET', `must have at least ${LEAST_SECRET} characters`);
  }
}

function isWebhookUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === '';
}

const HANG_UP_PHRASE = SECTIONS.Calls.HANG_UP_PHRASE.default;
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

const MOST_FILE_BYTES = 1024 * 1024;
const MOST_VOICES = 10_000;
const MOST_VOICE_NAME = 200; // characters, as in requests
const VOICE_ID = /^[\w-]{1,64}$/;

/**
 * Reads a JSON object such as {"21m00Tcm4TlvDq8ikWAM": "slt"}; empty without a file. Whether this server has
 * the voices is known only once its engines are open.
 */
function readElevenLabsVoices(read: Reader): ElevenLabsVoices {
  const path = read.raw('ELEVENLABS_VOICES_FILE');
  if (path === undefined) return new Map();
  const problem = (what: string) => read.problem('ELEVENLABS_VOICES_FILE', `${path} ${what}`);
  const value = jsonOf(path, problem);
  if (value === undefined) return new Map();
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    problem('must be a JSON object of ids and names of voices, such as {"21m00Tcm4TlvDq8ikWAM": "slt"}');
    return new Map();
  }
  const entries = Object.entries(value as Readonly<Record<string, unknown>>);
  if (entries.length > MOST_VOICES) {
    problem(`must have at most ${MOST_VOICES} ids, not ${entries.length}`);
    return new Map();
  }
  return new Map(entries.filter((entry) => isVoice(entry, problem)));
}

/** Undefined if the file cannot be read or is not JSON. */
function jsonOf(path: string, problem: (what: string) => void): unknown {
  try {
    if (statSync(path).size > MOST_FILE_BYTES) {
      problem(`must have at most ${MOST_FILE_BYTES} bytes`);
      return undefined;
    }
    return JSON.parse(readFileSync(path, 'utf8').replace(/^\uFEFF/, '')) as unknown;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    problem(error instanceof SyntaxError ? `is not JSON: ${message}` : `cannot be read: ${code ?? message}`);
    return undefined;
  }
}

function isVoice(entry: [string, unknown], problem: (what: string) => void): entry is [string, string] {
  const [id, name] = entry;
  if (!VOICE_ID.test(id)) {
    problem(`${JSON.stringify(id)} must be an id of 1 to 64 letters, digits, "-" and "_"`);
    return false;
  }
  if (typeof name === 'string' && name.trim() !== '' && name.length <= MOST_VOICE_NAME) return true;
  problem(`"${id}" must be the name of a voice, of 1 to ${MOST_VOICE_NAME} characters`);
  return false;
}
