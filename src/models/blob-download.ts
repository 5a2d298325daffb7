// Fetches one file of a model into its partial file, goes on where an earlier try ended, and verifies it.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, rename, rm, statfs } from 'node:fs/promises';
import { ParleyError } from '../errors.js';
import { Crc32c } from './crc32c.js';
import { type OpenedFile, type RemoteFile, Retryable } from './retrying-http.js';

interface Checksum {
  update(bytes: Uint8Array): unknown;
  digest(encoding: 'hex'): string;
}

const PROGRESS_BYTES = 1024 * 1024; // of one try, after which the count of failures begins again
const FULL: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** The disk; a parameter for tests. */
export interface Disk {
  /** Bytes that a process without privileges may still write into a folder. */
  freeBytes(folder: string): Promise<number>;
  /** Writes all bytes at the end of a file that is open for appending. */
  append(file: FileHandle, bytes: Uint8Array): Promise<void>;
}

export const DISK: Disk = {
  freeBytes: async (folder) => {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  },
  append: async (file, bytes) => await file.appendFile(bytes),
};

/** The server of a model, and its place in the cache. */
export interface Source {
  /** Requests a file once, from an offset on. Throws a Retryable if another try may succeed. */
  open(file: RemoteFile, from: number): Promise<OpenedFile>;
  /** Calls `action` until it throws no Retryable, or too often. */
  retried(action: () => Promise<void>, hasProgress: () => boolean): Promise<void>;
  /** Who states sizes and checksums, for messages. */
  readonly lister: string;
  readonly cached: FilePlaces;
}

interface FilePlaces {
  /** The place of a complete file. */
  blob(file: RemoteFile): string;
  partial(file: RemoteFile): string;
  /** Bytes of a file that are here: all, those of a partial file, or 0. */
  present(file: RemoteFile): Promise<number>;
}

export interface Download extends Source {
  readonly disk: Disk;
  readonly signal: AbortSignal;
}

/**
 * Fetches a file that is not complete. `onBytes` gets the number of bytes that are present. It falls if
 * the file begins again. Throws DOWNLOAD_FAILED, DISK_FULL and ABORTED. A full disk, an interruption and a
 * broken connection keep the partial file.
 */
export async function fetchFile(
  source: Download,
  file: RemoteFile,
  onBytes: (present: number) => void,
): Promise<void> {
  const { cached } = source;
  const first = await digestOf(source, file, onBytes);
  // The first bytes may be of another program: only a file that was fetched whole proves a wrong checksum.
  const isBad = first.digest !== file.digest.hex && first.resumedAt > 0;
  if (isBad) await rm(cached.partial(file));
  const { digest } = isBad ? await digestOf(source, file, onBytes) : first;
  if (digest === file.digest.hex) return await rename(cached.partial(file), cached.blob(file));
  await rm(cached.partial(file));
  const message = `${file.path} has the checksum ${digest}, but ${source.lister} lists ${file.digest.hex}; the file is deleted`;
  throw new ParleyError('DOWNLOAD_FAILED', message);
}

/** Fetches the rest of the partial file. Returns the checksum of the whole. */
async function digestOf(source: Download, file: RemoteFile, onBytes: (present: number) => void) {
  const resumedAt = await source.cached.present(file);
  const handle = await open(source.cached.partial(file), 'a');
  try {
    const rest = new RestOfFile(source, file, handle, onBytes);
    const digest = await rest.fetched(resumedAt);
    await handle.sync();
    return { digest, resumedAt };
  } finally {
    await handle.close();
  }
}

class RestOfFile {
  readonly #source: Download;
  readonly #file: RemoteFile;
  readonly #handle: FileHandle;
  readonly #onBytes: (present: number) => void;
  #hash: Checksum;
  #present = 0;

  constructor(source: Download, file: RemoteFile, handle: FileHandle, onBytes: (present: number) => void) {
    this.#source = source;
    this.#file = file;
    this.#handle = handle;
    this.#onBytes = onBytes;
    this.#hash = newHash(file);
  }

  async fetched(resumedAt: number): Promise<string> {
    await this.#begin(resumedAt);
    let before = this.#present;
    const hasProgress = () => this.#present - before >= PROGRESS_BYTES;
    const fetchRest = async () => {
      before = this.#present;
      await this.#fetchRest();
    };
    if (this.#present < this.#file.size) await this.#source.retried(fetchRest, hasProgress);
    return this.#hash.digest('hex');
  }

  /** Reads the first bytes of the partial file, or empties it. */
  async #begin(resumedAt: number): Promise<void> {
    const { cached, signal } = this.#source;
    if (resumedAt === 0) return await this.#restart();
    const earlier = createReadStream(cached.partial(this.#file), { end: resumedAt - 1 });
    for await (const bytes of earlier as AsyncIterable<Uint8Array>) {
      if (signal.aborted) throw new ParleyError('ABORTED', 'interrupted');
      this.#hash.update(bytes);
      this.#present += bytes.length;
    }
    this.#onBytes(this.#present);
  }

  async #restart(): Promise<void> {
    await this.#handle.truncate(0);
    this.#hash = newHash(this.#file);
    this.#present = 0;
    this.#onBytes(0);
  }

  /** One request. Throws a Retryable if the connection ends before the file does. */
  async #fetchRest(): Promise<void> {
    const { lister } = this.#source;
    const { path, size } = this.#file;
    const opened = await this.#source.open(this.#file, this.#present);
    if (opened.from !== this.#present) await this.#restart();
    for await (const bytes of opened.chunks) {
      if (this.#present + bytes.length > size) {
        await this.#restart();
        throw new ParleyError(
          'DOWNLOAD_FAILED',
          `${path} has more than the ${size} bytes that ${lister} lists`,
        );
      }
      await this.#append(bytes);
      this.#hash.update(bytes);
      this.#present += bytes.length;
      this.#onBytes(this.#present);
    }
    if (this.#present < size) throw new Retryable(`${path} ended after ${this.#present} of ${size} bytes`);
  }

  async #append(bytes: Uint8Array): Promise<void> {
    const { disk, cached } = this.#source;
    try {
      await disk.append(this.#handle, bytes);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (!FULL.has(code)) throw error;
      const at = `after ${this.#present} of ${this.#file.size} bytes of ${this.#file.path}`;
      const message = `the disk is full (${code}) ${at}; ${cached.partial(this.#file)} is kept, and the same command resumes`;
      throw new ParleyError('DISK_FULL', message, { cause: error });
    }
  }
}

/** The checksum of a file by its kind. The hash of a git blob also covers its kind and length. */
export function newHash({ digest, size }: RemoteFile): Checksum {
  if (digest.kind === 'crc32c') return new Crc32c();
  return digest.kind === 'git' ? createHash('sha1').update(`blob ${size}\0`) : createHash('sha256');
}
