// Lines of the bench webrtc about calls that stand and are spoken to all the time.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Row, stolenSeconds } from '../table.js';
import type { BenchCallServer } from './bench-call-server.js';
import { type BenchProgram, busySeconds, SERVER_CORE } from './bench-program.js';
import type { Standing } from './client-messages.js';

const AT_ONCE = 4; // calls that are set up at once
const SETTLE_MS = 2000;
const PACKETS_PER_S = 50;
const SPARE = 1.2;
const KB_PER_MB = 1024;

interface StandingPlan {
  readonly calls: number;
  readonly measureMs: number;
}

export async function standingLine(
  server: BenchCallServer,
  clients: BenchProgram,
  { calls, measureMs }: StandingPlan,
): Promise<Row> {
  await server.collect();
  const empty = await server.figures();
  const opened = await clients.ask<Standing>({ type: 'stand', url: server.url, calls, atOnce: AT_ONCE });
  await sleep(SETTLE_MS);
  await server.collect();
  const full = await server.figures();
  await server.begin(Math.round(((calls * PACKETS_PER_S * measureMs) / 1000) * SPARE));
  const before = await clients.ask<Standing>({ type: 'standing' });
  const [main, stolen, busy] = [server.mainSeconds(), stolenSeconds(), busySeconds(SERVER_CORE)];
  const fromMs = performance.now();
  await sleep(measureMs);
  const seconds = (performance.now() - fromMs) / 1000;
  const [mainCores, stolenShare, busyShare] = [
    (server.mainSeconds() - main) / seconds,
    (stolenSeconds() - stolen) / seconds,
    (busySeconds(SERVER_CORE) - busy) / seconds,
  ];
  const after = await clients.ask<Standing>({ type: 'standing' });
  if (after.failed > 0) console.error(`${after.failed} calls failed, the first one: ${after.failure}`);
  const figures = await server.figures(); // after the clients', because it sorts the packets' times
  const cores = figures.cpuMs / figures.elapsedMs;
  await clients.ask({ type: 'drop' });
  await server.empty();
  const perCall = (value: number) => value / opened.open;
  return {
    calls: after.open,
    failed: after.failed,
    'core %': 100 * cores,
    'idle %': 100 * server.idle.cores,
    '% of a core a call': perCall(100 * (cores - server.idle.cores)),
    'main thread %': 100 * mainCores,
    'RSS kB a call': perCall(KB_PER_MB * (full.residentMb - empty.residentMb)),
    'V8 heap kB a call': perCall(KB_PER_MB * (full.heapMb - empty.heapMb)),
    'native kB a call': perCall(KB_PER_MB * (full.nativeMb - empty.nativeMb)),
    'descriptors a call': perCall(full.descriptors - empty.descriptors),
    threads: full.threads,
    'sent/s a call': perCall((1000 * figures.packets) / figures.elapsedMs),
    'received/s a call': perCall((after.packets - before.packets) / seconds),
    'skipped ticks': figures.skippedTicks,
    'late p50': figures.late.p50,
    'late p99': figures.late.p99,
    'late max': figures.late.max,
    underruns: figures.underruns,
    missing: after.missing,
    'other programs on it %': 100 * Math.max(0, busyShare - cores),
    'client core %': after.cpuMs / seconds / 10,
    'stolen %': 100 * stolenShare,
  };
}
