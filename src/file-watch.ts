// Tells when files have changed: at once where the system reports it, and by a
// look every few seconds where it does not (network file systems, containers).
//
// The folders are watched, not the files: a file that is replaced by renaming
// another, or behind a symbolic link, is a different one afterwards.
import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemTime, type Time } from './time.js';

export interface FileWatchOptions {
  /** Milliseconds between two looks. */
  readonly pollMs?: number;
  /** Milliseconds that files written one after the other are given. */
  readonly settleMs?: number;
  readonly time?: Time;
  /** False leaves it to the looks. */
  readonly notified?: boolean;
}

const POLL_MS = 10_000;
const SETTLE_MS = 100;

export class FileWatch {
  readonly #paths: readonly string[];
  readonly #changed: () => void;
  readonly #options: Required<FileWatchOptions>;
  readonly #watchers: FSWatcher[] = [];
  #state: string | undefined;
  #callOffPoll: (() => void) | undefined;
  #callOffLook: (() => void) | undefined;
  #closed = false;

  constructor(paths: readonly string[], changed: () => void, options: FileWatchOptions = {}) {
    this.#paths = paths;
    this.#changed = changed;
    this.#options = { pollMs: POLL_MS, settleMs: SETTLE_MS, time: systemTime, notified: true, ...options };
  }

  /** Resolves once every later change will be told. */
  async open(): Promise<void> {
    this.#state = await stateOf(this.#paths);
    if (this.#closed) return;
    if (this.#options.notified) {
      for (const folder of new Set(this.#paths.map((path) => dirname(path)))) this.#watchFolder(folder);
    }
    this.#pollLater();
  }

  close(): void {
    this.#closed = true;
    for (const watcher of this.#watchers) watcher.close();
    this.#callOffPoll?.();
    this.#callOffLook?.();
  }

  #watchFolder(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#lookSoon());
      watcher.on('error', () => watcher.close());
      this.#watchers.push(watcher);
    } catch {
      // No folder, or no more watchers to be had: the looks go on.
    }
  }

  #lookSoon(): void {
    if (this.#closed || this.#callOffLook !== undefined) return;
    this.#callOffLook = this.#options.time.after(this.#options.settleMs, () => {
      this.#callOffLook = undefined;
      void this.#look();
    });
  }

  #pollLater(): void {
    this.#callOffPoll = this.#options.time.after(this.#options.pollMs, () => {
      void this.#look().then(() => {
        if (!this.#closed) this.#pollLater();
      });
    });
  }

  async #look(): Promise<void> {
    const state = await stateOf(this.#paths);
    if (this.#closed || state === this.#state) return;
    this.#state = state;
    this.#changed();
  }
}

async function stateOf(paths: readonly string[]): Promise<string> {
  const states = paths.map(async (path) => {
    try {
      const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
      return `${ino}/${size}/${mtimeNs}/${ctimeNs}`;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code ?? 'unreadable';
    }
  });
  return (await Promise.all(states)).join(' ');
}
