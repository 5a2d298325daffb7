// Reports changes of files: at once if the system notifies, otherwise by polling every few seconds (network
// file systems, containers). It watches the folders, because a file replaced by renaming or behind a symbolic
// link is another file.
import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemTime, type Time } from '../time.js';

export interface FileWatchOptions {
  /** Milliseconds between two polls. */
  readonly pollMs?: number;
  /** Milliseconds to wait after a notification, for files that are written one after the other. */
  readonly settleMs?: number;
  readonly time?: Time;
  /** False polls only. */
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
  #cancelPoll: (() => void) | undefined;
  #cancelLook: (() => void) | undefined;
  #closed = false;

  constructor(paths: readonly string[], changed: () => void, options: FileWatchOptions = {}) {
    this.#paths = paths;
    this.#changed = changed;
    this.#options = { pollMs: POLL_MS, settleMs: SETTLE_MS, time: systemTime, notified: true, ...options };
  }

  /** Resolves when every later change will be reported. */
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
    this.#cancelPoll?.();
    this.#cancelLook?.();
  }

  #watchFolder(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#lookSoon());
      watcher.on('error', () => watcher.close());
      this.#watchers.push(watcher);
    } catch {
      // No folder, or no more watchers available: polling goes on.
    }
  }

  #lookSoon(): void {
    if (this.#closed || this.#cancelLook !== undefined) return;
    this.#cancelLook = this.#options.time.after(this.#options.settleMs, () => {
      this.#cancelLook = undefined;
      void this.#look();
    });
  }

  #pollLater(): void {
    this.#cancelPoll = this.#options.time.after(this.#options.pollMs, () => {
      // Polling goes on after a defect of `changed`, which is reported as an unhandled rejection.
      void this.#look().finally(() => {
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
