// The engines of a server, as its configuration wants them.
import type { Config } from '../config.js';
import { ParleyError } from '../errors.js';
import type { Log } from '../observe/log.js';
import { Engines } from './engine-choice.js';
import type { EngineSetup } from './engine-setup.js';

export function openEngines(config: Config, log: Log): Promise<Engines> {
  return Engines.open({
    engine: config.engine,
    espeak: config.espeak,
    maxWaiting: config.maxQueueDepth,
    maxWaitMs: config.requestTimeoutMs,
    renderTimeoutMs: config.engineTimeoutMs,
    idleMs: config.idleTimeoutMs,
    maxNewTokens: config.maxNewTokens,
    native: nativeOf(config),
    onNews: (engine, { what, ...news }) =>
      log[what === 'loaded' || what === 'unloaded' ? 'info' : 'error']({ engine, ...news }, `engine ${what}`),
  });
}

/** Nothing where no checkpoint is configured. */
function nativeOf({ model, voiceCacheMax }: Config): EngineSetup['native'] {
  const { directory, numaNode, quantize, codecFormat, device, cudaGraphs, fullVectors } = model;
  if (directory === undefined) return undefined;
  const { threads, cores, maxStreams, maxBatch, maxNewTokens } = model;
  return {
    directory,
    quantize,
    ...(codecFormat === undefined ? {} : { codecFormat }),
    device,
    cudaGraphs,
    fullVectors,
    threads,
    cores,
    ...(numaNode === undefined ? {} : { numaNode }),
    maxStreams,
    maxBatch,
    maxNewTokens,
    maxVoices: voiceCacheMax,
  };
}

/** When kept voices are there, since it may be one of them. */
export function useDefaultVoice(engines: Engines, { defaultVoice }: Config): void {
  try {
    if (defaultVoice !== undefined) engines.useDefault(defaultVoice);
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    throw new ParleyError('CONFIG_INVALID', `DEFAULT_VOICE: ${error.message}`, { cause: error });
  }
}
