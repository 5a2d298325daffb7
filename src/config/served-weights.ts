// Names the published weights that a server speaks and hears with, so that it can state their licence and
// credit. Only folders of the catalogues count: a folder of an operator's may hold anything.
import { resolve } from 'node:path';
import type { Environment } from './environment.js';
import { hubCache } from './model-config.js';
import type { MoonshineConfig } from './moonshine-config.js';
import { moonshineFolder } from './onnx-cache.js';
import { type Credit, MOONSHINE_CREDIT, MOONSHINE_MODELS, moonshineBytes } from './onnx-catalog.js';
import { pocketFolder, pocketInCache } from './pocket-cache.js';
import { POCKET_CREDIT, POCKET_MODELS } from './pocket-catalog.js';
import type { PocketConfig } from './pocket-config.js';

/** Published weights in use. */
export interface Weights extends Credit {
  /** The short name that `parley pull` takes. */
  readonly name: string;
  /** BCP 47 primary tag. */
  readonly language: string;
  /** Size of the files, with the voices that are there. */
  readonly bytes: number;
}

export interface ServedWeights {
  readonly voice: readonly Weights[];
  readonly recogniser: readonly Weights[];
}

/** The groups of the configuration that name the models. `speaks`: the engine Pocket TTS is in use. */
interface Models {
  readonly pocket: Pick<PocketConfig, 'stated' | 'models'>;
  readonly speaks: boolean;
  readonly moonshine: MoonshineConfig | undefined;
}

export function servedWeights(env: Environment, { pocket, speaks, moonshine }: Models): ServedWeights {
  const cache = hubCache(env);
  const { stated, models } = pocket;
  // The model of MODEL_DIR takes the place of another one of its language.
  const others = models.filter(({ language }) => language !== stated?.language);
  const spoken = stated === undefined ? models : [stated, ...others];
  return {
    voice: speaks ? spoken.flatMap(({ directory }) => pocketWeights(cache, directory) ?? []) : [],
    recogniser: (moonshine?.models ?? []).flatMap(
      ({ directory }) => moonshineWeights(cache, directory) ?? [],
    ),
  };
}

/** Undefined for a folder that is not of the catalogue. */
function pocketWeights(cache: string, directory: string): Weights | undefined {
  const model = POCKET_MODELS.find((one) => isSame(pocketFolder(cache, one), directory));
  if (model === undefined) return undefined;
  const { credit, authors, licence, link } = POCKET_CREDIT;
  const { name, language } = model;
  const { bytes } = pocketInCache(cache, model);
  return { name, language, licence, credit: `${credit} (${authors})`, link, bytes };
}

/** Undefined for a folder that is not of the catalogue. */
function moonshineWeights(cache: string, directory: string): Weights | undefined {
  const model = MOONSHINE_MODELS.find((one) => isSame(moonshineFolder(cache, one), directory));
  if (model === undefined) return undefined;
  const { name, language } = model;
  return { name, language, ...MOONSHINE_CREDIT, bytes: moonshineBytes(model) };
}

function isSame(one: string, other: string): boolean {
  return resolve(one) === resolve(other);
}
