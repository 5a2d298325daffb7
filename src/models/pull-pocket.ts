// Fetches a Pocket TTS model: its files from their commits into the cache, each repository with snapshots as
// the hub's own programs leave them, and then the folder of links that the engine opens.
import { mkdir, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import {
  POCKET_CONFIGURATION,
  pocketFolder,
  POCKET_TOKENIZER,
  pocketVoiceFile,
  POCKET_WEIGHTS,
} from '../config/pocket-cache.js';
import {
  firstPocketVoices,
  isNonCommercial,
  POCKET_CREDIT,
  POCKET_MODELS,
  POCKET_TERMS,
  POCKET_VOICES,
  type PinnedRepository,
  type PocketModel,
  type PocketVoice,
  pocketVoiceNamed,
} from '../config/pocket-catalog.js';
import { ParleyError } from '../errors.js';
import { CachedModel, replaced } from './hub-cache.js';
import { HubClient } from './hub-client.js';
import { bytesOf, hubPart, type Part, type Plan, type PullOptions } from './pull.js';
import type { RemoteFile } from './retrying-http.js';

/** Undefined: the first voices of the language. `all`, or names with commas. Throws INVALID_FIELD. */
export function voicesAsked(model: PocketModel, asked: string | undefined): readonly PocketVoice[] {
  if (asked === 'all') return POCKET_VOICES;
  const names = asked?.split(',') ?? [];
  return [...new Set([...firstPocketVoices(model.language), ...names.map((name) => name.trim())])].map(
    (name) => {
      const voice = pocketVoiceNamed(name);
      if (voice !== undefined) return voice;
      const known = POCKET_VOICES.map((one) => one.name).join(', ');
      const message = `--voices must be all, or names of ${known}; not "${name}"`;
      throw new ParleyError('INVALID_FIELD', message, { field: '--voices' });
    },
  );
}

/** Lines to show before the download: credit, licences, and the terms of a gated repository. */
export function pocketNotice(
  { weights, isGated }: PocketModel,
  voices: readonly PocketVoice[],
): readonly string[] {
  const { credit, authors, licence, link } = POCKET_CREDIT;
  const limited = voices.filter(isNonCommercial).map(({ name }) => name);
  return [
    `${credit} (${authors}), ${licence}: ${link}`,
    'Whoever hosts or passes on the model names this credit, links the licence and states changes.',
    `Voices: ${voices.map((voice) => `${voice.name} (${voice.licence})`).join(', ')}`,
    ...(limited.length === 0
      ? []
      : [`Not for commercial use, and silent without POCKET_NONCOMMERCIAL=1: ${limited.join(', ')}`]),
    ...(isGated ? [`Terms of ${weights.id}: ${POCKET_TERMS}`] : []),
  ];
}

/** The pull ends with the folder of links. Throws CONFIG_INVALID without a token for a gated model. */
export async function planPocket(
  model: PocketModel,
  voices: readonly PocketVoice[],
  options: PullOptions,
): Promise<Plan> {
  if (model.isGated && options.token === undefined) throw needsToken(model, options.endpoint);
  const client = new HubClient(options);
  const parts: Part[] = [];
  const wanted: Wanted[] = [];
  for (const [source, some] of bySource(wantedFiles(model, voices))) {
    const { part, found } = await partOf(client, options.cache, source, some);
    parts.push(part);
    wanted.push(...found);
  }
  const folder = pocketFolder(options.cache, model);
  const steps = {
    before: async () => void (await mkdir(folder, { recursive: true })),
    after: async () => await joinFiles(options.cache, folder, weightsLast(wanted)),
  };
  const bytes = bytesOf(parts.flatMap(({ files }) => files));
  return { parts, steps, pulled: { commit: model.weights.revision, snapshot: folder, bytes } };
}

/** A file of the folder of links, and its place on the hub. */
interface Wanted {
  readonly source: PinnedRepository;
  /** In the repository. */
  readonly path: string;
  /** In the folder of links. */
  readonly name: string;
  readonly isOptional: boolean;
}

function wantedFiles(model: PocketModel, voices: readonly PocketVoice[]): readonly Wanted[] {
  const from = (source: PinnedRepository, name: string) => ({
    source,
    path: `languages/${model.configuration}/${name}`,
    name,
    isOptional: name === POCKET_CONFIGURATION,
  });
  return [
    from(model.weights, POCKET_CONFIGURATION),
    from(model.tokenizer, POCKET_TOKENIZER),
    ...voices.map(({ name }) => from(model.voices, pocketVoiceFile(name))),
    from(model.weights, POCKET_WEIGHTS),
  ];
}

function bySource(wanted: readonly Wanted[]): ReadonlyMap<PinnedRepository, readonly Wanted[]> {
  const sources = [...new Set(wanted.map(({ source }) => source))];
  return new Map(sources.map((one) => [one, wanted.filter(({ source }) => source === one)]));
}

/** The link of the weights completes the folder. */
function weightsLast(wanted: readonly Wanted[]): readonly Wanted[] {
  const isWeights = ({ name }: Wanted) => name === POCKET_WEIGHTS;
  return [...wanted.filter((one) => !isWeights(one)), ...wanted.filter(isWeights)];
}

/** Throws MODEL_UNKNOWN for a file that the commit lacks. */
async function partOf(client: HubClient, cache: string, model: PinnedRepository, wanted: readonly Wanted[]) {
  const commit = await client.commitOf(model);
  const all = await client.files(model, commit);
  const files: RemoteFile[] = [];
  const found = wanted.filter(({ path, isOptional }) => {
    const file = all.find((one) => one.path === path);
    if (file !== undefined) files.push(file);
    else if (!isOptional) {
      const message = `${model.id} has no file ${path} at ${commit}`;
      throw new ParleyError('MODEL_UNKNOWN', message, { field: 'NAME' });
    }
    return file !== undefined;
  });
  return { part: hubPart(client, cache, { model, commit, files }), found };
}

/** Links lead into snapshots, so that they tell the commit of each file. */
async function joinFiles(cache: string, folder: string, wanted: readonly Wanted[]): Promise<void> {
  for (const { source, path, name } of wanted) {
    const target = join(new CachedModel(cache, source).snapshot(source.revision), path);
    const link = join(folder, name);
    await mkdir(dirname(link), { recursive: true });
    await replaced(link, async (beside) => await symlink(relative(dirname(link), target), beside));
  }
}

function needsToken({ name, language, weights }: PocketModel, endpoint: string): ParleyError {
  const open = POCKET_MODELS.find((one) => one.language === language && !one.isGated)?.name ?? '';
  const message = `${name} is not open to everybody: accept the terms at ${endpoint}/${weights.id}, and set HF_TOKEN to a token of that account; ${open} needs none, and clones no voices`;
  return new ParleyError('CONFIG_INVALID', message, { field: 'HF_TOKEN' });
}
