// The lock of a model in the cache: one process pulls it at a time.
import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { ParleyError } from '../errors.js';

export class PullLock {
  readonly #path: string;
  readonly #id: string;

  /** `id`: the model for messages. */
  constructor(path: string, id: string) {
    this.#path = path;
    this.#id = id;
  }

  /**
   * Runs `action` as the only pull of this model. Throws WRONG_STATE if another process pulls it. The lock of
   * a process that has ended is taken over.
   */
  async locked<T>(action: () => Promise<T>): Promise<T> {
    const mine = JSON.stringify(await ownerOf(process.pid));
    await mkdir(dirname(this.#path), { recursive: true });
    const beside = `${this.#path}.${randomUUID()}`;
    await writeFile(beside, mine);
    try {
      if (!(await linked(beside, this.#path))) {
        await this.#removeStale();
        if (!(await linked(beside, this.#path))) throw this.#taken('another process');
      }
    } finally {
      await rm(beside, { force: true });
    }
    try {
      return await action();
    } finally {
      await rm(this.#path, { force: true });
    }
  }

  /** Removes the lock of a process that has ended. Throws WRONG_STATE if its owner runs. */
  async #removeStale(): Promise<void> {
    const text = await contentOf(this.#path);
    if (text === undefined) return;
    const owner = parsedOwner(text);
    if (owner !== undefined && owner.host !== hostname()) throw this.#taken(`a process of ${owner.host}`);
    if (owner !== undefined && isSame(owner, await ownerOf(owner.pid))) {
      throw this.#taken(`process ${owner.pid}`);
    }
    const aside = `${this.#path}.${randomUUID()}`;
    try {
      await rename(this.#path, aside);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return; // another process took it over
      throw error;
    }
    // Between reading and renaming, another process may have taken it over: then its lock is put back.
    const isStale = (await contentOf(aside)) === text;
    if (!isStale) await linked(aside, this.#path);
    await rm(aside, { force: true });
    if (!isStale) throw this.#taken('another process');
  }

  #taken(owner: string): ParleyError {
    const message = `${owner} pulls ${this.#id} now; if it has ended, delete ${this.#path}`;
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

async function contentOf(path: string): Promise<string | undefined> {
  return await found(readFile(path, 'utf8'));
}

export async function found<T>(result: Promise<T>): Promise<T | undefined> {
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
