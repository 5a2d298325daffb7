// Returns memory to the operating system while the server is idle.
//
//   work ──▶ a quiet interval: collect garbage ──▶ another: trim the heap ──▶ nothing until the next work
//
// Node.js collects garbage as it allocates, so an idle server keeps the sound of the last requests. glibc
// keeps what is freed for later. Both steps may stop the main thread for tenths of a second, so they wait
// until no call stands and nothing is being spoken. The second step comes later because V8 frees buffers in
// the background.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { loadAddon } from '../addon.js';
import type { Time } from '../time.js';

interface IdleMemoryParts {
  readonly time: Time;
  /** Pieces of sound begun so far: memory is returned once after some were. */
  readonly begun: () => number;
  /** True if nothing is being spoken and no call stands. */
  readonly isIdle: () => boolean;
  readonly collect: () => void;
  readonly trim: () => void;
}

const INTERVAL_MS = 3000; // a server that is asked more often never stops for it

export class IdleMemory {
  readonly #parts: IdleMemoryParts;
  #begun = 0;
  #steps: (() => void)[] = [];
  #cancelTimer: () => void = () => undefined;

  constructor(parts: IdleMemoryParts) {
    this.#parts = parts;
    this.#begun = parts.begun();
    this.#wait();
  }

  /** Idempotent. */
  close(): void {
    this.#cancelTimer();
  }

  #wait(): void {
    this.#cancelTimer = this.#parts.time.after(INTERVAL_MS, () => {
      this.#look();
      this.#wait();
    });
  }

  #look(): void {
    const { begun, isIdle, collect, trim } = this.#parts;
    const now = begun();
    if (now !== this.#begun) {
      this.#begun = now;
      this.#steps = [collect, trim];
    } else if (isIdle()) this.#steps.shift()?.();
  }
}

/** Node.js' own collection, which programs are given only with a flag. */
export function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose-gc');
  return () => collect();
}

/** Gives back what the C library keeps for later. False if that is not glibc, which alone offers it. */
export function trimHeap(): boolean {
  return loadAddon<{ trimHeap(): boolean }>().trimHeap();
}
