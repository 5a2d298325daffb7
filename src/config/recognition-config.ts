// Reads the variables of recognisers and the forced aligner.
import type { ConfigReader, Environment, MemoryLimit } from './environment.js';
import { type Fields, isFields } from './fields.js';
import { findCheckpoint, hubCache } from './model-config.js';
import {
  checkNotMoonshine,
  isMoonshineFolder,
  type MoonshineConfig,
  readMoonshineConfig,
} from './moonshine-config.js';
import { moonshineFolder, moonshineInCache } from './onnx-cache.js';
import { moonshineModelNamed } from './onnx-catalog.js';
import { isPocketFolder } from './pocket-config.js';
import type { Variable } from './variables.js';

export interface ApiServerConfig {
  /** Address of an OpenAI-compatible server, without a slash at its end. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly model: string;
}

/** A server with OpenAI's chat endpoint. */
export interface ChatServerConfig extends ApiServerConfig {
  /** Fields that each request has in addition to ours; absent: none. */
  readonly options?: Fields;
}

export interface ApiServersConfig extends Omit<ApiServerConfig, 'baseUrl'> {
  /** Addresses of servers with the same model. */
  readonly baseUrls: readonly string[];
}

interface RemoteRecogniser extends ApiServersConfig {
  /** Dialect of its realtime socket; undefined: it has none. */
  readonly realtime: 'openai' | 'vllm' | undefined;
}

/** Limits of files that are transcribed over HTTP. */
interface FileLimits {
  readonly maxAtOnce: number;
  readonly maxBytes: number;
  /** Length of the sound. */
  readonly maxSeconds: number;
}

/** A checkpoint that the native engine recognises speech with. */
export interface RecognitionModel {
  /** Its folder. */
  readonly directory: string;
  /** With its weights; undefined: from what is free on the device. */
  readonly memory: MemoryLimit | undefined;
}

/** At most one of `recogniser`, `moonshine` and `remote` is defined. Without one speech is not recognised. */
export interface RecognitionConfig {
  /** Qwen3-ASR. */
  readonly recogniser: RecognitionModel | undefined;
  readonly moonshine: MoonshineConfig | undefined;
  readonly remote: RemoteRecogniser | undefined;
  /** A smaller one that recognises the partial texts of live sound. */
  readonly fast: RecognitionModel | undefined;
  /** Qwen3-ForcedAligner. */
  readonly aligner: RecognitionModel | undefined;
  /** `draft`: our own streaming of live speech. `official`: that of the reference package. */
  readonly streaming: 'draft' | 'official';
  /** Shortest time between the partial texts of a turn. */
  readonly partialIntervalMs: number;
  /** Recognised speech is written with figures, where nothing else is stated. */
  readonly smartFormat: boolean;
  /** File of Korean nouns for the aligner. */
  readonly koreanWords: string | undefined;
  readonly files: FileLimits;
  /** Undefined: texts are not translated. */
  readonly translation: ChatServerConfig | undefined;
}

type Reader = ConfigReader<Variable>;

const QWEN3 = 'Qwen/Qwen3-ASR-0.6B';
const INTERVAL_MS = 320;
/** A partial text of Moonshine costs more: the encoder computes its context again each time. */
const MOONSHINE_INTERVAL_MS = 480;

export function readRecognitionConfig(read: Reader, env: Environment): RecognitionConfig {
  const { recogniser, moonshine, remote } = readRecogniser(read, env);
  const interval = moonshine === undefined ? INTERVAL_MS : MOONSHINE_INTERVAL_MS;
  return {
    recogniser,
    moonshine,
    remote,
    fast: moonshine === undefined ? readFast(read, env, recogniser ?? remote) : undefined,
    aligner: readModel(read, 'ALIGNER', checkpointOf(read, env, 'ALIGNER', 'Qwen/Qwen3-ForcedAligner-0.6B')),
    streaming: read.choice('ASR_STREAMING', ['draft', 'official'], 'draft'),
    partialIntervalMs: read.integer('ASR_PARTIAL_INTERVAL_MS', interval, 20, 60_000),
    smartFormat: read.flag('ASR_SMART_FORMAT'),
    koreanWords: read.raw('ALIGNER_KOREAN_WORDS'),
    files: {
      maxAtOnce: read.integer('MAX_TRANSCRIPTIONS', 32, 1, 1000),
      maxBytes: read.integer('MAX_TRANSCRIPTION_BYTES', 256 * 1024 * 1024, 1024, 2 ** 40),
      maxSeconds: read.integer('MAX_TRANSCRIPTION_SECONDS', 4 * 3600, 1, 1_000_000),
    },
    translation: readTranslation(read),
  };
}

/** Fetches a recogniser, a voice and a model for the ends of turns, for English. */
export const EARS_COMMAND = 'npm run parley -- pull light';

type Chosen = Pick<RecognitionConfig, 'recogniser' | 'moonshine' | 'remote'>;

/** Only the chosen one is defined. */
function readRecogniser(read: Reader, env: Environment): Chosen {
  const engine = read.choice('ASR_ENGINE', ['auto', 'qwen3', 'moonshine', 'openai'], 'auto');
  const remote = readRemote(read);
  const directory = readFolder(read, env);
  if (engine === 'auto' && remote !== undefined && directory !== undefined)
    read.problem('ASR_BASE_URL', 'and a checkpoint (ASR_MODEL_DIR, ASR_MODEL_ID) exclude each other');
  const isMoonshine = directory !== undefined && isMoonshineFolder(directory);
  const none = { recogniser: undefined, moonshine: undefined, remote: undefined };
  if (engine === 'openai' || (engine === 'auto' && remote !== undefined)) {
    if (remote === undefined) read.problem('ASR_ENGINE', 'must not be openai without ASR_BASE_URL');
    noteUnused(read, 'ASR_BASE_URL', [...OF_CHECKPOINT, ...OF_MOONSHINE]);
    return { ...none, remote };
  }
  if (engine === 'qwen3' || (engine === 'auto' && directory !== undefined && !isMoonshine)) {
    const checkpoint = isMoonshine ? undefined : directory;
    if (checkpoint === undefined)
      read.problem('ASR_ENGINE', 'must not be qwen3 without its checkpoint (ASR_MODEL_DIR, ASR_MODEL_ID)');
    noteUnused(read, 'Qwen3-ASR', ['ASR_BASE_URL', ...OF_MOONSHINE]);
    return { ...none, recogniser: readModel(read, 'ASR', checkpoint) };
  }
  const before = read.problems.length;
  const moonshine = readMoonshineConfig(read, env, isMoonshine ? directory : undefined);
  if (moonshine !== undefined) {
    const unused = isMoonshine ? (['ASR_MEMORY'] as const) : OF_CHECKPOINT;
    noteUnused(read, 'Moonshine', [...unused, 'ASR_BASE_URL', 'ASR_STREAMING', ...OF_FAST]);
    return { ...none, moonshine };
  }
  readModel(read, 'ASR', undefined);
  const command = 'npm run parley -- pull moonshine-small-en';
  if (engine === 'moonshine' && read.problems.length === before)
    read.problem('ASR_ENGINE', `must not be moonshine without a model; fetch one with: ${command}`);
  return none;
}

const OF_CHECKPOINT = ['ASR_MODEL_DIR', 'ASR_MODEL_ID', 'ASR_MEMORY'] as const;
const OF_FAST = ['ASR_FAST_MODEL_DIR', 'ASR_FAST_MODEL_ID', 'ASR_FAST_MEMORY'] as const;
const OF_MOONSHINE = ['MOONSHINE_MODELS', 'ASR_WORKERS'] as const;

/** Warns about variables of recognisers other than the chosen one. */
function noteUnused(read: Reader, chosen: string, variables: readonly Variable[]): void {
  const isSet = (name: Variable) => ![undefined, 'none'].includes(read.raw(name)?.toLowerCase());
  for (const name of variables.filter(isSet)) read.notice(name, `has no effect: ${chosen} recognises speech`);
}

/** The folder of ASR_MODEL_DIR, or of the name in ASR_MODEL_ID: of the hub, or the short one of Moonshine. */
function readFolder(read: Reader, env: Environment): string | undefined {
  const isNamed = read.raw('ASR_MODEL_DIR') === undefined;
  const model = isNamed ? moonshineModelNamed(read.raw('ASR_MODEL_ID') ?? '') : undefined;
  if (model === undefined) return checkpointOf(read, env, 'ASR', QWEN3);
  const cache = hubCache(env);
  if (moonshineInCache(cache, model).state === 'complete') return moonshineFolder(cache, model);
  const command = `npm run parley -- pull ${model.name}`;
  read.problem('ASR_MODEL_ID', `names ${model.name}, which is not in ${cache}; fetch it with: ${command}`);
  return undefined;
}

function readFast(
  read: Reader,
  env: Environment,
  other: RecognitionModel | RemoteRecogniser | undefined,
): RecognitionModel | undefined {
  const fast = readModel(read, 'ASR_FAST', checkpointOf(read, env, 'ASR_FAST', QWEN3));
  if (fast !== undefined && other === undefined)
    read.problem('ASR_FAST_MODEL_DIR', 'has no effect without ASR_MODEL_DIR, ASR_MODEL_ID or ASR_BASE_URL');
  return fast;
}

type ModelName = 'ASR' | 'ASR_FAST' | 'ALIGNER';

/** The folder of the variables that begin with a name; `example` is a checkpoint of its kind. */
function checkpointOf(read: Reader, env: Environment, name: ModelName, example: string): string | undefined {
  const [dir, id] = [`${name}_MODEL_DIR`, `${name}_MODEL_ID`] as const;
  const directory = findCheckpoint(read, { directory: dir, id, env, example });
  if (directory === undefined) return undefined;
  const variable = read.raw(dir) === undefined ? id : dir;
  if (isPocketFolder(directory)) {
    const place = 'which is a voice and belongs in MODEL_DIR';
    read.problem(variable, `must not lead to a model of Pocket TTS, ${place}: ${directory}`);
    return undefined;
  }
  return name === 'ASR' || checkNotMoonshine(read, variable, directory) ? directory : undefined;
}

/** Undefined without a folder: its memory has no effect then. */
function readModel(
  read: Reader,
  name: ModelName,
  directory: string | undefined,
): RecognitionModel | undefined {
  const memory = read.memory(`${name}_MEMORY`);
  if (directory !== undefined) return { directory, memory };
  if (memory !== undefined)
    read.problem(`${name}_MEMORY`, `has no effect without ${name}_MODEL_DIR or ${name}_MODEL_ID`);
  return undefined;
}

function readTranslation(read: ConfigReader<Variable>): ChatServerConfig | undefined {
  return readChatServer(read, {
    url: 'TRANSLATE_BASE_URL',
    key: 'TRANSLATE_API_KEY',
    model: 'TRANSLATE_MODEL',
    options: 'TRANSLATE_OPTIONS',
  });
}

interface ServerVariables {
  readonly url: Variable;
  readonly key: Variable;
  readonly model: Variable;
}

/** A server with OpenAI's chat endpoint; undefined if its address is not set. */
export function readChatServer(
  read: ConfigReader<Variable>,
  names: ServerVariables & { readonly options: Variable },
): ChatServerConfig | undefined {
  const url = read.raw(names.url);
  if (url !== undefined && !isHttpUrl(url))
    read.problem(names.url, 'must be an http or https URL without user, query and fragment');
  const more = readKeyAndModel(read, names, url !== undefined);
  const options = readOptions(read, names.options);
  if (more === undefined) {
    if (options !== undefined) read.problem(names.options, `has no effect without ${names.url}`);
    return undefined;
  }
  const server = { baseUrl: (url ?? '').replace(/\/+$/, ''), ...more };
  return options === undefined ? server : { ...server, options };
}

const MOST_OPTIONS = 16_384; // characters
/** Fields of a request that are the server's own. */
const OWN_FIELDS = ['model', 'messages', 'stream', 'tools'];

function readOptions(read: ConfigReader<Variable>, name: Variable): Fields | undefined {
  const text = read.raw(name);
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Its message may have the text, and with it a secret.
  }
  const problem = problemOfOptions(value);
  if (problem !== undefined) read.problem(name, problem);
  return problem === undefined && isFields(value) ? value : undefined;
}

