// Fetches a checkpoint from a hub into the cache: asks for the commit and its files, checks the disk, fetches
// what is missing, and publishes the snapshot after the last file is verified.
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ParleyError } from '../errors.js';
import { type Disk, fetchFile, type Source } from './blob-download.js';
import type { HubModel } from './catalog.js';
import { CachedModel } from './hub-cache.js';
import { HubClient, type HubFile, type HubOptions } from './hub-client.js';

/** The files that engines read. Other formats of the same weights are not fetched. */
const READ_BY_ENGINES = /^(?:speech_tokenizer\/)?[^/]+\.(?:json|txt|safetensors)$/;

const SPARE_BYTES = 64 * 1024 * 1024; // for links, folders and what others write meanwhile

interface PullOptions extends HubOptions {
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
  const { cache, disk, progress, signal } = options;
  const client = new HubClient(options);
  const commit = await client.commitOf(model);
  const files = (await client.files(model, commit)).filter(({ path }) => READ_BY_ENGINES.test(path));
  checkIsCheckpoint(model, files);
  const cached = new CachedModel(cache, model);
  const folder = await existing(cache);
  return await cached.locked(async () => {
    await cached.open();
    const completeness = await Promise.all(files.map((file) => cached.isComplete(file)));
    const missing = files.filter((_, index) => completeness[index] === false);
    await checkSpace(cached, missing, { disk, folder });
    progress.started(files, missing);
    const source: Source = { client, model, commit, cached, disk, signal };
    for (const file of missing) {
      await fetchFile(source, file, (present) => progress.advanced(file, present));
      progress.finished(file);
    }
    const snapshot = await cached.publish(commit, files);
    return { commit, snapshot, bytes: files.reduce((sum, { size }) => sum + size, 0) };
  });
}

function checkIsCheckpoint({ id }: HubModel, files: readonly HubFile[]): void {
  const has = (end: string) => files.some(({ path }) => path.endsWith(end));
  if (has('config.json') && has('.safetensors')) return;
  const message = `${id} is no checkpoint that an engine reads: it lacks config.json or a file *.safetensors`;
  throw new ParleyError('MODEL_UNKNOWN', message, { field: 'NAME' });
}

interface Place {
  readonly disk: Disk;
  readonly folder: string;
}

/** Throws DISK_FULL before the first byte is fetched. */
async function checkSpace(cached: CachedModel, missing: readonly HubFile[], { disk, folder }: Place) {
  if (missing.length === 0) return;
  const present = await Promise.all(missing.map((file) => cached.present(file)));
  const rest = missing.reduce((sum, { size }, index) => sum + size - (present[index] ?? 0), 0);
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
