// Keeps the folder of capture files within an age and a total size. It removes only files with its own
// naming, the oldest first, and none that is open.
import { createHash } from 'node:crypto';
import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Time } from '../../src/time.js';

interface CaptureFolderOptions {
  readonly folder: string;
  /** Retention in milliseconds after the last packet; 0 keeps files forever. */
  readonly keepMs: number;
  /** Total size in bytes; 0 means unlimited. */
  readonly keepBytes: number;
  readonly isOpen: (path: string) => boolean;
  readonly time: Time;
  /** Wall clock in milliseconds since 1970. */
  readonly unixMs: () => number;
}

interface KeptFile {
  readonly path: string;
  readonly bytes: number;
  readonly changedMs: number;
}

const NAME = /^\d{8}T\d{9}Z-[0-9a-f]{16}\.pcap$/;
const SWEEP_MS = 600_000;

/** File name of a call: time and a hash of the Call-ID, without text from a peer. */
export function captureName(callId: string, unixMs: number): string {
  const time = new Date(unixMs).toISOString().replace(/[-:.]/g, '');
  return `${time}-${createHash('sha256').update(callId).digest('hex').slice(0, 16)}.pcap`;
}

export class CaptureFolder {
  readonly #options: CaptureFolderOptions;
  #sweeping: Promise<void> | undefined;
  #again = false;
  #closed = false;
  #cancelTimer = (): void => undefined;
  #removed = 0;

  constructor(options: CaptureFolderOptions) {
    this.#options = options;
  }

  /** Number of removed files. */
  get removed(): number {
    return this.#removed;
  }

  /** Sweeps now and every ten minutes if there is a limit. */
  start(): void {
    const { keepMs, keepBytes, time } = this.#options;
    if (this.#closed || (keepMs === 0 && keepBytes === 0)) return;
    void this.sweep();
    this.#cancelTimer = time.after(SWEEP_MS, () => this.start());
  }

  /**
   * Removes files above the limits; resolves when done. Requests during a sweep are combined into one more
   * sweep.
   */
  sweep(): Promise<void> {
    const { keepMs, keepBytes } = this.#options;
    if (keepMs === 0 && keepBytes === 0) return Promise.resolve();
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
    const { keepMs, keepBytes, isOpen, unixMs } = this.#options;
    const files = await this.#files();
    let bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    const oldestMs = keepMs === 0 ? -Infinity : unixMs() - keepMs;
    const mostBytes = keepBytes === 0 ? Infinity : keepBytes;
    for (const file of files) {
      if (this.#closed) return;
      if (isOpen(file.path) || (file.changedMs > oldestMs && bytes <= mostBytes)) continue;
      const gone = await unlink(file.path).then(
        () => true,
        () => false,
      );
      if (!gone) continue; // another program has removed it, or its owner forbids it
      bytes -= file.bytes;
      this.#removed++;
    }
  }

  /** Sorted by name, which begins with the time: the oldest first. */
  async #files(): Promise<readonly KeptFile[]> {
    const { folder } = this.#options;
    const names = await readdir(folder).catch((): string[] => []);
    const found: KeptFile[] = [];
    for (const name of names.filter((one) => NAME.test(one)).toSorted()) {
      const path = join(folder, name);
      const state = await stat(path).catch(() => undefined);
      if (state?.isFile() === true) found.push({ path, bytes: state.size, changedMs: state.mtimeMs });
    }
    return found;
  }
}
