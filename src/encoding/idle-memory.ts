// Returns memory to the operating system while the server is idle.
//
//   work ──▶ a quiet interval: collect garbage ──▶ another: trim the heap ──▶ nothing until the next work
//
// Node.js collects garbage as it allocates, so an idle server keeps the sound of the last requests, in each
// thread. V8 keeps the pages of its heap, and glibc keeps what is freed for later. Both steps may stop the
// main thread for tenths of a second, so they wait until no call stands and nothing is being spoken. The
// second step comes later because V8 frees buffers in the background.
import { Session } from 'node:inspector';
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

/** Returns the function that ends it. */
export function returnMemoryWhenIdle(
  encoders: { readonly opened: number; readonly sessions: readonly number[] },
  calls: { readonly size: number },
  time: Time,
): () => void {
  const memory = new IdleMemory({
    time,
    begun: () => encoders.opened,
    isIdle: () => calls.size === 0 && encoders.sessions.every((sessions) => sessions === 0),
    collect: collectEverywhere,
    trim: trimHeap,
  });
  return () => memory.close();
}

/** Name of the channel that tells the workers of this process to collect their garbage. */
const CHANNEL = 'parley collects garbage';

/** This thread's inspector. It stays connected: a session that disconnects in its answer hangs Node.js 20. */
let inspector: Session | undefined;

/**
 * Collects all garbage of this thread, in its next turn, and returns the pages of its heap. The inspector's
 * command is used because `gc` of --expose-gc keeps the pages.
 */
export function collectGarbage(): Promise<void> {
  if (inspector === undefined) {
    inspector = new Session();
    inspector.connect();
  }
  const session = inspector;
  return new Promise((resolve) => session.post('HeapProfiler.collectGarbage', () => resolve()));
}

/** Collects the garbage of this thread and of every worker that called `collectWithOthers`. */
export function collectEverywhere(): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage(undefined);
  channel.close();
  void collectGarbage();
}

/** For a worker: its garbage is collected with that of the main thread. Does not keep the thread alive. */
export function collectWithOthers(): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = () => void collectGarbage();
  channel.unref();
}

/** Gives back what the C library keeps for later. False if that is not glibc, which alone offers it. */
export function trimHeap(): boolean {
  return loadAddon<{ trimHeap(): boolean }>().trimHeap();
}
