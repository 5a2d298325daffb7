// Tells the watchers of a native object, in this thread, that it became ready.
//
// The addon calls back once per thread and batch with every handle that is ready. All watchers of a handle
// are called. A callback must check its object again, because readiness is only a hint. Watching keeps
// neither the process nor the worker alive.
import { loadAddon } from '../addon.js';
import { attempt } from '../errors.js';

interface ReadyAddon {
  onReady(callback: (handles: readonly number[]) => void): void;
}

const watchers = new Map<number, Set<() => void>>();
let listening = false;

/** The work of a callback that throws. A callback that can end its own work does so itself. */
const WATCH = { work: 'ring or playout' };

function dispatch(handles: readonly number[]): void {
  for (const handle of handles) {
    // A copy: a callback that watches again is not called again in this batch.
    const callbacks = Array.from(watchers.get(handle) ?? []);
    for (const callback of callbacks) attempt(WATCH, callback);
  }
}

/** Calls back whenever the handle becomes ready, until unwatched; the owner of the watch arms it natively. */
export function watchReady(handle: number, callback: () => void): void {
  if (!listening) {
    loadAddon<ReadyAddon>().onReady(dispatch);
    listening = true;
  }
  const present = watchers.get(handle);
  if (present === undefined) watchers.set(handle, new Set([callback]));
  else present.add(callback);
}

/** Ends one watch, or every watch of the handle in this thread. Idempotent. */
export function unwatchReady(handle: number, callback?: () => void): void {
  const present = watchers.get(handle);
  if (callback !== undefined) present?.delete(callback);
  if (callback === undefined || present?.size === 0) watchers.delete(handle);
}

/** Handles watched in this thread: what a leak test counts. */
export function watchedHandles(): number {
  return watchers.size;
}
