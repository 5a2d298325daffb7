// Reads the variables of the native recogniser and the forced aligner.
import type { ConfigReader, Environment } from './environment.js';
import { findCheckpoint } from './model-config.js';
import type { Variable } from './variables.js';

export interface RecognitionConfig {
  /** Folder of a checkpoint of Qwen3-ASR; undefined: speech is not recognised. */
  readonly recogniser: string | undefined;
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
  return {
    recogniser: findCheckpoint(read, {
      directory: 'ASR_MODEL_DIR',
      id: 'ASR_MODEL_ID',
      env,
      example: 'Qwen/Qwen3-ASR-0.6B',
    }),
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
