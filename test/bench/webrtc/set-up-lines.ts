// Lines of the bench webrtc about calls that are set up and end.
import { spreadOf } from '../arrivals.js';
import { type Row, stolenSeconds } from '../table.js';
import type { BenchCallServer } from './bench-call-server.js';
import { type BenchProgram, busySeconds, SERVER_CORE } from './bench-program.js';
import type { SetUpPlan, SetUpResult } from './client-messages.js';

/** The cost of a set-up has the end of the call in it, but not what the server uses without calls. */
export async function setUpLine(
  server: BenchCallServer,
  clients: BenchProgram,
  plan: Omit<SetUpPlan, 'type' | 'url'>,
): Promise<Row> {
  await server.begin();
  const [main, stolen, busy] = [server.mainSeconds(), stolenSeconds(), busySeconds(SERVER_CORE)];
  const result = await clients.ask<SetUpResult>({ type: 'set-up', url: server.url, ...plan });
  const { cpuMs } = await server.figures();
  const others = busySeconds(SERVER_CORE) - busy - cpuMs / 1000;
  const mainMs = 1000 * (server.mainSeconds() - main);
  const { answerMs, readyMs, audibleMs, failed, seconds } = result;
  if (failed > 0) console.error(`${failed} calls failed, the first one: ${result.failure}`);
  await server.empty();
  const [answer, ready, audible] = [answerMs, readyMs, audibleMs].map(spreadOf);
  const calls = readyMs.length;
  const cpuOfCalls = cpuMs - server.idle.cores * 1000 * seconds;
  return {
    calls,
    failed,
    'answer p50': answer?.p50 ?? NaN,
    'ready p50': ready?.p50 ?? NaN,
    'ready p95': ready?.p95 ?? NaN,
    'ready p99': ready?.p99 ?? NaN,
    'audible p50': orDash(audible?.p50),
    'audible p95': orDash(audible?.p95),
    'audible p99': orDash(audible?.p99),
    'CPU ms a set-up': cpuOfCalls / calls,
    'of it main thread': (mainMs - server.idle.mainCores * 1000 * seconds) / calls,
    'set-ups/s': calls / seconds,
    'set-ups/s per core': (1000 * calls) / cpuOfCalls,
    'server core %': cpuMs / seconds / 10,
    'other programs on it %': Math.max(0, (100 * others) / seconds),
    'client core %': result.cpuMs / seconds / 10,
    'stolen %': (100 * (stolenSeconds() - stolen)) / seconds,
  };
}

function orDash(value: number | undefined): number | string {
  return value === undefined || Number.isNaN(value) ? '–' : value;
}

/** The rounds of one line as one row: the median of each number, the sum of the calls. */
export function medianOf(rounds: readonly Row[]): Row {
  const [first = {}] = rounds;
  return Object.fromEntries(
    Object.entries(first).map(([column, value]) => {
      const numbers = rounds.map((row) => row[column]).filter((cell) => typeof cell === 'number');
      if (numbers.length < rounds.length) return [column, value];
      if (column === 'calls' || column === 'failed')
        return [column, numbers.reduce((sum, one) => sum + one, 0)];
      return [column, spreadOf(numbers).p50];
    }),
  );
}
