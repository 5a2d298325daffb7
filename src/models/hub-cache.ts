// One model in the cache of huggingface_hub: its paths, its lock, and how a snapshot becomes visible.
//
//   models--owner--name/blobs/<digest>               content, named by its checksum
//   models--owner--name/blobs/<digest>.incomplete    the first bytes of it
//   models--owner--name/snapshots/<commit>/<path>    relative links to blobs
//   models--owner--name/refs/<revision>              the commit of a branch or tag
//   .locks/models--owner--name/parley-pull.lock      the process that pulls the model
import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { ParleyError } from '../errors.js';
import { repositoryFolder } from '../config/model-config.js';
import type { HubModel } from './catalog.js';
import type { HubFile } from './hub-client.js';

const COMMIT = /^[0-9a-f]{40}$/;

export class CachedModel {
  readonly #model: HubModel;
  readonly #folder: string;
  readonly #lock: string;

  constructor(cache: string, model: HubModel) {
    this.#model = model;
    this.#folder = repositoryFolder(cache, model.id);
    this.#lock = join(cache, '.locks', basename(this.#folder), 'parley-pull.lock');
  }

  snapshot(commit: string): string {
    return join(this.#folder, 'snapshots', commit);
  }

  blob(file: HubFile): string {
    return join(this.#folder, 'blobs', file.digest.hex);
  }

  partial(file: HubFile): string {
    return `${this.blob(file)}.incomplete`;
  }

  /** Makes the folder of the blobs. */
  async open(): Promise<void> {
    await mkdir(join(this.#folder, 'blobs'), { recursive: true });
  }

  /** Bytes of a file that are here: all, those of a partial file, or 0. */
  async present(file: HubFile): Promise<number> {
    const whole = await sizeOf(this.blob(file));
    if (whole === file.size) return whole;
    const part = (await sizeOf(this.partial(file))) ?? 0;
    return part <= file.size ? part : 0;
  }

  async isComplete(file: HubFile): Promise<boolean> {
    return (await sizeOf(this.blob(file))) === file.size;
  }

  /**
   * Links the files of a commit, then writes the reference: MODEL_ID finds the snapshot from that moment on.
   * config.json is the last link, so that no part of a snapshot counts as a checkpoint.
   */
  async publish(commit: string, files: readonly HubFile[]): Promise<string> {
    const snapshot = this.snapshot(commit);
    const isLast = ({ path }: HubFile) => path === 'config.json';
    for (const file of [...files.filter((one) => !isLast(one)), ...files.filter(isLast)]) {
      const path = join(snapshot, file.path);
      await mkdir(dirname(path), { recursive: true });
      await replaced(path, (beside) => symlink(relative(dirname(path), this.blob(file)), beside));
    }
    const { revision } = this.#model;
    if (!COMMIT.test(revision)) {
      const reference = join(this.#folder, 'refs', revision);
      await mkdir(dirname(reference), { recursive: true });
      await replaced(reference, (beside) => writeFile(beside, commit));
    }
    return snapshot;
  }

  /**
   * Runs `action` as the only pull of this model. Throws WRONG_STATE if another process pulls it. The lock of
   * a process that has ended is taken over.
   */
  async locked<T>(action: () => Promise<T>): Promise<T> {
    const mine = JSON.stringify(await ownerOf(process.pid));
    await mkdir(dirname(this.#lock), { recursive: true });
    const beside = `${this.#lock}.${randomUUID()}`;
    await writeFile(beside, mine);
    try {
      if (!(await linked(beside, this.#lock))) {
        await this.#removeStale();
        if (!(await linked(beside, this.#lock))) throw this.#taken('another process');
      }
    } finally {
      await rm(beside, { force: true });
    }
    try {
      return await action();
    } finally {
      await rm(this.#lock, { force: true });
    }
  }

  /** Removes the lock of a process that has ended. Throws WRONG_STATE if its owner runs. */
  async #removeStale(): Promise<void> {
    const text = await contentOf(this.#lock);
    if (text === undefined) return;
    const owner = parsedOwner(text);
    if (owner !== undefined && owner.host !== hostname()) throw this.#taken(`a process of ${owner.host}`);
    if (owner !== undefined && isSame(owner, await ownerOf(owner.pid))) {
      throw this.#taken(`process ${owner.pid}`);
    }
    const aside = `${this.#lock}.${randomUUID()}`;
    try {
      await rename(this.#lock, aside);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return; // another process took it over
      throw error;
    }
    // Between reading and renaming, another process may have taken it over: then its lock is put back.
    const isStale = (await contentOf(aside)) === text;
    if (!isStale) await linked(aside, this.#lock);
    await rm(aside, { force: true });
    if (!isStale) throw this.#taken('another process');
  }

  #taken(owner: string): ParleyError {
    const message = `${owner} pulls ${this.#model.id} now; if it has ended, delete ${this.#lock}`;
    return new ParleyError('WRONG_STATE', message);
  }
}

interface Owner {
  readonly pid: number;
  readonly host: string;
  /** The start of the process in ticks since boot: a pid is used again. Undefined: no such process. */
  readonly start: string | undefined;
}

async function ownerOf(pid: number): Promise<Owner> {
  const status = await contentOf(`/proc/${pid}/stat`);
  // The second field is the name in brackets, which may have blanks. The start time is field 22.
  const start = status?.slice(status.lastIndexOf(')') + 2).split(' ')[19];
  return { pid, host: hostname(), start };
}

function isSame(stored: Owner, now: Owner): boolean {
  return now.start !== undefined && stored.start === now.start;
}

function parsedOwner(text: string): Owner | undefined {
  try {
    const owner = JSON.parse(text) as Partial<Owner> | null;
    const isOwner = Number.isSafeInteger(owner?.pid) && typeof owner?.host === 'string';
    return isOwner ? (owner as Owner) : undefined;
  } catch {
    return undefined; // the lock is of no use: it was never written whole
  }
}

/** Makes a second name for a file. False if the name is taken. */
async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Makes a file or link beside `path`, and renames it into place. */
export async function replaced(path: string, make: (beside: string) => Promise<void>): Promise<void> {
  const beside = `${path}.${randomUUID()}`;
  await make(beside);
  await rename(beside, path);
}

/** Undefined if there is no such file. */
async function sizeOf(path: string): Promise<number | undefined> {
  return (await found(stat(path)))?.size;
}

async function contentOf(path: string): Promise<string | undefined> {
  return await found(readFile(path, 'utf8'));
}

async function found<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ESRCH') return undefined;
    throw error;
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
