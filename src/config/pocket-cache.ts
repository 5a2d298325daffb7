// Finds Pocket TTS models in the Hugging Face cache. The files of a model come from several commits, so that
// no snapshot has all of them. `parley pull` joins them in a folder of links, which the engine opens:
//
//   models--kyutai--pocket-tts-without-voice-cloning/joined/<commits>/<configuration>/
//     model.safetensors               a relative link into snapshots/<commit>/languages/<configuration>
//     tokenizer.model
//     embeddings/<voice>.safetensors
//     config.yaml                     only if the repository has one
//
// <commits> are the first 12 digits of those of the weights and the voices: other pins have another folder.
// The link of the weights is the last to be made.
import { lstatSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryFolder } from './model-config.js';
import { defaultPocketVoice, POCKET_MODELS, type PocketModel } from './pocket-catalog.js';

export const POCKET_WEIGHTS = 'model.safetensors';
/** The engine has the configurations of the published models; a YAML in the folder takes precedence. */
export const POCKET_CONFIGURATION = 'config.yaml';
export const POCKET_TOKENIZER = 'tokenizer.model';
const VOICE_FOLDER = 'embeddings';
const DIGITS = 12; // of a commit, as pages of the hub show it

/** The path of a voice within the folder of its model. */
export function pocketVoiceFile(voice: string): string {
  return join(VOICE_FOLDER, `${voice}.safetensors`);
}

/** The folder in which the files of a model are joined; it need not exist. */
export function pocketFolder(cache: string, { weights, voices, configuration }: PocketModel): string {
  const commits = [weights, voices].map(({ revision }) => revision.slice(0, DIGITS)).join('-');
  return join(repositoryFolder(cache, weights.id), 'joined', commits, configuration);
}

export interface PocketInCache {
  readonly folder: string;
  /** `partial`: a pull was begun and did not end. `broken`: a link leads nowhere. */
  readonly state: 'absent' | 'partial' | 'broken' | 'complete';
  /** Names of the voices that are there, in alphabetical order. */
  readonly voices: readonly string[];
  /** Bytes of the files that the links lead to. */
  readonly bytes: number;
}

/** Tells what the cache has of a model. It reads no file. */
export function pocketInCache(cache: string, model: PocketModel): PocketInCache {
  const folder = pocketFolder(cache, model);
  const voices = entriesOf(join(folder, VOICE_FOLDER))
    .flatMap((name) => /^(.+)\.safetensors$/.exec(name)?.[1] ?? [])
    .toSorted();
  const needed = [POCKET_TOKENIZER, pocketVoiceFile(defaultPocketVoice(model.language)), POCKET_WEIGHTS];
  const paths = [...new Set([...needed, ...voices.map(pocketVoiceFile)])].map((path) => join(folder, path));
  const files = paths.map((path) => ({ isThere: isThere(path), bytes: bytesAt(path) }));
  const bytes = files.reduce((sum, file) => sum + (file.bytes ?? 0), 0);
  return { folder, state: stateOf(folder, files), voices, bytes };
}

/** The models that the engine can open as they are in the cache. */
export function completePocketModels(cache: string): readonly PocketModel[] {
  return POCKET_MODELS.filter((model) => pocketInCache(cache, model).state === 'complete');
}

interface Found {
  readonly isThere: boolean;
  /** Undefined: the link leads nowhere, or there is none. */
  readonly bytes: number | undefined;
}

function stateOf(folder: string, files: readonly Found[]): PocketInCache['state'] {
  if (files.some((file) => file.isThere && file.bytes === undefined)) return 'broken';
  if (files.every((file) => file.isThere)) return 'complete';
  return isThere(folder) ? 'partial' : 'absent';
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function bytesAt(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}

/** Empty if there is no such folder. */
function entriesOf(folder: string): readonly string[] {
  return isThere(folder) ? readdirSync(folder) : [];
}
