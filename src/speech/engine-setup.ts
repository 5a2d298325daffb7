// The engines that a configuration asks for, preferred ones first, and those
// that it could have and has not.
import { ParleyError } from '../errors.js';
import type { SpeechEngine } from './engine.js';
import type { EngineNews } from './engine-lifecycle.js';
import {
  ESPEAK_LANGUAGES,
  ESPEAK_PACKAGE,
  espeakEngine,
  installedPackage,
  type ResolvePackage,
} from './engines/espeak.js';
import { FLITE_LANGUAGES, fliteEngine } from './engines/flite.js';
import { Qwen3Engine, type Qwen3Options } from './engines/qwen3.js';
import { QWEN3_LANGUAGES } from './engines/qwen3-voices.js';
import type { EngineLimits } from './engines/worker-engine.js';

/** An engine that this server could have and has not, or that cannot speak at the moment. */
export interface MissingEngine {
  readonly name: string;
  /** What to do to get it. */
  readonly remedy: string;
  /** Primary tags that it would speak. */
  readonly languages: readonly string[];
}

export interface EngineSetup {
  readonly engine: 'auto' | 'qwen3' | 'flite' | 'espeak';
  /** Sentences of each class that may wait for one engine. */
  readonly maxWaiting: number;
  /** Milliseconds that one of them may wait; without an end where absent. */
  readonly maxWaitMs?: number;
  readonly renderTimeoutMs: number;
  /** Milliseconds without a sentence after which an engine is unloaded; 0, or absent, keeps it loaded. */
  readonly idleMs?: number;
  /** Codec frames that a sentence may have at most. */
  readonly maxNewTokens?: number;
  /** Told what becomes of each engine: loaded, unloaded, lost. */
  readonly onNews?: (engine: string, news: EngineNews) => void;
  readonly resolvePackage?: ResolvePackage;
  /** The checkpoint of the native engine; absent where there is none. */
  readonly native?: Qwen3Options['native'] | undefined;
}

export interface EngineSet {
  readonly engines: readonly SpeechEngine[];
  readonly missing: readonly MissingEngine[];
}

type Found = SpeechEngine | MissingEngine;

/** ENGINE_UNAVAILABLE when one that it names cannot be had, or a checkpoint that it names cannot be used. */
export async function enginesOf(setup: EngineSetup): Promise<EngineSet> {
  const limits = (name: string): EngineLimits => ({
    ...setup,
    onNews: (news: EngineNews) => setup.onNews?.(name, news),
  });
  const found = [
    await qwen3(setup, limits('qwen3')),
    flite(setup, limits('flite')),
    espeak(setup, limits('espeak')),
  ];
  return {
    engines: found.filter((one): one is SpeechEngine => !isMissing(one)),
    missing: found.filter(isMissing),
  };
}

function isMissing(one: Found): one is MissingEngine {
  return 'remedy' in one;
}

function isWanted({ engine }: EngineSetup, name: EngineSetup['engine']): boolean {
  return engine === 'auto' || engine === name;
}

async function qwen3(setup: EngineSetup, limits: EngineLimits): Promise<Found> {
  const wanted = isWanted(setup, 'qwen3');
  if (wanted && setup.native !== undefined)
    return await Qwen3Engine.open({ ...limits, native: setup.native });
  const steps = [
    ...(wanted ? [] : ['set ENGINE=auto']),
    ...(setup.native === undefined ? ['set MODEL_DIR'] : []),
  ];
  const missing = { name: 'qwen3', remedy: steps.join(' and '), languages: QWEN3_LANGUAGES };
  if (setup.engine === 'qwen3') throw lacks(missing);
  return missing;
}

function flite(setup: EngineSetup, limits: EngineLimits): Found {
  if (isWanted(setup, 'flite')) return fliteEngine(limits);
  return { name: 'flite', remedy: 'set ENGINE=auto', languages: FLITE_LANGUAGES };
}

function espeak(setup: EngineSetup, limits: EngineLimits): Found {
  const packageFile = (setup.resolvePackage ?? installedPackage)(ESPEAK_PACKAGE);
  const wanted = isWanted(setup, 'espeak');
  if (wanted && packageFile !== undefined) return espeakEngine({ ...limits, packageFile });
  const install = packageFile === undefined ? [`install the optional package ${ESPEAK_PACKAGE}`] : [];
  const remedy = [...(wanted ? [] : ['set ENGINE=auto']), ...install].join(' and ');
  const missing = { name: 'espeak', remedy, languages: ESPEAK_LANGUAGES };
  if (setup.engine === 'espeak') throw lacks(missing);
  return missing;
}

function lacks({ name, remedy }: MissingEngine): ParleyError {
  return new ParleyError('ENGINE_UNAVAILABLE', `ENGINE=${name} lacks its engine: ${remedy}`);
}
