// Resources held by this process: event loop resources by kind, threads, open files, and native streams.
import { readdirSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';

type Holdings = Readonly<Record<string, number>>;

interface Native {
  readonly plane: { stats(): { readonly streams: number } };
  readonly switchboard: { readonly size: number };
}

export function holdings({ plane, switchboard }: Native): Holdings {
  const held: Record<string, number> = {
    threads: readdirSync('/proc/self/task').length,
    files: readdirSync('/proc/self/fd').length,
    streams: plane.stats().streams,
    calls: switchboard.size,
  };
  for (const kind of process.getActiveResourcesInfo()) held[kind] = (held[kind] ?? 0) + 1;
  return held;
}

/** Resources beyond `before`, by kind; empty if nothing is left over. */
export function excess(before: Holdings, now: Holdings): Holdings {
  const more = Object.entries(now).map(([kind, count]) => [kind, count - (before[kind] ?? 0)] as const);
  return Object.fromEntries(more.filter(([, count]) => count > 0));
}

const LOOK_EVERY_MS = 250;

/** Looks until nothing is left over, at most for `withinMs`; then says what still is. */
export async function leftOver(before: Holdings, native: Native, withinMs: number): Promise<Holdings> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const more = excess(before, holdings(native));
    if (Object.keys(more).length === 0 || performance.now() > deadline) return more;
    await sleep(LOOK_EVERY_MS);
  }
}

/**
 * Resources held once no call is open and one second has passed without a change. Rejects after `withinMs`.
 */
export async function settled(native: Native, withinMs: number): Promise<Holdings> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const before = holdings(native);
    await sleep(1000);
    const now = holdings(native);
    if (now['calls'] === 0 && isDeepStrictEqual(before, now)) return now;
    if (performance.now() > deadline) throw new Error(`still changing: ${JSON.stringify([before, now])}`);
  }
}
