// The engines of a server, as its configuration wants them.
import type { Config } from '../config/config.js';
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

/**
 * Uses the default voice, and checks all voices that the configuration names. To be called when kept voices are there,
 * since they may be among them. Throws CONFIG_INVALID with every mistake at once.
 */
export function useConfiguredVoices(
  engines: Engines,
  { defaultVoice, elevenLabsVoices }: Pick<Config, 'defaultVoice' | 'elevenLabsVoices'>,
): void {
  const problems: ParleyError[] = [];
  const check = (where: string, use: () => void) => {
    try {
      use();
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error;
      problems.push(new ParleyError('CONFIG_INVALID', `${where}: ${error.message}`, { cause: error }));
    }
  };
  if (defaultVoice !== undefined) check('DEFAULT_VOICE', () => engines.useDefault(defaultVoice));
  for (const [id, voice] of elevenLabsVoices) {
    check(`ELEVENLABS_VOICES_FILE "${id}"`, () => void engines.resolve({ voice }));
  }
  const [first, ...others] = problems;
  if (first === undefined) return;
  if (others.length === 0) throw first;
  const messages = problems.map(({ message }) => message);
  throw new ParleyError('CONFIG_INVALID', `the configuration is not usable:\n- ${messages.join('\n- ')}`);
}
