// Tells the voice and the ears that a server with this configuration has, and the models that it lacks for a
// spoken conversation in English, with their sizes and licences.
import type { Config } from '../config/config.js';
import type { Environment } from '../config/environment.js';
import { hubCache } from '../config/model-config.js';
import { moonshineInCache, turnInCache } from '../config/onnx-cache.js';
import {
  MOONSHINE_CREDIT,
  moonshineBytes,
  moonshineModelNamed,
  turnModelNamed,
} from '../config/onnx-catalog.js';
import { pocketInCache } from '../config/pocket-cache.js';
import { firstPocketVoices, POCKET_CREDIT, pocketModelNamed } from '../config/pocket-catalog.js';
import { SETS } from '../models/catalog.js';

export interface SpeechParts {
  /** One sentence each. */
  readonly voice: string;
  readonly ears: string;
  readonly hears: boolean;
  /** Models of the set `light` that would help and are not in the cache. */
  readonly missing: readonly MissingModel[];
}

export interface MissingModel {
  readonly name: string;
  /** Of the download, about. */
  readonly bytes: number;
  readonly licence: string;
}

type Configured = Pick<Config, 'engines' | 'model' | 'pocket' | 'recognition' | 'hearing'>;

export function speechParts(config: Configured, env: Environment): SpeechParts {
  const voice = voiceOf(config);
  const ears = earsOf(config);
  const cache = hubCache(env);
  const lacks = { voice: voice === undefined && config.engines.engine === 'auto', ears: ears === undefined };
  const isTurnMissing = lacks.ears && config.hearing.turnModels.length === 0;
  const missing = (SETS['light'] ?? []).flatMap(
    (name) =>
      (lacks.voice ? missingVoice(name, cache) : undefined) ??
      (lacks.ears ? missingEars(name, cache) : undefined) ??
      (isTurnMissing ? missingTurns(name, cache) : undefined) ??
      [],
  );
  return {
    voice: `Voice: ${voice ?? 'a plain one, which is embedded'}.`,
    ears: `Ears: ${ears ?? 'none; without them you type, and the answers are spoken'}.`,
    hears: ears !== undefined,
    missing,
  };
}

/** Undefined for a voice that is not neural. */
function voiceOf({ engines, model, pocket }: Configured): string | undefined {
  const { engine, speechServers } = engines;
  const isWanted = (name: typeof engine) => engine === 'auto' || engine === name;
  if (isWanted('pocket') && pocket.stated !== undefined) return 'Pocket TTS';
  if (isWanted('qwen3') && model.directory !== undefined) return `the checkpoint in ${model.directory}`;
  if (isWanted('openai') && speechServers !== undefined)
    return `the server ${hostOf(speechServers.baseUrls)}`;
  if (!isWanted('pocket') || pocket.isOff === true || pocket.models.length === 0) return undefined;
  return `Pocket TTS (${pocket.models.map(({ language }) => language).join(', ')})`;
}

function earsOf({ recognition: { recogniser, moonshine, remote } }: Configured): string | undefined {
  if (recogniser !== undefined) return `the checkpoint in ${recogniser.directory}`;
  if (moonshine !== undefined)
    return `Moonshine (${moonshine.models.map(({ language }) => language).join(', ')})`;
  return remote === undefined ? undefined : `the server ${hostOf(remote.baseUrls)}`;
}

function hostOf([first = '']: readonly string[]): string {
  return URL.canParse(first) ? new URL(first).host : first;
}

function missingVoice(name: string, cache: string): MissingModel | undefined {
  const model = pocketModelNamed(name);
  if (model === undefined || pocketInCache(cache, model).state === 'complete') return undefined;
  const bytes = model.weightBytes + firstPocketVoices(model.language).length * model.voiceBytes;
  return { name, bytes, licence: `${POCKET_CREDIT.credit}, ${POCKET_CREDIT.licence}` };
}

function missingEars(name: string, cache: string): MissingModel | undefined {
  const model = moonshineModelNamed(name);
  if (model === undefined || moonshineInCache(cache, model).state === 'complete') return undefined;
  return { name, bytes: moonshineBytes(model), licence: `Moonshine, ${MOONSHINE_CREDIT.licence}` };
}

function missingTurns(name: string, cache: string): MissingModel | undefined {
  const model = turnModelNamed(name);
  if (model === undefined || turnInCache(cache, model).state === 'complete') return undefined;
  return { name, bytes: model.bytes, licence: `${model.credit.credit}, ${model.credit.licence}` };
}
