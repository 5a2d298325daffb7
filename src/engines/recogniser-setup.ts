// Opens the recogniser and the aligner that the configuration names.
import type { Config } from '../config/config.js';
import type { RecognitionModel } from '../config/recognition-config.js';
import type { ParleyError } from '../errors.js';
import type { Log } from '../log.js';
import type { EngineNews } from './engine-lifecycle.js';
import { systemTime } from '../time.js';
import { MoonshineRecogniser } from './moonshine/moonshine-recogniser.js';
import { OpenAiRecogniser } from './openai/openai-recogniser.js';
import { ServerPool } from './openai/server-pool.js';
import { Qwen3Aligner, Qwen3Recogniser, type Qwen3RecogniserOptions } from './qwen3/qwen3-recogniser.js';
import { PairedRecogniser } from './paired-recogniser.js';
import type { Aligner, Recogniser } from './recogniser.js';
import { deviceOptions } from './native/native-device.js';

/** Sounds that may be recognised at a time, beside those of calls. */
const MOST_FILES = 1000;

interface ModelHealth {
  readonly engine: string;
  /** It can be used, even if it must be loaded first. */
  readonly usable: boolean;
  readonly loaded: boolean;
  readonly problem: string | undefined;
  /** The device that computes; undefined while it is not loaded, or on other machines. */
  readonly device: string | undefined;
}

export interface RecognitionHealth {
  readonly recogniser: (ModelHealth & { readonly sessions: number }) | undefined;
  readonly aligner: ModelHealth | undefined;
}

export interface Recognisers {
  /** Undefined if none is configured. */
  readonly recogniser: Recogniser | undefined;
  readonly aligner: Aligner | undefined;
  /** Undefined if neither is configured. */
  readonly health: RecognitionHealth | undefined;
  close(): Promise<void>;
}

/** The groups of the configuration that recognisers need. */
export type RecogniserGroups = Pick<Config, 'recognition' | 'model' | 'engines' | 'limits'>;

/**
 * Opens and, unless PRELOAD_MODEL is 0, loads them. Rejects with ENGINE_UNAVAILABLE for a checkpoint that
 * cannot be used.
 */
export async function openRecognisers(config: RecogniserGroups, log: Log): Promise<Recognisers> {
  const recogniser = await openRecogniser(config, log);
  const { aligner: times } = config.recognition;
  const aligner =
    times === undefined
      ? undefined
      : await Qwen3Aligner.open(nativeOptions(config, log, 'qwen3-aligner', times));
  const opened = [recogniser, aligner].filter((one) => typeof one === 'object');
  const close = async () => {
    await Promise.all(opened.map((one) => one.close()));
  };
  try {
    if (config.engines.preloadModel) await Promise.all(opened.map((one) => one.load()));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    recogniser,
    aligner,
    get health() {
      if (opened.length === 0) return undefined;
      return {
        recogniser: recogniser && { ...healthOf(recogniser), sessions: recogniser.sessions },
        aligner: aligner && healthOf(aligner),
      };
    },
    close,
  };
}

function healthOf({ name, usable, loaded, trouble, device }: Recogniser | Aligner): ModelHealth {
  return { engine: name, usable, loaded, problem: trouble, device };
}

async function openRecogniser(config: RecogniserGroups, log: Log): Promise<Recogniser | undefined> {
  const main = await openMainRecogniser(config, log);
  const { fast: small } = config.recognition;
  if (main === undefined || small === undefined) return main;
  const engine = 'qwen3-asr fast';
  try {
    const fast = await Qwen3Recogniser.open({
      ...nativeOptions(config, log, engine, small),
      isFast: true,
    });
    const onFastFailed = (err: ParleyError) => log.warn({ engine, code: err.code, err }, 'no partial texts');
    return new PairedRecogniser({ main, fast, onFastFailed });
  } catch (error) {
    await main.close();
    throw error;
  }
}

async function openMainRecogniser(config: RecogniserGroups, log: Log): Promise<Recogniser | undefined> {
  const { recogniser, moonshine, partialIntervalMs, remote } = config.recognition;
  if (moonshine !== undefined) {
    const { timeoutMs: stallMs, ...common } = commonOptions(config, log, 'moonshine');
    const { idleTimeoutMs: idleMs } = config.engines;
    return MoonshineRecogniser.open({ ...moonshine, partialIntervalMs, idleMs, stallMs, ...common });
  }
  if (recogniser !== undefined)
    return Qwen3Recogniser.open(nativeOptions(config, log, 'qwen3-asr', recogniser));
  if (remote === undefined) return undefined;
  const { realtime, baseUrls, apiKey, model } = remote;
  const servers = { pool: ServerPool.of(baseUrls, apiKey, systemTime), model };
  return new OpenAiRecogniser({ servers, realtime, ...commonOptions(config, log, 'openai') });
}

function nativeOptions(
  config: RecogniserGroups,
  log: Log,
  engine: string,
  { directory, memory }: RecognitionModel,
): Qwen3RecogniserOptions {
  const { quantize } = config.model;
  const { streaming, partialIntervalMs, koreanWords } = config.recognition;
  const { timeoutMs: stallMs, ...common } = commonOptions(config, log, engine);
  return {
    native: {
      directory,
      // The other kinds are the voice's alone.
      quantize: quantize === 'int8' ? 'int8' : 'none',
      streaming,
      leastIntervalMs: partialIntervalMs,
      koreanDictionary: koreanWords ?? '',
      ...deviceOptions(config.model, memory),
    },
    idleMs: config.engines.idleTimeoutMs,
    stallMs,
    ...common,
  };
}

function commonOptions(config: RecogniserGroups, log: Log, engine: string) {
  return {
    maxSessions: config.limits.maxCalls + MOST_FILES,
    timeoutMs: config.engines.engineTimeoutMs,
    onNews: ({ what, ...news }: EngineNews) =>
      log[what === 'loaded' || what === 'unloaded' ? 'info' : 'error']({ engine, ...news }, `engine ${what}`),
  };
}
