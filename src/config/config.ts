// Reads the environment once into one frozen, typed value with one group for each reader. One error reports
// every mistake, with the variable and its allowed values. Other modules receive groups; none of them reads
// the environment.
import { availableParallelism } from 'node:os';
import { ParleyError } from '../errors.js';
import { type AccessConfig, readAccess } from './access-config.js';
import { type AgentsConfig, readAgentsConfig } from './agent-config.js';
import { type ApplicationsConfig, readApplications } from './applications-config.js';
import { type AudioSocketConfig, readAudioSocketConfig } from './audio-socket-config.js';
import { ConfigReader, type Environment, noticesOf } from './environment.js';
import { type HearingConfig, readHearingConfig } from './hearing-config.js';
import { type IvrConfig, readIvrConfig } from './ivr-config.js';
import { LINUX, type MachineFiles, type ModelConfig, modelNotice, readModelConfig } from './model-config.js';
import { checkNotMoonshine, unheardLanguages, unheardNotice } from './moonshine-config.js';
import { type NamedRelays, readNamedRelays } from './named-relay.js';
import { type PocketConfig, readPocketConfig } from './pocket-config.js';
import { readRecognitionConfig, type RecognitionConfig } from './recognition-config.js';
import { readRecordingConfig, type RecordingConfig } from './recording-config.js';
import { readSpeechServers, type SpeechServersConfig } from './speech-servers-config.js';
import {
  type CaptureConfig,
  type PhoneMediaConfig,
  readCaptures,
  readPhoneMedia,
  readSip,
  type SipConfig,
} from './telephone-config.js';
import { type ServedWeights, servedWeights } from './served-weights.js';
import { SECTIONS, type Variable, VARIABLES } from './variables.js';
import { readVoices, type VoicesConfig } from './voices-config.js';
import { readWebRtcConfig, type WebRtcConfig } from './webrtc-config.js';

export interface Config {
  readonly access: AccessConfig;
  readonly engines: EnginesConfig;
  /** The native engine. */
  readonly model: ModelConfig;
  readonly pocket: PocketConfig;
  readonly voices: VoicesConfig;
  readonly texts: TextsConfig;
  readonly limits: LimitsConfig;
  readonly caches: CachesConfig;
  readonly encoders: EncodersConfig;
  readonly webrtc: WebRtcConfig;
  /** Undefined: calls cannot be recorded. */
  readonly recording: RecordingConfig | undefined;
  readonly hearing: HearingConfig;
  readonly recognition: RecognitionConfig;
  readonly agents: AgentsConfig;
  /** Applications of ConversationRelay that requests may name for one call. */
  readonly namedRelays: NamedRelays;
  readonly applications: ApplicationsConfig;
  readonly ivr: IvrConfig;
  /** Undefined: no calls come over AudioSocket. */
  readonly audioSocket: AudioSocketConfig | undefined;
  readonly sip: SipConfig;
  readonly phoneMedia: PhoneMediaConfig;
  readonly captures: CaptureConfig;
  readonly log: LogConfig;
  readonly operation: OperationConfig;
  /** For clients: the licence and credit of published models. */
  readonly weights: ServedWeights;
  /** Warnings for the operator, one sentence each. */
  readonly notices: readonly string[];
}

interface EnginesConfig {
  readonly engine: 'auto' | 'qwen3' | 'openai' | 'pocket' | 'flite' | 'espeak';
  /** Undefined: the engine `openai` does not exist. */
  readonly speechServers: SpeechServersConfig | undefined;
  /** Allows espeak, whose package is under GPL-3.0, if it is installed. */
  readonly espeak: boolean;
  readonly modelId: string;
  readonly strictModels: boolean;
  /** Codec frames that a sentence may have at most. */
  readonly maxNewTokens: number;
  readonly maxQueueDepth: number;
  readonly engineTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** 0: an engine stays loaded. */
  readonly idleTimeoutMs: number;
  readonly preloadModel: boolean;
}

/** How texts are read and spoken. */
interface TextsConfig {
  readonly maxTextLength: number;
  readonly maxWaitingUtterances: number;
  readonly textIdleMs: number;
  /** A call begins to speak a text in tokens with this part of it. */
  readonly firstPiece: 'clause' | 'sentence';
  /** Spoken in a call that ends because its engine lost its GPU. */
  readonly hangUpPhrase: string | undefined;
  readonly lexiconFile: string | undefined;
  /** Folder of the server's own word tables. */
  readonly tablesDir: string | undefined;
  /** Folder of the word tables of API keys. */
  readonly keyTablesDir: string;
}

