// Keeps the bytes of an upload until they are wanted: the first of them in memory, all others in a temporary
// file without a name, which cannot outlive the process.
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ParleyError } from '../../errors.js';

const MEMORY_BYTES = 1 << 20; // of one upload
const READ_BYTES = 65_536;
const PRIVATE = 0o600;
const NO_ROOM = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** Bounds the bytes of all uploads that are kept at a time. */
export class SpoolSpace {
  readonly #maxBytes: number;
  #taken = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes that are kept. */
  get taken(): number {
    return this.#taken;
  }

  /** Throws QUEUE_FULL. */
  take(bytes: number): void {
    if (this.#taken + bytes > this.#maxBytes)
      throw new ParleyError(
        'QUEUE_FULL',
        `this server keeps uploads of ${this.#maxBytes} bytes at most at a time: its operator sets MAX_TRANSCRIPTION_BYTES`,
      );
    this.#taken += bytes;
  }

  giveBack(bytes: number): void {
    this.#taken -= bytes;
  }
}

export class Spool {
  readonly #space: SpoolSpace;
  readonly #folder: string;
  readonly #memory: Uint8Array[] = [];
  #memoryBytes = 0;
  #fileBytes = 0;
  #file: FileHandle | undefined;
  #closing: Promise<void> | undefined;

  constructor(space: SpoolSpace, folder = tmpdir()) {
    this.#space = space;
    this.#folder = folder;
  }

  /** Bytes that were written. */
  get size(): number {
    return this.#memoryBytes + this.#fileBytes;
  }

  /** Takes the bytes over. Calls follow each other. Rejects with QUEUE_FULL or DISK_FULL. */
  async write(bytes: Uint8Array): Promise<void> {
    this.#space.take(bytes.length);
    if (this.#file === undefined && this.#memoryBytes + bytes.length <= MEMORY_BYTES) {
      this.#memory.push(bytes);
      this.#memoryBytes += bytes.length;
      return;
    }
    try {
      this.#file ??= await openNameless(this.#folder);
      await this.#file.writeFile(bytes);
      this.#fileBytes += bytes.length;
    } catch (error) {
      this.#space.giveBack(bytes.length);
      const { code = '' } = error as NodeJS.ErrnoException;
      if (!NO_ROOM.has(code)) throw error;
      throw new ParleyError('DISK_FULL', `${this.#folder} has no room for the upload`, { cause: error });
    }
  }

  /** All bytes in order. */
  async *read(): AsyncGenerator<Uint8Array> {
    yield* this.#memory;
    for (let at = 0; at < this.#fileBytes;) {
      const { buffer, bytesRead } = await this.#readAt(at);
      if (bytesRead === 0) return;
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  /** Frees the bytes. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #readAt(position: number) {
    if (this.#file === undefined || this.#closing !== undefined)
      throw new ParleyError('ABORTED', 'the upload is not kept any more');
    return this.#file.read(Buffer.allocUnsafe(READ_BYTES), 0, READ_BYTES, position);
  }

  async #close(): Promise<void> {
    this.#space.giveBack(this.size);
    this.#memory.length = 0;
    await this.#file?.close();
  }
}

async function openNameless(folder: string): Promise<FileHandle> {
  const path = join(folder, `parley-${randomUUID()}`);
  const file = await open(path, 'wx+', PRIVATE);
  await unlink(path);
  return file;
}
