// The variables of the native speech engine: which checkpoint, and on what it computes.
import { availableParallelism } from 'node:os';
import type { ConfigReader } from './config-reader.js';

export interface ModelConfig {
  /** Folder of a checkpoint; undefined: no native engine. */
  readonly directory: string | undefined;
  readonly quantize: 'none' | 'int8' | 'int8-talker' | 'fp8';
  readonly codecFormat: 'f32' | 'f16';
  readonly cudaGraphs: boolean;
  readonly threads: number;
  /** Empty: the system chooses. */
  readonly cores: readonly number[];
  readonly maxStreams: number;
  /** Codec frames of a sentence that does not say it itself; 0: from the length of its text. */
  readonly maxNewTokens: number;
  /** What one generation speaks: a sentence, or all of an utterance that can be spoken together. */
  readonly continuity: 'sentence' | 'utterance';
}

/** Every variable with what it means; part of VARIABLES. */
export const MODEL_VARIABLES = {
  MODEL_DIR: 'folder of a Qwen3-TTS checkpoint, which ENGINE=auto then speaks with',
  QUANTIZE:
    'weights of the native engine: none, int8, int8-talker (all but the code predictor) or fp8 (GPUs)',
  CODEC_FORMAT: 'weights of its codec: f32 or f16',
  MAX_STREAMS: 'sentences that it speaks at once',
  MAX_NEW_TOKENS:
    'codec frames that one sentence may have; by default from the length of its text, and 2048 where a request names it',
  CONTINUITY: 'what the native engine speaks in one breath: a sentence, or a whole utterance',
  CUDA_GRAPHS: '0 runs the native engine without CUDA graphs',
  INFERENCE_THREADS: 'threads of the native engine',
  INFERENCE_CPU_CORES: 'cores of the native engine, such as 0-3,6',
} as const;

type Reader = ConfigReader<keyof typeof MODEL_VARIABLES>;

const MOST_CORES = 1024;
const MOST_THREADS = 256;
export const MOST_TOKENS = 65_536;

export function readModelConfig(read: Reader): ModelConfig {
  const cores = readCores(read);
  const usual = cores.length > 0 ? cores.length : availableParallelism();
  return {
    directory: read.raw('MODEL_DIR'),
    quantize: read.choice('QUANTIZE', ['none', 'int8', 'int8-talker', 'fp8'], 'none'),
    codecFormat: read.choice('CODEC_FORMAT', ['f32', 'f16'], 'f32'),
    cudaGraphs: read.flag('CUDA_GRAPHS', true),
    threads: read.integer('INFERENCE_THREADS', Math.min(usual, MOST_THREADS), 1, MOST_THREADS),
    cores,
    maxStreams: read.integer('MAX_STREAMS', 32, 1, 4096),
    continuity: read.choice('CONTINUITY', ['sentence', 'utterance'], 'sentence'),
    maxNewTokens: read.integer('MAX_NEW_TOKENS', 0, 0, MOST_TOKENS),
  };
}

/** As Linux writes a set of processors: 0-3,6. */
function readCores(read: Reader): readonly number[] {
  const cores = new Set<number>();
  for (const item of read.list('INFERENCE_CPU_CORES')) {
    const [, first, last = first] = /^(\d{1,4})(?:-(\d{1,4}))?$/.exec(item) ?? [];
    const [from, to] = [Number(first), Number(last)];
    if (!(from <= to && to < MOST_CORES)) {
      read.problem('INFERENCE_CPU_CORES', `must be cores such as 0-3,6, below ${MOST_CORES}, not "${item}"`);
      return [];
    }
    for (let core = from; core <= to; core++) cores.add(core);
  }
  return [...cores];
}
