// Keeps the files of a folder within an age and a total size: it removes the oldest first. Recordings and
// packet captures use it, each with its own rules about which files are theirs.
import { unlink } from 'node:fs/promises';
import type { Time } from '../time.js';

export interface RetainedFile {
  readonly path: string;
  readonly bytes: number;
  readonly changedMs: number;
}

export interface RetentionLimits {
  /** Milliseconds after its last change for which a file is kept; 0: for ever. */
  readonly keepMs: number;
  /** Bytes of all files together; 0: no limit. */
  readonly keepBytes: number;
  readonly time: Time;
  /** Milliseconds since 1970. */
  readonly unixMs: () => number;
}

interface RetentionRules<File extends RetainedFile> {
  /** The files of the folder, the oldest first. */
  readonly files: () => Promise<readonly File[]>;
  /** True for a file that counts, and must stay: it is being written. */
  readonly isOpen?: (file: File) => boolean;
  /** Bytes that count beside those of the files. */
  readonly openBytes?: () => number;
  readonly removed: (file: File) => void;
  /** Called for each file that stays. */
  readonly kept?: (file: File) => Promise<void>;
  /** Called at the end of a sweep, with the bytes of the files that stay. */
  readonly swept?: (bytes: number) => void;
}

const SWEEP_MS = 600_000;

export class Retention<File extends RetainedFile> {
  readonly #limits: RetentionLimits;
  readonly #rules: RetentionRules<File>;
  #sweeping: Promise<void> | undefined;
  #again = false;
  #closed = false;
  #cancelTimer = (): void => undefined;

  constructor(limits: RetentionLimits, rules: RetentionRules<File>) {
    this.#limits = limits;
    this.#rules = rules;
  }

  /** Sweeps after so many milliseconds, ten minutes if absent, and every ten minutes from then on. */
  start(ms = SWEEP_MS): void {
    if (this.#closed) return;
    this.#cancelTimer = this.#limits.time.after(ms, () => {
      void this.sweep();
      this.start();
    });
  }

  /**
   * Removes files above the limits; resolves when done. Requests during a sweep are combined into one more
   * sweep.
   */
  sweep(): Promise<void> {
    if (this.#sweeping !== undefined) this.#again = true;
    this.#sweeping ??= this.#run().finally(() => (this.#sweeping = undefined));
    return this.#sweeping;
  }

  /** Resolves when no sweep is running. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelTimer();
    await this.#sweeping;
  }

  async #run(): Promise<void> {
    do {
      this.#again = false;
      await this.#sweepOnce();
    } while (this.#again && !this.#closed);
  }

  async #sweepOnce(): Promise<void> {
    const { keepMs, keepBytes, unixMs } = this.#limits;
    const { files, isOpen, openBytes = () => 0, removed, kept, swept } = this.#rules;
    const found = await files();
    const oldestMs = keepMs === 0 ? -Infinity : unixMs() - keepMs;
    const mostBytes = keepBytes === 0 ? Infinity : keepBytes;
    let bytes = found.reduce((sum, file) => sum + file.bytes, 0);
    for (const file of found) {
      if (this.#closed) return;
      const isWithin = file.changedMs > oldestMs && bytes + openBytes() <= mostBytes;
      if (isWithin || isOpen?.(file) === true || !(await remove(file))) {
        await kept?.(file);
        continue;
      }
      bytes -= file.bytes;
      removed(file);
    }
    swept?.(bytes);
  }
}

/** Resolves with false if another program removed the file before, or its owner forbids it. */
export async function remove({ path }: Pick<RetainedFile, 'path'>): Promise<boolean> {
  return unlink(path).then(
    () => true,
    () => false,
  );
}
