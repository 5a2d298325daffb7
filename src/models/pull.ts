// Fetches a checkpoint from a hub into the cache: asks for the commit and its files, checks the disk, fetches
// what is missing, and publishes the snapshot after the last file is verified.
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { POCKET_MODELS } from '../config/pocket-catalog.js';
import { ParleyError } from '../errors.js';
import { type Disk, type Download, fetchFile, type Source } from './blob-download.js';
import type { HubModel } from './catalog.js';
import { CachedModel } from './hub-cache.js';
import { HubClient, type HubOptions } from './hub-client.js';
import type { RemoteFile } from './retrying-http.js';

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
  /** Called once for each model. `missing`: files that are not complete. */
  started(files: readonly RemoteFile[], missing: readonly RemoteFile[]): void;
  /** `present`: bytes of this file on the disk. */
  advanced(file: RemoteFile, present: number): void;
  finished(file: RemoteFile): void;
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
  const snapshot = new CachedModel(options.cache, model).snapshot(commit);
  const pulled = { commit, snapshot, bytes: bytesOf(files) };
  const parts = [hubPart(client, options.cache, { model, commit, files })];
  return await fetchPlanned({ parts, pulled }, options);
}

/** Files of a model from one server. */
export interface Part extends Source {
  readonly cached: Source['cached'] & {
    /** The model for messages. Parts of one model have the same. */
    readonly id: string;
    /** Makes the folder of the files. */
    open(): Promise<void>;
    isComplete(file: RemoteFile): Promise<boolean>;
    /** Runs `action` as the only pull of this model. Throws WRONG_STATE if another process pulls it. */
    locked<T>(action: () => Promise<T>): Promise<T>;
  };
  readonly files: readonly RemoteFile[];
  /** Called after the last file is verified. */
  publish(): Promise<unknown>;
}

interface OfCommit {
  readonly model: HubModel;
  readonly commit: string;
  readonly files: readonly RemoteFile[];
}

/** Files of one commit of a repository. */
export function hubPart(client: HubClient, cache: string, { model, commit, files }: OfCommit): Part {
  const cached = new CachedModel(cache, model);
  return {
    open: async (file, from) => await client.open(model, commit, file, from),
    retried: async (action, hasProgress) => await client.http.retried(action, hasProgress),
    lister: client.http.lister,
    cached,
    files,
    publish: async () => await cached.publish(commit, files),
  };
}

/** Steps that run while no other process pulls the repositories. */
interface Steps {
  /** Before the first file is fetched. */
  before(): Promise<void>;
  /** After the last snapshot is published. */
  after(): Promise<void>;
}

/** What a pull of one model will fetch. No byte of its files was asked for. */
export interface Plan {
  readonly parts: readonly Part[];
  readonly steps?: Steps;
  /** The result, once the files are there. */
  readonly pulled: Pulled;
}

/** Throws DISK_FULL if the disk has too little space for all these models together. */
export async function checkSpaceFor(
  plans: readonly Plan[],
  { cache, disk }: Pick<PullOptions, 'cache' | 'disk'>,
): Promise<void> {
  const files = plans
    .flatMap(({ parts }) => parts)
    .flatMap((part) => part.files.map((file) => ({ download: part, file })));
  await checkSpace(files, { disk, folder: await existing(cache) });
}

/** Fetches what is missing of each part, then publishes the snapshots. */
export async function fetchPlanned(
  { parts, steps, pulled }: Plan,
  { cache, disk, progress, signal }: PullOptions,
): Promise<Pulled> {
  const folder = await existing(cache);
  const downloads = parts.map((part) => ({ ...part, disk, signal }));
  const locks = new Map(parts.map(({ cached }) => [cached.id, cached]));
  await lockedAll([...locks.values()], async () => {
    for (const { cached } of parts) await cached.open();
    const missing = await missingOf(downloads);
    await checkSpace(missing, { disk, folder });
    await steps?.before();
    progress.started(
      parts.flatMap(({ files }) => files),
      missing.map(({ file }) => file),
    );
    for (const { download, file } of missing) {
      // Two files of one content have one blob.
      if (!(await download.cached.isComplete(file)))
        await fetchFile(download, file, (present) => progress.advanced(file, present));
      progress.finished(file);
    }
    for (const part of parts) await part.publish();
    await steps?.after();
  });
  return pulled;
}

export function bytesOf(files: readonly RemoteFile[]): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}

async function lockedAll<T>(models: readonly Part['cached'][], action: () => Promise<T>): Promise<T> {
  const [first, ...rest] = models;
  return first === undefined ? await action() : await first.locked(() => lockedAll(rest, action));
}

interface Missing {
  readonly download: Part & Download;
  readonly file: RemoteFile;
}

async function missingOf(downloads: readonly (Part & Download)[]): Promise<readonly Missing[]> {
  const missing: Missing[] = [];
  for (const download of downloads) {
    for (const file of download.files) {
      if (!(await download.cached.isComplete(file))) missing.push({ download, file });
    }
  }
  return missing;
}

function checkIsCheckpoint({ id }: HubModel, files: readonly RemoteFile[]): void {
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

interface FileOfPart {
  readonly download: Part;
  readonly file: RemoteFile;
}

/** Throws DISK_FULL before the first byte is fetched. */
async function checkSpace(files: readonly FileOfPart[], { disk, folder }: Place) {
  const present = await Promise.all(files.map(({ download, file }) => download.cached.present(file)));
  const rest = files.reduce((sum, { file }, index) => sum + file.size - (present[index] ?? 0), 0);
  if (rest === 0) return;
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
