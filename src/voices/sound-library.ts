// Sounds by name, for calls that wait or hold: files of SOUNDS_DIR, and a tune of our own without a name.
//
//   name ──▶ checked ──▶ file as it is now ──▶ decoded once ──▶ samples that all calls share
//
// A file that has changed is decoded again for those who ask later. Calls that play it go on with the samples
// that they have.
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { holdTune } from '../audio/music.js';
import { ParleyError } from '../errors.js';
import type { DecodedSound, ReferenceAudio } from './reference-audio.js';

interface SoundLibraryOptions {
  /** Undefined: there is only the tune. */
  readonly folder: string | undefined;
  readonly audio: Pick<ReferenceAudio, 'decodeForLibrary'>;
  /** Bytes of a file. */
  readonly maxFileBytes?: number;
  /** Bytes of decoded sounds that are kept. The sound that was asked for last is kept whatever it takes. */
  readonly cacheBytes?: number;
}

interface KeptSound {
  /** Identity of the file's content. */
  readonly version: string;
  readonly sound: Promise<DecodedSound>;
  bytes: number;
}

const MOST_FILE_BYTES = 64 * 1024 * 1024;
const CACHE_BYTES = 256 * 1024 * 1024; // 23 minutes at 48 kHz
const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,99}$/u;
const READ_BYTES = 1 << 20;
const NEVER = new AbortController().signal;

export class SoundLibrary {
  readonly #options: SoundLibraryOptions;
  /** By name, the least recently used first. */
  readonly #kept = new Map<string, KeptSound>();
  #tune: DecodedSound | undefined;

  constructor(options: SoundLibraryOptions) {
    this.#options = options;
  }

  /** Music for those who wait, without a file. It has no end that differs from its beginning. */
  get tune(): DecodedSound {
    return (this.#tune ??= holdTune());
  }

  /**
   * The sound of this name, or the tune without one. Its samples are shared and must not be changed. Rejects
   * with INVALID_FIELD for a name that is none or unknown, TOO_LARGE, AUDIO_INVALID or QUEUE_FULL.
   * @param field request field that errors name
   */
  async sound(name: string | undefined, field: string): Promise<DecodedSound> {
    if (name === undefined) return this.tune;
    const file = await this.#open(name, field);
    try {
      const version = await versionOf(file);
      const known = this.#kept.get(name);
      if (known?.version === version) return await this.#use(name, known);
      const kept = { version, sound: this.#read(file, name, version, field), bytes: 0 };
      return await this.#use(name, kept);
    } finally {
      await file.close();
    }
  }

  async #open(name: string, field: string): Promise<FileHandle> {
    const { folder } = this.#options;
    if (!NAME.test(name) || name.includes('..')) {
      throw invalid(`"${field}" must be the name of a file, without a path`, field);
    }
    if (folder === undefined)
      throw invalid(`"${field}" cannot be used: this server has no sounds (SOUNDS_DIR)`, field);
    // Neither a link out of the folder is followed nor a pipe waited for.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const file = await open(join(folder, name), flags).catch(() => undefined);
    if (file === undefined) throw invalid(`there is no sound "${name}" on this server`, field);
    const stats = await file.stat();
    if (stats.isFile() && stats.size <= this.#mostBytes) return file;
    await file.close();
    if (!stats.isFile()) throw invalid(`there is no sound "${name}" on this server`, field);
    const message = `the sound "${name}" has ${stats.size} bytes; ${this.#mostBytes} are the most`;
    throw new ParleyError('TOO_LARGE', message, { field });
  }

  get #mostBytes(): number {
    return this.#options.maxFileBytes ?? MOST_FILE_BYTES;
  }

  /** A sound that cannot be decoded is not kept. */
  async #use(name: string, kept: KeptSound): Promise<DecodedSound> {
    this.#kept.delete(name);
    this.#kept.set(name, kept);
    try {
      const sound = await kept.sound;
      kept.bytes = sound.samples.byteLength;
      this.#forget();
      return sound;
    } catch (error) {
      if (this.#kept.get(name) === kept) this.#kept.delete(name);
      throw error;
    }
  }

  #forget(): void {
    const most = this.#options.cacheBytes ?? CACHE_BYTES;
    let bytes = [...this.#kept.values()].reduce((sum, kept) => sum + kept.bytes, 0);
    for (const [name, kept] of this.#kept) {
      if (bytes <= most || this.#kept.size === 1) return;
      this.#kept.delete(name);
      bytes -= kept.bytes;
    }
  }

  async #read(file: FileHandle, name: string, version: string, field: string): Promise<DecodedSound> {
    const bytes = await this.#bytesOf(file);
    if ((await versionOf(file)) !== version) {
      throw new ParleyError('AUDIO_INVALID', `the sound "${name}" changes while it is read`, { field });
    }
    return this.#options.audio.decodeForLibrary(bytes, field, NEVER);
  }

  /** A file that grows is cut: its version shows it afterwards. */
  async #bytesOf(file: FileHandle): Promise<Uint8Array> {
    const pieces: Buffer[] = [];
    let length = 0;
    while (length <= this.#mostBytes) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(READ_BYTES), 0, READ_BYTES, length);
      if (bytesRead === 0) break;
      pieces.push(buffer.subarray(0, bytesRead));
      length += bytesRead;
    }
    return Buffer.concat(pieces);
  }
}

async function versionOf(file: FileHandle): Promise<string> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await file.stat({ bigint: true });
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}

function invalid(message: string, field: string): ParleyError {
  return new ParleyError('INVALID_FIELD', message, { field });
}
