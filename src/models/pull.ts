// Fetches a checkpoint from a hub into the cache: asks for the commit and its files, checks the disk, fetches
// what is missing, and publishes the snapshot after the last file is verified.
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { POCKET_MODELS } from '../config/pocket-catalog.js';
import { ParleyError } from '../errors.js';
import { type Disk, fetchFile, type Source } from './blob-download.js';
import type { HubModel } from './catalog.js';
import { CachedModel } from './hub-cache.js';
import { HubClient, type HubFile, type HubOptions } from './hub-client.js';

/** The files that engines read. Other formats of the same weights are not fetched. */
const READ_BY_ENGINES = /^(?:speech_tokenizer\/)?[^/]+\.(?:json|txt|safetensors)$/;

const SPARE_BYTES = 64 * 1024 * 1024; // for links, folders and what others write meanwhile

export interface PullOptions extends HubOptions {
  readonly cache: string;
  readonly disk: Disk;
  readonly progress: PullProgress;
}

/** Reports of a pull. */
export interface PullProgress {
  /** Called once. `missing`: files that are not complete. */
  started(files: readonly HubFile[], missing: readonly HubFile[]): void;
  /** `present`: bytes of this file on the disk. */
  advanced(file: HubFile, present: number): void;
  finished(file: HubFile): void;
}

/** The result of a pull. */
export interface Pulled {
  readonly commit: string;
  readonly snapshot: string;
  readonly bytes: number;
}

/** Resolves when the snapshot is in the cache, verified. */
export async function pull(model: HubModel, options: PullOptions): Promise<Pulled> {
  const client = new HubClient(options);
  const commit = await client.commitOf(model);
  const files = (await client.files(model, commit)).filter(({ path }) => READ_BY_ENGINES.test(path));
  checkIsCheckpoint(model, files);
  await fetchParts([{ client, model, commit, files }], options);
  const snapshot = new CachedModel(options.cache, model).snapshot(commit);
  return { commit, snapshot, bytes: files.reduce((sum, { size }) => sum + size, 0) };
}

/** Files of one commit of a repository. */
export interface Part {
  readonly client: HubClient;
  readonly model: HubModel;
  readonly commit: string;
  readonly files: readonly HubFile[];
}

/** Steps that run while no other process pulls the repositories. */
interface Steps {
  /** Before the first file is fetched. */
  before(): Promise<void>;
  /** After the last snapshot is published. */
  after(): Promise<void>;
}

/** Fetches what is missing of each part, then publishes the snapshots. */
export async function fetchParts(
  parts: readonly Part[],
  { cache, disk, progress, signal }: PullOptions,
  steps?: Steps,
): Promise<void> {
  const folder = await existing(cache);
  const sources = parts.map((part) => ({
    ...part,
    cached: new CachedModel(cache, part.model),
    disk,
    signal,
  }));
  const locks = new Map(sources.map(({ model, cached }) => [model.id, cached]));
  await lockedAll([...locks.values()], async () => {
    for (const { cached } of sources) await cached.open();
    const missing = await missingOf(sources);
    await checkSpace(missing, { disk, folder });
    await steps?.before();
    progress.started(
      parts.flatMap(({ files }) => files),
      missing.map(({ file }) => file),
    );
    for (const { source, file } of missing) {
      // Two files of one content have one blob.
      if (!(await source.cached.isComplete(file)))
        await fetchFile(source, file, (present) => progress.advanced(file, present));
      progress.finished(file);
    }
    for (const { cached, commit, files } of sources) await cached.publish(commit, files);
    await steps?.after();
  });
}

async function lockedAll<T>(models: readonly CachedModel[], action: () => Promise<T>): Promise<T> {
  const [first, ...rest] = models;
  return first === undefined ? await action() : await first.locked(() => lockedAll(rest, action));
}

interface Missing {
  readonly source: Source;
  readonly file: HubFile;
}

async function missingOf(sources: readonly (Source & Part)[]): Promise<readonly Missing[]> {
  const missing: Missing[] = [];
  for (const source of sources) {
    for (const file of source.files) {
      if (!(await source.cached.isComplete(file))) missing.push({ source, file });
    }
  }
  return missing;
}

function checkIsCheckpoint({ id }: HubModel, files: readonly HubFile[]): void {
  const has = (end: string) => files.some(({ path }) => path.endsWith(end));
  if (has('config.json') && has('.safetensors')) return;
  const parts = POCKET_MODELS.filter(({ weights, voices }) => [weights.id, voices.id].includes(id));
  const message =
    parts.length > 0
      ? `${id} holds several models: fetch one of ${parts.map(({ name }) => name).join(', ')}`
      : `${id} is no checkpoint that an engine reads: it lacks config.json or a file *.safetensors`;
  throw new ParleyError('MODEL_UNKNOWN', message, { field: 'NAME' });
}

interface Place {
  readonly disk: Disk;
  readonly folder: string;
}

/** Throws DISK_FULL before the first byte is fetched. */
async function checkSpace(missing: readonly Missing[], { disk, folder }: Place) {
  if (missing.length === 0) return;
  const present = await Promise.all(missing.map(({ source, file }) => source.cached.present(file)));
  const rest = missing.reduce((sum, { file }, index) => sum + file.size - (present[index] ?? 0), 0);
  const [needed, free] = [rest + SPARE_BYTES, await disk.freeBytes(folder)];
  if (free >= needed) return;
  const message = `${folder} needs ${inMB(needed)} MB of free space and has ${inMB(free)} MB; HF_HOME names another folder`;
  throw new ParleyError('DISK_FULL', message, { field: 'HF_HOME' });
}

function inMB(bytes: number): string {
  return Math.ceil(bytes / 1e6).toString();
}

/** The folder itself, or the nearest one above it that exists. */
async function existing(folder: string): Promise<string> {
  for (let at = folder; ; at = dirname(at)) {
    const found = await stat(at).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return undefined;
    });
    if (found !== undefined || at === dirname(at)) return at;
  }
}
