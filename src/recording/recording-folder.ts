// Keeps the files of recordings: lists, finds and deletes them, keeps them within an age and a total size,
// and repairs what a killed server left. It touches only files with names of recording-name.ts. Servers may
// share the folder: a file that changed lately and is not written here belongs to another server, and is left
// alone.
import { constants } from 'node:fs';
import { access, lstat, mkdir, open, readdir, unlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ParleyError } from '../errors.js';
import type { Log } from '../log.js';
import { endingOf, repairRecording, type SoundEnding } from './recording-ending.js';
import type { RecordingEnd } from './recording-messages.js';
import { type NamedRecording, readRecordingName, UNFINISHED } from './recording-name.js';
import { remove, type RetainedFile, Retention, type RetentionLimits } from './retention.js';

/** A recording is kept from its end on. */
export interface RecordingFolderOptions extends RetentionLimits {
  readonly folder: string;
  readonly log: Log;
  /** Recordings in progress exceed the total size, and no finished one is left to remove. */
  readonly onExcess: () => void;
}

export interface StoredRecording extends NamedRecording {
  readonly bytes: number;
  readonly durationMs: number;
  /** False if the server was killed or the disk failed while it was written. */
  readonly complete: boolean;
  /** Absent if it ended before the start of this server, or another server wrote it. */
  readonly reason?: RecordingEnd;
}

interface RecordingFilter {
  /** True if the client may see a recording with this tag of its owner. */
  readonly maySee: (owner: string | undefined) => boolean;
  readonly call?: string | undefined;
  /** Only recordings that began before the one of this name. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** A file that is not being written. */
interface KeptFile extends RetainedFile {
  readonly named: NamedRecording;
  readonly complete: boolean;
}

const LIVE_MS = 5000; // a recording in progress changes each second
const MOST_ENDINGS = 10_000;
const MOST_REASONS = 10_000;

export class RecordingFolder {
  readonly #options: RecordingFolderOptions;
  readonly #folder: string;
  /** Bytes of the recordings that this server writes, by name. */
  readonly #open = new Map<string, number>();
  /** Why the recordings that this server wrote are over, by name. */
  readonly #reasons = new Map<string, RecordingEnd>();
  /** Endings of finished files by path. */
  readonly #endings = new Map<string, SoundEnding & { readonly size: number }>();
  readonly #retention: Retention<KeptFile>;
  #finishedBytes = 0;

