// Reads the variables of the recogniser Moonshine: its models, one for each language, and its workers.
// Nothing is downloaded here.
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { ConfigReader, Environment } from './environment.js';
import { hubCache } from './model-config.js';
import { checkLanguages, type LanguageFolder, readModelList } from './model-list.js';
import { completeMoonshineModels, moonshineFolder, moonshineInCache } from './onnx-cache.js';
import { MOONSHINE_MODELS, type MoonshineModel, moonshineModelNamed } from './onnx-catalog.js';
import type { Variable } from './variables.js';

/** A folder that the recogniser opens. */
export interface MoonshineFolder extends LanguageFolder {
  /** Undefined: the name of the folder does not say it. */
  readonly size: MoonshineModel['size'] | undefined;
}

export interface MoonshineConfig {
  /** At least one, and at most one for each language, preferred ones first. */
  readonly models: readonly MoonshineFolder[];
  /** Threads, each with sessions of its own. */
  readonly workers: number;
}

type Reader = ConfigReader<Variable>;

export const MOONSHINE_CONFIGURATION = 'streaming_config.json';
const TOKENIZER = 'tokenizer.bin';
const GRAPHS = ['encoder', 'adapter', 'cross_kv', 'decoder_kv'];
const FRONTEND_PAIR = ['frontend.model', 'frontend.weights'];
const FORMATS = ['.ort', '.onnx'];

const CORES_OF_TWO = 4;
const MOST_WORKERS = 8;

/** `stated`: the folder of ASR_MODEL_DIR or ASR_MODEL_ID. Returns undefined if there is no model. */
export function readMoonshineConfig(
  read: Reader,
  env: Environment,
  stated: string | undefined,
): MoonshineConfig | undefined {
  const own = availableParallelism() < CORES_OF_TWO ? 1 : 2;
  const workers = read.integer('ASR_WORKERS', own, 1, MOST_WORKERS);
  const isListed = read.raw('MOONSHINE_MODELS') !== undefined;
  const variable = read.raw('ASR_MODEL_DIR') === undefined ? 'ASR_MODEL_ID' : 'ASR_MODEL_DIR';
  const first = stated === undefined ? undefined : moonshineFolderAt(read, variable, stated);
  // A model that is stated by itself hears alone, whatever else the cache has.
  const listed = stated === undefined || isListed ? readModels(read, env) : [];
  if (first !== undefined) checkLanguages(read, 'MOONSHINE_MODELS', [first, ...listed]);
  const models = first === undefined ? listed : [first, ...listed];
  return models.length === 0 ? undefined : { models, workers };
}

function readModels(read: Reader, env: Environment): readonly MoonshineFolder[] {
  const cache = hubCache(env);
  return readModelList<MoonshineFolder>(read, {
    variable: 'MOONSHINE_MODELS',
    names: MOONSHINE_MODELS.map(({ name }) => name),
    files: `${MOONSHINE_CONFIGURATION} and ${TOKENIZER}`,
    cache,
    complete: () => oneForEach(completeMoonshineModels(cache)).map((model) => inCache(cache, model)),
    named: (name) => {
      const model = moonshineModelNamed(name);
      if (model === undefined) return undefined;
      const isComplete = moonshineInCache(cache, model).state === 'complete';
      return { name: model.name, folder: isComplete ? inCache(cache, model) : undefined };
    },
    isFolder: isMoonshineFolder,
    folderAt: (directory) => moonshineFolderAt(read, 'MOONSHINE_MODELS', directory),
  });
}

/** Languages in which Pocket TTS speaks and Moonshine, the recogniser of this server, hears nothing. */
export function unheardLanguages(
  voices: readonly LanguageFolder[],
  moonshine: MoonshineConfig | undefined,
): readonly string[] {
  if (moonshine === undefined) return [];
  const isHeard = (language: string) => moonshine.models.some((model) => model.language === language);
  return voices.map(({ language }) => language).filter((language) => !isHeard(language));
}

/** The warning for a language with a voice and without a model that hears it. */
export function unheardNotice(language: string): string {
  const name = NAMES.of(language) ?? language;
  const pulled = MOONSHINE_MODELS.find((model) => model.language === language)?.name;
  const remedy =
    pulled === undefined
      ? 'Moonshine has no model of it; ASR_MODEL_ID and ASR_BASE_URL name other recognisers'
      : `fetch its model with: npm run parley -- pull ${pulled}`;
  return `${name} is spoken and not understood: ${remedy}`;
}

/** True for a folder with the configuration of a Moonshine model. Other files may be missing. */
export function isMoonshineFolder(directory: string): boolean {
  return existsSync(join(directory, MOONSHINE_CONFIGURATION));
}

/** False, with the problem reported, for a folder of Moonshine in a variable that takes other models. */
export function checkNotMoonshine(read: Reader, variable: Variable, directory: string): boolean {
  if (!isMoonshineFolder(directory)) return true;
  const place = 'which is a recogniser and belongs in ASR_MODEL_DIR';
  read.problem(variable, `must not lead to a model of Moonshine, ${place}: ${directory}`);
  return false;
}

/** Undefined, with the problem reported, without one of the files, or if no name says the language. */
function moonshineFolderAt(read: Reader, variable: Variable, directory: string): MoonshineFolder | undefined {
  const missing = missingFile(directory);
  if (missing !== undefined) {
    read.problem(variable, `leads to a folder of Moonshine that lacks ${missing}: ${directory}`);
    return undefined;
  }
  const parts = nameOf(directory).toLowerCase().split(/[-_]/);
  const language = parts.at(-1) ?? '';
  if (!isLanguage(language)) {
    const example = 'a name that ends with its language, such as small-streaming-en';
    read.problem(variable, `must lead to a folder of Moonshine with ${example}, not ${directory}`);
    return undefined;
  }
  const sizes = ['tiny', 'small', 'medium'] as const;
  return { directory, language, size: sizes.find((size) => parts.includes(size)) };
}

function missingFile(directory: string): string | undefined {
  const has = (name: string) => FORMATS.some((end) => existsSync(join(directory, `${name}${end}`)));
  if (!existsSync(join(directory, TOKENIZER))) return TOKENIZER;
  const graph = GRAPHS.find((name) => !has(name));
  if (graph !== undefined) return `${graph}.ort`;
  if (has('frontend') || FRONTEND_PAIR.every(has)) return undefined;
  return `frontend.ort, or ${FRONTEND_PAIR.map((name) => `${name}.ort`).join(' and ')}`;
}

/** The publisher's folders are called by the revision, within one that is called by the model. */
function nameOf(directory: string): string {
  const name = basename(directory);
  return name.startsWith('quantized_') ? basename(dirname(directory)) : name;
}

const NAMES = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });

function isLanguage(tag: string): boolean {
  return /^[a-z]{2}$/.test(tag) && NAMES.of(tag) !== undefined;
}

function inCache(cache: string, model: MoonshineModel): MoonshineFolder {
  const { language, size } = model;
  return { directory: moonshineFolder(cache, model), language, size };
}

/** The catalogue lists preferred models of a language first. */
function oneForEach(models: readonly MoonshineModel[]): readonly MoonshineModel[] {
  return models.filter(
    ({ language }, index) => models.findIndex((other) => other.language === language) === index,
  );
}
