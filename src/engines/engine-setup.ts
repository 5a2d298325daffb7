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
} from './espeak/espeak.js';
import { FLITE_LANGUAGES, fliteEngine } from './flite/flite.js';
import { Qwen3Engine, type Qwen3Options } from './qwen3/qwen3.js';
import { QWEN3_LANGUAGES } from './qwen3/qwen3-voices.js';
import type { EngineLimits } from './worker-engine.js';

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
  /** espeak may be used where its package is installed. */
  readonly espeak?: boolean;
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
  const all = [
    await qwen3(setup, limits('qwen3')),
    flite(setup, limits('flite')),
    espeak(setup, limits('espeak')),
  ];
  const found = all.filter((one) => one !== undefined);
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

/** Without a checkpoint there is nothing to miss. */
async function qwen3({ native, ...setup }: EngineSetup, limits: EngineLimits): Promise<Found | undefined> {
  if (isWanted(setup, 'qwen3') && native !== undefined) return await Qwen3Engine.open({ ...limits, native });
  if (setup.engine === 'qwen3') throw lacks('qwen3', 'set MODEL_DIR, or MODEL_ID, to a checkpoint');
  return native && { name: 'qwen3', remedy: 'set ENGINE=auto', languages: QWEN3_LANGUAGES };
}

function flite(setup: EngineSetup, limits: EngineLimits): Found {
  if (isWanted(setup, 'flite')) return fliteEngine(limits);
  return { name: 'flite', remedy: 'set ENGINE=auto', languages: FLITE_LANGUAGES };
}

function espeak(setup: EngineSetup, limits: EngineLimits): Found {
  const packageFile = (setup.resolvePackage ?? installedPackage)(ESPEAK_PACKAGE);
  const wanted = isWanted(setup, 'espeak');
  const { espeak: allowed = false } = setup;
  if (wanted && allowed && packageFile !== undefined) return espeakEngine({ ...limits, packageFile });
  const settings = [...(wanted ? [] : ['ENGINE=auto']), ...(allowed ? [] : ['ESPEAK=1'])];
  const remedy = [
    ...(settings.length > 0 ? [`set ${settings.join(' and ')}`] : []),
    ...(packageFile === undefined ? [`install the optional package ${ESPEAK_PACKAGE}`] : []),
  ].join(' and ');
  const missing = { name: 'espeak', remedy, languages: ESPEAK_LANGUAGES };
  if (setup.engine === 'espeak') throw lacks('espeak', remedy);
  return missing;
}

function lacks(name: string, remedy: string): ParleyError {
  return new ParleyError('ENGINE_UNAVAILABLE', `ENGINE=${name} lacks its engine: ${remedy}`);
}
