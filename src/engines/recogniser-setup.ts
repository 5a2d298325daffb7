// Opens the recogniser and the aligner that the configuration names.
import type { Config } from '../config/config.js';
import type { Log } from '../observe/log.js';
import type { EngineNews } from './engine-lifecycle.js';
import { Qwen3Aligner, Qwen3Recogniser, type Qwen3RecogniserOptions } from './qwen3/qwen3-recogniser.js';
import type { Aligner, Recogniser } from './recogniser.js';

/** Sounds that may be recognised at a time, beside those of calls. */
const MOST_FILES = 1000;

export interface Recognisers {
  /** Undefined if none is configured. */
  readonly recogniser: Recogniser | undefined;
  readonly aligner: Aligner | undefined;
  close(): Promise<void>;
}

/**
 * Opens and, unless PRELOAD_MODEL is 0, loads them. Rejects with ENGINE_UNAVAILABLE for a checkpoint that
 * cannot be used.
 */
export async function openRecognisers(config: Config, log: Log): Promise<Recognisers> {
  const { recogniser: asr, aligner: times } = config.recognition;
  const recogniser = asr && (await Qwen3Recogniser.open(optionsOf(config, log, 'qwen3-asr', asr)));
  const aligner = times && (await Qwen3Aligner.open(optionsOf(config, log, 'qwen3-aligner', times)));
  const opened = [recogniser, aligner].filter((one) => typeof one === 'object');
  const close = async () => {
    await Promise.all(opened.map((one) => one.close()));
  };
  try {
    if (config.preloadModel) await Promise.all(opened.map((one) => one.load()));
  } catch (error) {
    await close();
    throw error;
  }
  return { recogniser: recogniser || undefined, aligner: aligner || undefined, close };
}

function optionsOf(config: Config, log: Log, engine: string, directory: string): Qwen3RecogniserOptions {
  const { threads, cores, numaNode, quantize } = config.model;
  const { streaming, partialIntervalMs, koreanWords } = config.recognition;
  return {
    native: {
      directory,
      // The other kinds are the voice's alone.
      quantize: quantize === 'int8' ? 'int8' : 'none',
      streaming,
      leastIntervalMs: partialIntervalMs,
      koreanDictionary: koreanWords ?? '',
      threads,
      cores,
      numaNode,
    },
    maxSessions: config.maxCalls + MOST_FILES,
    idleMs: config.idleTimeoutMs,
    stallMs: config.engineTimeoutMs,
    onNews: ({ what, ...news }: EngineNews) =>
      log[what === 'loaded' || what === 'unloaded' ? 'info' : 'error']({ engine, ...news }, `engine ${what}`),
  };
}
