// Finds pulled ONNX models. A model for the ends of turns is a snapshot of its repository in the Hugging Face
// cache. A Moonshine model does not come from a hub: it has a folder of its own in the same cache.
//
//   moonshine/<model>/<revision>/<file>       as the publisher names model, revision and files
//   moonshine/<model>/<revision>/SHA256SUMS   checksums at the pull, as sha256sum writes them; the last file
//   models--owner--name/snapshots/<commit>/<path>   a link to blobs/<SHA-256>
import { createHash } from 'node:crypto';
import {
  createReadStream,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ParleyError } from '../errors.js';
import { repositoryFolder } from './model-config.js';
import { MOONSHINE_MODELS, type MoonshineModel, type TurnModel } from './onnx-catalog.js';

export const CHECKSUMS = 'SHA256SUMS';
const LINE = /^([0-9a-f]{64}) [ *](.+)$/gm;
const BLOB = /^[0-9a-f]{64}$/;

/** The end of the name of a file that was not fetched to its end. */
export const INCOMPLETE = '.incomplete';

/** The folder of a Moonshine model; it need not exist. */
export function moonshineFolder(cache: string, { folder, revision }: MoonshineModel): string {
  return join(cache, 'moonshine', folder, revision);
}

/** The file of a model for the ends of turns; it need not exist. */
export function turnFile(cache: string, { id, commit, path }: TurnModel): string {
  return join(repositoryFolder(cache, id), 'snapshots', commit, path);
}

export interface InCache {
  /** `partial`: a pull was begun and did not end. `broken`: a link leads nowhere, or a size is wrong. */
  readonly state: 'absent' | 'partial' | 'broken' | 'complete';
  /** Bytes that are there. */
  readonly bytes: number;
}

/** Tells what the cache has of a model. It reads no file of it except the list of checksums. */
export function moonshineInCache(cache: string, model: MoonshineModel): InCache {
  const folder = moonshineFolder(cache, model);
  const names = statSync(folder, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(folder) : [];
  const bytes = names.reduce((sum, name) => sum + (sizeOf(join(folder, name)) ?? 0), 0);
  if (!names.includes(CHECKSUMS)) return { state: names.length > 0 ? 'partial' : 'absent', bytes };
  const kept = checksumsIn(folder);
  const isWhole = model.files.every(
    ({ name, bytes: published }) => kept.has(name) && sizeOf(join(folder, name)) === published,
  );
  return { state: isWhole ? 'complete' : 'broken', bytes };
}

/** Tells what the cache has of a model for the ends of turns. It reads no file. */
export function turnInCache(cache: string, model: TurnModel): InCache {
  const file = turnFile(cache, model);
  const size = sizeOf(file);
  const isThere = lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  if (isThere) return { state: size === undefined ? 'broken' : 'complete', bytes: size ?? 0 };
  const blobs = join(repositoryFolder(cache, model.id), 'blobs');
  const names = statSync(blobs, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(blobs) : [];
  const bytes = names
    .filter((name) => name.endsWith(INCOMPLETE))
    .reduce((sum, name) => sum + (sizeOf(join(blobs, name)) ?? 0), 0);
  return { state: bytes > 0 ? 'partial' : 'absent', bytes };
}

/** The Moonshine models that can be opened as they are in the cache. */
export function completeMoonshineModels(cache: string): readonly MoonshineModel[] {
  return MOONSHINE_MODELS.filter((model) => moonshineInCache(cache, model).state === 'complete');
}

/**
 * Compares files with the checksums that were kept when they came: in SHA256SUMS beside the file, or in
 * the name of the blob that it links to. A file without a kept checksum is not compared. Call it before the
 * files are opened. Throws CONFIG_INVALID with the name of a file that differs.
 */
export async function checkPulled(files: readonly string[]): Promise<void> {
  for (const file of files) {
    const expected = checksumsIn(dirname(file)).get(basename(file)) ?? blobOf(file);
    if (expected === undefined) continue;
    const hash = createHash('sha256');
    for await (const bytes of createReadStream(file)) hash.update(bytes as Uint8Array);
    if (hash.digest('hex') === expected) continue;
    const mend = `delete ${realpathSync(file)} and pull the model again`;
    throw new ParleyError('CONFIG_INVALID', `${file} is not as pulled (SHA-256 ${expected}): ${mend}`);
  }
}

/** File names with their SHA-256; empty without a list. */
export function checksumsIn(folder: string): ReadonlyMap<string, string> {
  const path = join(folder, CHECKSUMS);
  if (sizeOf(path) === undefined) return new Map();
  const lines = [...readFileSync(path, 'utf8').matchAll(LINE)];
  return new Map(lines.map(([, digest = '', name = '']) => [name, digest]));
}

/** The SHA-256 that the name of a linked blob states; undefined for another file. */
function blobOf(file: string): string | undefined {
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return undefined;
  const name = basename(readlinkSync(file));
  return BLOB.test(name) ? name : undefined;
}

/** Undefined if there is no such file. */
function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}
