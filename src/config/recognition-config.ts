// Reads the variables of recognisers and the forced aligner.
import type { ConfigReader, Environment } from './environment.js';
import { findCheckpoint } from './model-config.js';
import type { Variable } from './variables.js';

export interface RemoteRecogniser {
  /** Of an OpenAI-compatible server, without a slash at its end. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly model: string;
  /** Dialect of its realtime socket; undefined: it has none. */
  readonly realtime: 'openai' | 'vllm' | undefined;
}

/** Without `recogniser` and `remote` speech is not recognised. */
export interface RecognitionConfig {
  /** Folder of a checkpoint of Qwen3-ASR. */
  readonly recogniser: string | undefined;
  readonly remote: RemoteRecogniser | undefined;
  /** Folder of a checkpoint of Qwen3-ForcedAligner. */
  readonly aligner: string | undefined;
  /** `draft`: our own streaming of live speech. `official`: that of the reference package. */
  readonly streaming: 'draft' | 'official';
  /** Shortest time between the partial texts of a turn. */
  readonly partialIntervalMs: number;
  /** File of Korean nouns for the aligner. */
  readonly koreanWords: string | undefined;
}

export function readRecognitionConfig(read: ConfigReader<Variable>, env: Environment): RecognitionConfig {
  const remote = readRemote(read);
  const recogniser = findCheckpoint(read, {
    directory: 'ASR_MODEL_DIR',
    id: 'ASR_MODEL_ID',
    env,
    example: 'Qwen/Qwen3-ASR-0.6B',
  });
  if (remote !== undefined && recogniser !== undefined)
    read.problem('ASR_BASE_URL', 'and a checkpoint (ASR_MODEL_DIR, ASR_MODEL_ID) exclude each other');
  return {
    recogniser,
    remote,
    aligner: findCheckpoint(read, {
      directory: 'ALIGNER_MODEL_DIR',
      id: 'ALIGNER_MODEL_ID',
      env,
      example: 'Qwen/Qwen3-ForcedAligner-0.6B',
    }),
    streaming: read.choice('ASR_STREAMING', ['draft', 'official'], 'draft'),
    partialIntervalMs: read.integer('ASR_PARTIAL_INTERVAL_MS', 320, 20, 60_000),
    koreanWords: read.raw('ALIGNER_KOREAN_WORDS'),
  };
}

function readRemote(read: ConfigReader<Variable>): RemoteRecogniser | undefined {
  const url = read.raw('ASR_BASE_URL');
  const apiKey = read.raw('ASR_API_KEY');
  const model = read.raw('ASR_MODEL');
  const realtime = read.choice('ASR_REALTIME', ['off', 'openai', 'vllm'], 'off');
  if (url === undefined) {
    const lone = (
      [
        ['ASR_API_KEY', apiKey],
        ['ASR_MODEL', model],
      ] as const
    ).find(([, value]) => value !== undefined);
    if (lone !== undefined) read.problem(lone[0], 'has no effect without ASR_BASE_URL');
    if (realtime !== 'off') read.problem('ASR_REALTIME', 'has no effect without ASR_BASE_URL');
    return undefined;
  }
  if (!isHttpUrl(url))
    read.problem('ASR_BASE_URL', 'must be an http or https URL without user, query and fragment');
  if (model === undefined) read.problem('ASR_MODEL', 'must name the model of ASR_BASE_URL');
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey))
    read.problem('ASR_API_KEY', 'must be ASCII without spaces: other keys cannot be sent');
  return {
    baseUrl: url.replace(/\/+$/, ''),
    apiKey,
    model: model ?? '',
    realtime: realtime === 'off' ? undefined : realtime,
  };
}

function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && username + password + search + hash === '';
}