/** Limits of calls. */
interface LimitsConfig {
  readonly maxCalls: number;
  /** 0: the default, which follows from `maxCalls`. */
  readonly maxCallsPerClient: number;
  /** 0: the default, which follows from `maxCalls`. */
  readonly maxHalfOpenPerClient: number;
  readonly setupTimeoutMs: number;
}

interface CachesConfig {
  readonly audioCacheMax: number;
  readonly audioCacheBytes: number;
  readonly frameCacheBytes: number;
  readonly redisUrl: string | undefined;
  readonly redisTtlSeconds: number;
}

interface EncodersConfig {
  readonly workers: number;
  readonly silenceThresholdDb: number;
  readonly opus: {
    readonly application: 'audio' | 'voip';
    readonly complexity: number;
    readonly bitsPerSecond: number;
  };
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

interface LogConfig {
  readonly level: (typeof LOG_LEVELS)[number];
  /** `auto`: text at a terminal, JSON elsewhere. */
  readonly style: 'auto' | 'json' | 'text';
  readonly logText: boolean;
  readonly logNumbers: boolean;
}

interface OperationConfig {
  readonly prometheusEnabled: boolean;
  /** Milliseconds that calls get to end by themselves after SIGTERM. */
  readonly drainTimeoutMs: number;
}

type Reader = ConfigReader<Variable>;

const MOST_WAITING = 100_000; // an older server had no limit under MAX_QUEUE_DEPTH=0
const USUAL_TOKENS = 2048; // codec frames of a sentence

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
  checkVoice(read, model);
  const pocket = readPocketConfig(read, env, model.directory);
  const access = readAccess(read);
  const recognition = readRecognitionConfig(read, env);
  const agents = readAgentsConfig(read, env);
  const config: Config = {
    access,
    engines: readEngines(read, model),
    model,
    pocket,
    voices: readVoices(read),
    texts: readTexts(read),
    limits: readLimits(read),
    caches: readCaches(read),
    encoders: readEncoders(read),
    webrtc: readWebRtcConfig(read),
    recording: readRecordingConfig(read),
    hearing: readHearingConfig(read, env),
    recognition,
    agents,
    namedRelays: readNamedRelays(read),
    applications: readApplications(read),
    ivr: readIvrConfig(read),
    audioSocket: readAudioSocketConfig(read, agents, access),
    sip: readSip(read, access),
    phoneMedia: readPhoneMedia(read),
    captures: readCaptures(read),
    log: readLog(read),
    operation: readOperation(read),
    weights: readWeights(read, env, { pocket, recognition }),
    notices: [...noticesFor(env, { model, pocket, recognition }), ...read.notices],
  };
  if (read.problems.length > 0) {
    const mistakes = read.problems.join('\n- ');
    throw new ParleyError('CONFIG_INVALID', `the configuration is not usable:\n- ${mistakes}`);
  }
  for (const group of Object.values(config)) Object.freeze(group);
  return Object.freeze(config);
}

function readWeights(
  read: Reader,
  env: Environment,
  { pocket, recognition }: Pick<Config, 'pocket' | 'recognition'>,
): ServedWeights {
  const speaks = ['auto', 'pocket'].includes(read.raw('ENGINE')?.toLowerCase() ?? 'auto');
  return servedWeights(env, { pocket, speaks, moonshine: recognition.moonshine });
}

function noticesFor(
  env: Environment,
  { model, pocket, recognition }: Pick<Config, 'model' | 'pocket' | 'recognition'>,
): readonly string[] {
  const voice = model.directory !== undefined || pocket.models.length > 0;
  const hearing = (recognition.recogniser ?? recognition.aligner) !== undefined;
  const notice = modelNotice(model, env);
  return [
    ...noticesOf(env, Object.keys(VARIABLES), { voice, hearing }),
    ...(notice === undefined ? [] : [notice]),
    ...unheardLanguages(pocket.models, recognition.moonshine).map(unheardNotice),
  ];
}

function seconds(read: Reader, name: Variable, fallback: number): number {
  return read.number(name, fallback, 0.1, 3600) * 1000;
}

/** Reports a recogniser in the variables of the voice. */
function checkVoice(read: ConfigReader<Variable>, { directory }: ModelConfig): void {
  const variable = read.raw('MODEL_DIR') === undefined ? 'MODEL_ID' : 'MODEL_DIR';
  if (directory !== undefined) checkNotMoonshine(read, variable, directory);
}

