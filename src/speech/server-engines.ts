// The engines of a server, as its configuration wants them.
import type { Config } from '../config.js';
import { ParleyError } from '../errors.js';
import type { Log } from '../observe/log.js';
import { Engines } from './engine-choice.js';

export function openEngines(config: Config, log: Log): Promise<Engines> {
  return Engines.open({
    engine: config.engine,
    maxWaiting: config.maxQueueDepth,
    maxWaitMs: config.requestTimeoutMs,
    renderTimeoutMs: config.engineTimeoutMs,
    idleMs: config.idleTimeoutMs,
    maxNewTokens: config.maxNewTokens,
    onNews: (engine, { what, ...news }) =>
      log[what === 'loaded' || what === 'unloaded' ? 'info' : 'error']({ engine, ...news }, `engine ${what}`),
  });
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