  private constructor(options: RecordingFolderOptions) {
    this.#options = options;
    this.#folder = resolve(options.folder);
    this.#retention = new Retention(options, {
      files: () => this.#files(),
      openBytes: () => this.openBytes,
      removed: ({ path }) => this.#endings.delete(path),
      kept: async (file) => {
        if (!file.complete) await this.#repair(file);
      },
      swept: (bytes) => this.#swept(bytes),
    });
  }

  /** Rejects with CONFIG_INVALID if the folder cannot be written. */
  static async open(options: RecordingFolderOptions): Promise<RecordingFolder> {
    const folder = new RecordingFolder(options);
    await folder.#check();
    await folder.sweep();
    folder.#retention.start(2 * LIVE_MS); // what a server left that was killed just now
    return folder;
  }

  /** The path that a file of this name is written to. */
  pathOf(name: string): string {
    return join(this.#folder, name);
  }

  /** A recording of this name begins. */
  begin(name: string): void {
    this.#open.set(name, 0);
  }

  grow(name: string, bytes: number): void {
    if (!this.#open.has(name)) return;
    this.#open.set(name, bytes);
    const { keepBytes } = this.#options;
    if (keepBytes > 0 && this.#finishedBytes + this.openBytes > keepBytes) void this.sweep();
  }

  /** The recording is over, with this size, for this reason. */
  end(name: string, bytes: number, reason?: RecordingEnd): void {
    if (!this.#open.delete(name)) return;
    if (reason !== undefined) this.#reasons.set(name, reason);
    for (const [oldest] of this.#reasons) {
      if (this.#reasons.size <= MOST_REASONS) break;
      this.#reasons.delete(oldest);
    }
    this.#finishedBytes += bytes;
    void this.sweep();
  }

  /** Bytes of the recordings in progress. */
  get openBytes(): number {
    let sum = 0;
    for (const bytes of this.#open.values()) sum += bytes;
    return sum;
  }

  /** Finished recordings, newest first. Throws an error of the file system. */
  async list(
    filter: RecordingFilter,
  ): Promise<{ readonly recordings: readonly StoredRecording[]; readonly hasMore: boolean }> {
    const { maySee, call, before, limit } = filter;
    const names = (await this.names(maySee)).filter(
      (named) => (call === undefined || named.call === call) && (before === undefined || named.name < before),
    );
    const recordings: StoredRecording[] = [];
    for (const { name } of names) {
      const recording = await this.find(name);
      if (recording === undefined) continue;
      if (recordings.length === limit) return { recordings, hasMore: true };
      recordings.push(recording);
    }
    return { recordings, hasMore: false };
  }

  /** Finished recordings and those in progress, newest first. Rejects with an error of the file system. */
  async names(maySee: RecordingFilter['maySee']): Promise<readonly NamedRecording[]> {
    const named = (await readdir(this.#folder)).map(namedBy).filter((one) => one !== undefined);
    const byName = new Map(named.filter(({ owner }) => maySee(owner)).map((one) => [one.name, one]));
    return [...byName.values()].sort((a, b) => (a.name < b.name ? 1 : -1));
  }

  /** True if this server writes the recording now. */
  isOpen(name: string): boolean {
    return this.#open.has(name);
  }

  /** The finished recording of this name; undefined for every other text. */
  async find(name: string): Promise<StoredRecording | undefined> {
    const file = await this.#fileOf(name);
    if (file === undefined) return undefined;
    const { bytes, complete, named } = file;
    const ending = await this.#endingOf(file).catch(() => undefined);
    if (ending === undefined) return undefined;
    const reason = this.#reasons.get(name);
    const { durationMs } = ending;
    return { ...named, bytes, complete, durationMs, ...(reason === undefined ? {} : { reason }) };
  }

  /** The file of a finished recording. */
  async fileOf(name: string): Promise<string | undefined> {
    return (await this.#fileOf(name))?.path;
  }

  /** False if there is no finished recording of this name. */
  async remove(name: string): Promise<boolean> {
    const file = await this.#fileOf(name);
    if (file === undefined || !(await remove(file))) return false;
    this.#endings.delete(file.path);
    return true;
  }

  /** Removes recordings above the limits and repairs unfinished ones. See Retention. */
  sweep(): Promise<void> {
    return this.#retention.sweep();
  }

  /** Resolves when no sweep is running. */
  close(): Promise<void> {
    return this.#retention.close();
  }

  /** Creates the folder, and a file in it: some file systems refuse no earlier than that. */
  async #check(): Promise<void> {
    const probe = join(this.#folder, `.parley-${process.pid}-${this.#options.unixMs()}`);
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      await access(this.#folder, constants.R_OK | constants.W_OK | constants.X_OK);
      const file = await open(probe, 'wx', 0o600);
      await file.close();
      await unlink(probe);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      const text = `RECORDINGS_DIR=${this.#options.folder} cannot be written (${code ?? message})`;
      throw new ParleyError('CONFIG_INVALID', text, { field: 'RECORDINGS_DIR', cause: error });
    }
  }

  #swept(bytes: number): void {
    const { keepBytes, onExcess } = this.#options;
    this.#finishedBytes = bytes;
    if (keepBytes > 0 && bytes + this.openBytes > keepBytes && this.#open.size > 0) onExcess();
  }

  async #repair({ named, path }: KeptFile): Promise<void> {
    try {
      await repairRecording(path, named.format);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      this.#options.log.warn({ recording: named.name, detail: code ?? message }, 'recording not repaired');
    }
  }

  /** Finished and unfinished files, the oldest first. Empty if the folder cannot be read. */
  async #files(): Promise<readonly KeptFile[]> {
    const entries = await readdir(this.#folder).catch((): string[] => []);
    const names = new Set(entries.map((entry) => namedBy(entry)?.name).filter((name) => name !== undefined));
    const found: KeptFile[] = [];
    for (const name of [...names].toSorted()) {
      const file = await this.#fileOf(name);
      if (file !== undefined) found.push(file);
    }
    return found;
  }

  /** The file of this name that is not being written. The text is compared with the shape of a name first. */
  async #fileOf(name: string): Promise<KeptFile | undefined> {
    const named = readRecordingName(name);
    if (named === undefined || this.#open.has(name)) return undefined;
    for (const suffix of ['', UNFINISHED]) {
      const path = this.pathOf(name) + suffix;
      const state = await lstat(path).catch(() => undefined); // a link is not followed
      if (state?.isFile() !== true) continue;
      const complete = suffix === '';
      const isOurs = this.#reasons.has(name); // so it is known to be over
      if (!complete && !isOurs && Math.abs(this.#options.unixMs() - state.mtimeMs) < LIVE_MS)
        return undefined;
      return { named, path, complete, bytes: state.size, changedMs: state.mtimeMs };
    }
    return undefined;
  }

  async #endingOf({ path, named, bytes: size }: KeptFile): Promise<SoundEnding> {
    const known = this.#endings.get(path);
    if (known?.size === size) return known;
    const ending = await endingOf(path, named.format);
    if (this.#endings.size >= MOST_ENDINGS) this.#endings.clear();
    this.#endings.set(path, { ...ending, size });
    return ending;
  }
}

/** The recording that a file belongs to. */
function namedBy(entry: string): NamedRecording | undefined {
  return readRecordingName(entry.endsWith(UNFINISHED) ? entry.slice(0, -UNFINISHED.length) : entry);
}
