// Lines of the bench webrtc about thousands of calls that come and go: the server must stay as it was.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Row } from '../table.js';
import type { BenchCallServer } from './bench-call-server.js';
import type { BenchProgram } from './bench-program.js';
import type { TurnoverResult } from './client-messages.js';

const AT_ONCE = 4; // calls that are set up at once
const SETTLE_MS = 10_000; // what ended calls hold for some seconds is freed
const COUNTS = ['threads', 'descriptors'] as const;
const MEMORIES = ['V8 heap MB', 'native MB', 'RSS MB'] as const;
const GROWTH = 1.1;

interface TurnoverPlan {
  readonly calls: number;
  /** Calls in one line. */
  readonly part: number;
  /** Calls that are open at a time. */
  readonly standing: number;
}

/** One line at the start and one for each part. Its figures are those of the server when no call is open. */
export async function turnoverLines(
  server: BenchCallServer,
  clients: BenchProgram,
  { calls, part, standing }: TurnoverPlan,
): Promise<Row[]> {
  const turnOver = (count: number) =>
    clients.ask<TurnoverResult>({
      type: 'turn-over',
      url: server.url,
      calls: count,
      standing,
      atOnce: AT_ONCE,
    });
  await turnOver(2 * standing); // what the most calls need stays allocated
  let misses = await server.misses();
  const rows = [await lineOf(server, 0)];
  for (let done = part; done <= calls; done += part) {
    await server.begin();
    const turned = await turnOver(part);
    const missesNow = await server.misses();
    const result = { ...turned, notCached: missesNow - misses };
    misses = missesNow;
    if (result.failed > 0) console.error(`${result.failed} calls failed, the first one: ${result.failure}`);
    rows.push(await lineOf(server, done, result));
  }
  return rows;
}

async function lineOf(
  server: BenchCallServer,
  calls: number,
  result?: TurnoverResult & { readonly notCached: number },
): Promise<Row> {
  await server.idled();
  const { packets, underruns, sendErrors } = await server.figures();
  await sleep(SETTLE_MS);
  await server.collect();
  const { threads, descriptors, heapMb, nativeMb, residentMb } = await server.figures();
  return {
    calls,
    failed: result?.failed ?? 0,
    refused: result?.refused ?? 0,
    'calls/s': result === undefined ? '–' : result.done / result.seconds,
    threads,
    descriptors,
    'V8 heap MB': heapMb,
    'native MB': nativeMb,
    'RSS MB': residentMb,
    packets: result === undefined ? '–' : packets,
    missing: result?.missing ?? 0,
    'sentences not cached': result?.notCached ?? 0,
    underruns: result === undefined ? 0 : underruns,
    'send errors': result === undefined ? 0 : sendErrors,
  };
}

/**
 * The figures that are not flat, in words: a count that grew since the start, a memory that grew by more than
 * a tenth in the second half.
 */
export function growthOf(rows: readonly Row[]): string[] {
  const [first, middle, last] = [rows[0], rows[Math.floor(rows.length / 2)], rows.at(-1)];
  const grown = (name: string, from: Row | undefined, factor: number): string[] => {
    const [before, after] = [Number(from?.[name]), Number(last?.[name])];
    return after > factor * before ? [`${name}: ${before} became ${after}`] : [];
  };
  return [
    ...COUNTS.flatMap((name) => grown(name, first, 1)),
    ...MEMORIES.flatMap((name) => grown(name, middle, GROWTH)),
  ];
}
