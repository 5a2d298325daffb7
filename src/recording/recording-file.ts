// Writes one recording to disk, in the worker. Bytes are collected and written in pieces. After each piece
// the header states the new length, so a killed server leaves a file that plays.
//
//   NAME.part ──▶ finish: flushed to disk, renamed to NAME
//             └─▶ abandon: cut back to the last complete piece, keeps its name
import {
  closeSync,
  ftruncateSync,
  fsync,
  openSync,
  readSync,
  renameSync,
  statfsSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { RecordingForm } from './recording-form.js';
import { UNFINISHED } from './recording-name.js';

/** The calls of the file system that a recording needs. Each throws errors of Node with their code. */
export interface RecordingFiles {
  /** Creates a new file that only its owner can read. */
  create(path: string): number;
  /** Returns the bytes written, which may be fewer than given. */
  write(file: number, bytes: Uint8Array, position: number): number;
  /** Returns the bytes read. */
  read(file: number, bytes: Uint8Array, position: number): number;
  truncate(file: number, bytes: number): void;
  sync(file: number): Promise<void>;
  close(file: number): void;
  rename(from: string, to: string): void;
  unlink(path: string): void;
  /** Bytes that the file system of this folder still takes. */
  room(folder: string): number;
}

export const DISK: RecordingFiles = {
  create: (path) => openSync(path, 'wx+', 0o600),
  write: (file, bytes, position) => writeSync(file, bytes, 0, bytes.length, position),
  read: (file, bytes, position) => readSync(file, bytes, 0, bytes.length, position),
  truncate: ftruncateSync,
  sync: promisify(fsync),
  close: closeSync,
  rename: renameSync,
  unlink: unlinkSync,
  room: (folder) => {
    const { blocks, bavail, bsize } = statfsSync(folder);
    return blocks === 0 ? Infinity : bavail * bsize; // a file system that states no size has no blocks
  },
};

const MOST_PENDING = 256 * 1024; // bytes
/** Bytes that a recording must find at its start: some seconds of it. */
const LEAST_ROOM = 512 * 1024;
const BLOCK = new Uint8Array(64 * 1024);

export class RecordingFile {
  readonly #files: RecordingFiles;
  readonly #path: string;
  readonly #form: RecordingForm;
  readonly #file: number;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #written = 0;
  #writtenMs: number;
  #isOpen = true;

  /**
   * Creates the file and writes its header. Throws ENOSPC where the disk has less room than some seconds of
   * sound take. `needsRoom` writes that much to find out, because only a write shows a quota.
   */
  constructor(
    files: RecordingFiles,
    path: string,
    form: RecordingForm,
    { nowMs, needsRoom }: { readonly nowMs: number; readonly needsRoom: boolean },
  ) {
    this.#files = files;
    this.#path = path;
    this.#form = form;
    this.#writtenMs = nowMs;
    if (files.room(dirname(path)) < LEAST_ROOM) throw noRoom();
    this.#file = files.create(path + UNFINISHED);
    this.#add(form.header);
    try {
      if (needsRoom) this.#findRoom();
      this.flush(nowMs);
    } catch (error) {
      this.abandon();
      this.#remove();
      throw error;
    }
  }

  #findRoom(): void {
    for (let at = 0; at < LEAST_ROOM; at += BLOCK.length) this.#writeAll(BLOCK, at);
    this.#files.truncate(this.#file, 0);
  }

  /** A file that never had sound is of no use. */
  #remove(): void {
    try {
      this.#files.unlink(this.#path + UNFINISHED);
    } catch {
      // The error of the start is the one that is reported.
    }
  }

  /** Bytes on disk. */
  get bytes(): number {
    return this.#written;
  }

  /** The time of the last piece. */
  get writtenMs(): number {
    return this.#writtenMs;
  }

  /** Appends interleaved frames. */
  append(samples: Float32Array, frames: number, nowMs: number): void {
    this.#add(this.#form.encode(samples, frames));
    if (this.#pendingBytes >= MOST_PENDING) this.flush(nowMs);
  }

  /** Writes what was collected. */
  flush(nowMs: number): void {
    const bytes = this.#pending.length === 1 ? this.#pending[0] : Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#writtenMs = nowMs;
    if (bytes === undefined || bytes.length === 0) return;
    this.#writeAll(bytes, this.#written);
    this.#written += bytes.length;
    this.#stateLength();
  }

  #stateLength(): void {
    const header = this.#form.headerOf(this.#written);
    if (header !== undefined) this.#writeAll(header, 0);
  }

  /** Keeps so many frames of a WAV, from this one on. They move to its beginning in pieces. */
  keep(from: number, frames: number, frameBytes: number, nowMs: number): void {
    this.flush(nowMs);
    const begin = this.#form.header.length;
    const bytes = frames * frameBytes;
    const piece = new Uint8Array(Math.min(bytes, MOST_PENDING));
    for (let done = 0; from > 0 && done < bytes;) {
      const wanted = piece.subarray(0, Math.min(piece.length, bytes - done));
      const count = this.#files.read(this.#file, wanted, begin + from * frameBytes + done);
      if (count <= 0) throw Object.assign(new Error('the disk gives no bytes'), { code: 'EIO' });
      this.#writeAll(wanted.subarray(0, count), begin + done);
      done += count;
    }
    this.#written = begin + bytes;
    this.#files.truncate(this.#file, this.#written);
    this.#stateLength();
  }

  /** Completes the file. Nothing may be appended after it. */
  async finish(nowMs: number): Promise<void> {
    this.#add(this.#form.finish());
    this.flush(nowMs);
    await this.#files.sync(this.#file);
    this.#isOpen = false;
    this.#files.close(this.#file);
    this.#files.rename(this.#path + UNFINISHED, this.#path);
  }

  /** Keeps what is on disk after an error. The disk may refuse this too; the file plays all the same. */
  abandon(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const steps = [
      () => this.#files.truncate(this.#file, this.#written),
      () => this.#files.close(this.#file),
    ];
    for (const step of steps) {
      try {
        step();
      } catch {
        // The error before this one is the one that is reported.
      }
    }
  }

  #add(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#pending.push(bytes.slice());
    this.#pendingBytes += bytes.length;
  }

  #writeAll(bytes: Uint8Array, position: number): void {
    for (let done = 0; done < bytes.length;) {
      const count = this.#files.write(this.#file, bytes.subarray(done), position + done);
      if (count <= 0) throw Object.assign(new Error('the disk accepts no bytes'), { code: 'EIO' });
      done += count;
    }
  }
}

function noRoom(): Error {
  return Object.assign(new Error('the disk is full'), { code: 'ENOSPC' });
}
