// Lists the checkpoints of the Hugging Face cache: their snapshots, references and partial files.
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';

export interface CachedSnapshot {
  readonly commit: string;
  readonly folder: string;
  /** Branches and tags that name this commit. */
  readonly revisions: readonly string[];
  /** Bytes of the files that its links lead to. */
  readonly bytes: number;
  /** A link of the snapshot leads nowhere. */
  readonly isBroken: boolean;
}

export interface CachedRepository {
  readonly id: string;
  readonly snapshots: readonly CachedSnapshot[];
  /** Bytes of files that were not fetched to their end. */
  readonly partialBytes: number;
}

const FOLDER = /^models--([^/]+?)--([^/]+)$/;

/** Empty if there is no cache. */
export async function cachedRepositories(cache: string): Promise<readonly CachedRepository[]> {
  const names = (await entriesOf(cache)).map(({ name }) => name).toSorted();
  const found: CachedRepository[] = [];
  for (const name of names) {
    const [, owner, model] = FOLDER.exec(name) ?? [];
    if (owner === undefined || model === undefined) continue;
    found.push(await repositoryIn(join(cache, name), `${owner}/${model}`));
  }
  return found;
}

async function repositoryIn(folder: string, id: string): Promise<CachedRepository> {
  const revisions = await referencesIn(join(folder, 'refs'));
  const snapshots: CachedSnapshot[] = [];
  for (const { name: commit } of await entriesOf(join(folder, 'snapshots'))) {
    const own = revisions.filter((reference) => reference.commit === commit).map(({ name }) => name);
    snapshots.push(await snapshotIn(join(folder, 'snapshots', commit), commit, own));
  }
  let partialBytes = 0;
  for (const { name } of await entriesOf(join(folder, 'blobs'))) {
    if (name.endsWith('.incomplete')) partialBytes += (await sizeOf(join(folder, 'blobs', name))) ?? 0;
  }
  return { id, snapshots, partialBytes };
}

async function snapshotIn(
  folder: string,
  commit: string,
  revisions: readonly string[],
): Promise<CachedSnapshot> {
  const sizes = await Promise.all((await filesIn(folder)).map(sizeOf));
  const bytes = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
  return { commit, folder, revisions, bytes, isBroken: sizes.includes(undefined) };
}

/** Names may have slashes, such as refs/pr/1. */
async function referencesIn(folder: string): Promise<{ name: string; commit: string }[]> {
  const paths = await filesIn(folder);
  const commits = await Promise.all(paths.map((path) => readFile(path, 'utf8')));
  return paths.map((path, index) => ({
    name: relative(folder, path),
    commit: (commits[index] ?? '').trim(),
  }));
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await entriesOf(folder, true);
  return entries
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name));
}

/** Empty if there is no such folder. */
async function entriesOf(folder: string, recursive = false) {
  try {
    return await readdir(folder, { withFileTypes: true, recursive });
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Undefined for a link that leads nowhere. */
async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}
