// One model in the cache of huggingface_hub: its paths, its lock, and how a snapshot becomes visible.
//
//   models--owner--name/blobs/<digest>               content, named by its checksum
//   models--owner--name/blobs/<digest>.incomplete    the first bytes of it
//   models--owner--name/snapshots/<commit>/<path>    relative links to blobs
//   models--owner--name/refs/<revision>              the commit of a branch or tag
//   .locks/models--owner--name/parley-pull.lock      the process that pulls the model
import { randomUUID } from 'node:crypto';
import { mkdir, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { repositoryFolder } from '../config/model-config.js';
import type { HubModel } from './catalog.js';
import { found, PullLock } from './pull-lock.js';
import type { RemoteFile } from './retrying-http.js';

const COMMIT = /^[0-9a-f]{40}$/;

export class CachedModel {
  readonly #model: HubModel;
  readonly #folder: string;
  readonly #lock: PullLock;

  constructor(cache: string, model: HubModel) {
    this.#model = model;
    this.#folder = repositoryFolder(cache, model.id);
    const lock = join(cache, '.locks', basename(this.#folder), 'parley-pull.lock');
    this.#lock = new PullLock(lock, model.id);
  }

  get id(): string {
    return this.#model.id;
  }

  snapshot(commit: string): string {
    return join(this.#folder, 'snapshots', commit);
  }

  blob(file: RemoteFile): string {
    return join(this.#folder, 'blobs', file.digest.hex);
  }

  partial(file: RemoteFile): string {
    return `${this.blob(file)}.incomplete`;
  }

  /** Makes the folder of the blobs. */
  async open(): Promise<void> {
    await mkdir(join(this.#folder, 'blobs'), { recursive: true });
  }

  /** Bytes of a file that are here: all, those of a partial file, or 0. */
  async present(file: RemoteFile): Promise<number> {
    const whole = await sizeOf(this.blob(file));
    if (whole === file.size) return whole;
    const part = (await sizeOf(this.partial(file))) ?? 0;
    return part <= file.size ? part : 0;
  }

  async isComplete(file: RemoteFile): Promise<boolean> {
    return (await sizeOf(this.blob(file))) === file.size;
  }

  /**
   * Links the files of a commit, then writes the reference: MODEL_ID finds the snapshot from that moment on.
   * config.json is the last link, so that no part of a snapshot counts as a checkpoint.
   */
  async publish(commit: string, files: readonly RemoteFile[]): Promise<string> {
    const snapshot = this.snapshot(commit);
    const isLast = ({ path }: RemoteFile) => path === 'config.json';
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

  /** Runs `action` as the only pull of this model. Throws WRONG_STATE if another process pulls it. */
  async locked<T>(action: () => Promise<T>): Promise<T> {
    return await this.#lock.locked(action);
  }
}

/** Makes a file or link beside `path`, and renames it into place. */
export async function replaced(path: string, make: (beside: string) => Promise<void>): Promise<void> {
  const beside = `${path}.${randomUUID()}`;
  await make(beside);
  await rename(beside, path);
}

/** Undefined if there is no such file. */
export async function sizeOf(path: string): Promise<number | undefined> {
  return (await found(stat(path)))?.size;
}
