// Reads the variables of the speech engine Pocket TTS: its models, one for each language, and whether voices
// for non-commercial use may speak. Nothing is downloaded here.
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { ConfigReader, Environment } from './environment.js';
import { hubCache } from './model-config.js';
import { type LanguageFolder, NONE, readModelList } from './model-list.js';
import {
  completePocketModels,
  POCKET_TOKENIZER,
  POCKET_WEIGHTS,
  pocketFolder,
  pocketInCache,
} from './pocket-cache.js';
import { POCKET_MODELS, type PocketModel, pocketLanguageOf, pocketModelNamed } from './pocket-catalog.js';
import type { Variable } from './variables.js';

/** A folder that the engine opens. */
export type PocketFolder = LanguageFolder;

export interface PocketConfig {
  /** The folder of MODEL_DIR or MODEL_ID, if it is of Pocket TTS: it comes before all other engines. */
  readonly stated: PocketFolder | undefined;
  /** At most one for each language, preferred ones first. */
  readonly models: readonly PocketFolder[];
  /** POCKET_MODELS names none, so these are the models of the cache. One that is damaged is left out. */
  readonly isFound?: boolean;
  /** POCKET_MODELS=none: a model that is fetched later does not speak either. */
  readonly isOff?: boolean;
  /** Voices whose licence forbids commercial use may speak. */
  readonly nonCommercial: boolean;
}

type Reader = ConfigReader<Variable>;

/** `directory`: the checkpoint of MODEL_DIR or MODEL_ID. */
export function readPocketConfig(
  read: Reader,
  env: Environment,
  directory: string | undefined,
): PocketConfig {
  const variable = read.raw('MODEL_DIR') === undefined ? 'MODEL_ID' : 'MODEL_DIR';
  const isStated = directory !== undefined && isPocketFolder(directory);
  return {
    stated: isStated ? pocketFolderOf(read, variable, directory) : undefined,
    models: readModels(read, env),
    isFound: read.list('POCKET_MODELS').length === 0,
    isOff: read.list('POCKET_MODELS').some((name) => name.toLowerCase() === NONE),
    nonCommercial: read.flag('POCKET_NONCOMMERCIAL'),
  };
}

function readModels(read: Reader, env: Environment): readonly PocketFolder[] {
  const cache = hubCache(env);
  return readModelList<PocketFolder>(read, {
    variable: 'POCKET_MODELS',
    names: POCKET_MODELS.map((model) => model.name),
    files: `${POCKET_WEIGHTS} and ${POCKET_TOKENIZER}`,
    cache,
    complete: () => oneForEach(completePocketModels(cache)).map((one) => inCache(cache, one)),
    named: (name) => {
      const model = pocketModelNamed(name);
      if (model === undefined) return undefined;
      const isComplete = pocketInCache(cache, model).state === 'complete';
      return { name: model.name, folder: isComplete ? inCache(cache, model) : undefined };
    },
    isFolder: isPocketFolder,
    folderAt: (directory) => pocketFolderOf(read, 'POCKET_MODELS', directory),
  });
}

/** True if the folder has a model of Pocket TTS, by the names of its files. */
export function isPocketFolder(directory: string): boolean {
  const has = (name: string) => existsSync(join(directory, name));
  return has(POCKET_WEIGHTS) && has(POCKET_TOKENIZER) && !has('config.json');
}

/** A folder with the language that its name says; undefined, with the problem told, if it says none. */
function pocketFolderOf(read: Reader, variable: Variable, directory: string): PocketFolder | undefined {
  const language = pocketLanguageOf(basename(directory));
  if (language !== undefined) return { directory, language };
  const example = 'a name that begins with its language, such as german or english_mine';
  read.problem(variable, `must lead to a folder of Pocket TTS with ${example}, not ${directory}`);
  return undefined;
}

function inCache(cache: string, model: PocketModel): PocketFolder {
  return { directory: pocketFolder(cache, model), language: model.language };
}

/** Prefers, of two models of a language, the one that clones voices. */
function oneForEach(models: readonly PocketModel[]): readonly PocketModel[] {
  return models.filter(
    (model) => model.isGated || !models.some((other) => other.isGated && other.language === model.language),
  );
}