/** What is wrong with the fields that requests to a chat server are to have; undefined: nothing. */
export function problemOfOptions(value: unknown): string | undefined {
  if (!isFields(value) || JSON.stringify(value).length > MOST_OPTIONS)
    return `must be a JSON object of at most ${MOST_OPTIONS} characters, such as {"reasoning_effort":"none"}`;
  const own = OWN_FIELDS.find((field) => Object.hasOwn(value, field));
  return own && `must not have "${own}": ${OWN_FIELDS.join(', ')} are set for each request`;
}

/** OpenAI-compatible servers with the same model; undefined if their addresses are not set. */
export function readServers(
  read: ConfigReader<Variable>,
  names: ServerVariables,
): ApiServersConfig | undefined {
  const kind = 'http or https URLs without user, query and fragment';
  const baseUrls = read.listOf(names.url, kind, isHttpUrl).map((url) => url.replace(/\/+$/, ''));
  if (new Set(baseUrls).size < baseUrls.length) read.problem(names.url, 'must name each server once');
  const more = readKeyAndModel(read, names, baseUrls.length > 0);
  return more && { baseUrls, ...more };
}

/** Undefined without an address. */
function readKeyAndModel(
  read: ConfigReader<Variable>,
  names: ServerVariables,
  hasAddress: boolean,
): Pick<ApiServerConfig, 'apiKey' | 'model'> | undefined {
  const [apiKey, model] = [read.raw(names.key), read.raw(names.model)];
  if (!hasAddress) {
    const lone = [names.key, names.model].find((name) => read.raw(name) !== undefined);
    if (lone !== undefined) read.problem(lone, `has no effect without ${names.url}`);
    return undefined;
  }
  if (model === undefined) read.problem(names.model, `must name the model of ${names.url}`);
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey))
    read.problem(names.key, 'must be ASCII without spaces: other keys cannot be sent');
  return { apiKey, model: model ?? '' };
}

function readRemote(read: ConfigReader<Variable>): RemoteRecogniser | undefined {
  const servers = readServers(read, { url: 'ASR_BASE_URL', key: 'ASR_API_KEY', model: 'ASR_MODEL' });
  const realtime = read.choice('ASR_REALTIME', ['off', 'openai', 'vllm'], 'off');
  if (servers !== undefined) return { ...servers, realtime: realtime === 'off' ? undefined : realtime };
  if (realtime !== 'off') read.problem('ASR_REALTIME', 'has no effect without ASR_BASE_URL');
  return undefined;
}

export function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && username + password + search + hash === '';
}