function readEngines(read: Reader, model: ModelConfig): EnginesConfig {
  return {
    engine: read.choice('ENGINE', ['auto', 'qwen3', 'openai', 'pocket', 'flite', 'espeak'], 'auto'),
    speechServers: readSpeechServers(read),
    espeak: read.flag('ESPEAK'),
    modelId: read.raw('MODEL_ID') ?? 'parley',
    strictModels: read.flag('STRICT_MODELS'),
    maxNewTokens: model.maxNewTokens || USUAL_TOKENS,
    maxQueueDepth: read.integer('MAX_QUEUE_DEPTH', 256, 0, MOST_WAITING) || MOST_WAITING,
    engineTimeoutMs: seconds(read, 'ENGINE_TIMEOUT', 20),
    requestTimeoutMs: seconds(read, 'REQUEST_TIMEOUT', 60),
    idleTimeoutMs: read.number('IDLE_TIMEOUT', 0, 0, 86_400) * 1000,
    preloadModel: read.flag('PRELOAD_MODEL', true),
  };
}

function readTexts(read: Reader): TextsConfig {
  return {
    maxTextLength: read.integer('MAX_TEXT_LENGTH', 4096, 1, 1_000_000),
    maxWaitingUtterances: read.integer('MAX_WAITING_UTTERANCES', 16, 1, 1000),
    textIdleMs: seconds(read, 'TEXT_IDLE_TIMEOUT', 60),
    firstPiece: read.choice('FIRST_PIECE', ['clause', 'sentence'], 'clause'),
    hangUpPhrase: readHangUpPhrase(read),
    lexiconFile: read.raw('LEXICON_FILE'),
    tablesDir: read.raw('TEXT_TABLES_DIR'),
    keyTablesDir: read.raw('KEY_TABLES_DIR') ?? 'text-tables',
  };
}

const HANG_UP_PHRASE = SECTIONS.Calls.HANG_UP_PHRASE.default;
const MOST_PHRASE = 300; // characters: some twenty seconds

function readHangUpPhrase(read: Reader): string | undefined {
  const phrase = read.raw('HANG_UP_PHRASE') ?? HANG_UP_PHRASE;
  if (phrase.length > MOST_PHRASE)
    read.problem('HANG_UP_PHRASE', `must have at most ${MOST_PHRASE} characters`);
  return phrase === '-' ? undefined : phrase;
}

function readLimits(read: Reader): LimitsConfig {
  return {
    maxCalls: read.integer('MAX_CALLS', 200, 1, 100_000),
    maxCallsPerClient: read.integer('MAX_CALLS_PER_CLIENT', 0, 0, 100_000),
    maxHalfOpenPerClient: read.integer('MAX_HALF_OPEN_PER_CLIENT', 0, 0, 100_000),
    setupTimeoutMs: seconds(read, 'SETUP_TIMEOUT', 20),
  };
}

function readCaches(read: Reader): CachesConfig {
  const redisUrl = read.raw('REDIS_URL');
  if (redisUrl !== undefined && !isRedisUrl(redisUrl)) {
    read.problem('REDIS_URL', 'must be an address such as redis://host:6379 or rediss://user:password@host');
  }
  return {
    audioCacheMax: read.integer('AUDIO_CACHE_MAX', 256, 0, 1_000_000),
    audioCacheBytes: read.integer('AUDIO_CACHE_BYTES', 128 * 1024 * 1024, 0, 2 ** 40),
    frameCacheBytes: read.integer('FRAME_CACHE_BYTES', 32 * 1024 * 1024, 0, 2 ** 40),
    redisUrl,
    redisTtlSeconds: read.integer('REDIS_TTL', 86_400, 1, 2 ** 31),
  };
}

function isRedisUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return (protocol === 'redis:' || protocol === 'rediss:') && hostname !== '';
}

function readEncoders(read: Reader): EncodersConfig {
  return {
    workers: read.integer('ENCODER_WORKERS', Math.max(1, availableParallelism() - 1), 1, 256),
    silenceThresholdDb: read.number('SILENCE_THRESHOLD_DB', -50, -120, 0),
    opus: {
      application: read.choice('OPUS_APPLICATION', ['audio', 'voip'], 'audio'),
      complexity: read.integer('OPUS_COMPLEXITY', 5, 0, 10),
      bitsPerSecond: read.integer('OPUS_BITRATE', 32_000, 6000, 128_000),
    },
  };
}

function readLog(read: Reader): LogConfig {
  return {
    level: read.choice('LOG_LEVEL', LOG_LEVELS, 'info'),
    style: read.choice('LOG_STYLE', ['auto', 'json', 'text'], 'auto'),
    logText: read.flag('LOG_TEXT'),
    logNumbers: read.flag('LOG_NUMBERS'),
  };
}

/** Reads what concerns the whole process: its metrics and its end. */
function readOperation(read: Reader): OperationConfig {
  return {
    prometheusEnabled: read.flag('PROMETHEUS_ENABLED', true),
    drainTimeoutMs: read.number('DRAIN_TIMEOUT', 30, 0, 86_400) * 1000,
  };
}
