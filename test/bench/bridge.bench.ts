// Bridges of two calls: what a leg costs, and how long a packet takes from one far end to the other.
//
//   npm run bench -- bridge           100, 300 and 500 bridges, about 4 minutes
//   npm run bench -- bridge --quick   20 and 100 bridges, about 1 minute
//
// Each server is a process of its own on one processor. A native program on the other one is the far end of
// all calls: G.711, 50 packets a second each way. The delay is from the moment before a packet is sent to the
// kernel's time of its arrival from the other call. rtpengine relays the same streams in user space, and
// Parley speaks to as many calls as the largest line has bridges, from cached frames.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { BridgeOrder } from './bridge-server.js';
import { type LoadedCall, type LoadResult, RtpLoad } from './rtp-load.js';
import { machine, type Row, stolenSeconds, table } from './table.js';
import { LOAD_CORE, SERVER_CORE } from './telephone/bench-phone.js';
import { openRtpengine } from './telephone/media-rivals.js';
import { PinnedProgram } from './telephone/pinned-program.js';
import { idleCores, standingLine } from './telephone/standing-calls.js';

const QUICK = process.argv.includes('--quick');
const BRIDGES = QUICK ? [20, 100] : [100, 300, 500];
const MEASURE_MS = QUICK ? 5000 : 8000;
const SETTLE_MS = 2000;
const SERVER = fileURLToPath(new URL('./bridge-server.js', import.meta.url));

/** SRTP of the two calls of a bridge. */
const PLAIN: Secured = { name: 'none', secured: [false, false] };
const WAYS: readonly Secured[] = [
  PLAIN,
  { name: 'one side', secured: [true, false] },
  { name: 'both sides', secured: [true, true] },
];

interface Secured {
  readonly name: string;
  readonly secured: BridgeOrder['secured'];
}

interface Cost {
  readonly cores: number;
  readonly idle: number;
  readonly residentMb: number;
  readonly stolen: number;
  readonly result: LoadResult;
}

/** Figures of a program for these calls. */
async function costOf(
  program: PinnedProgram,
  idle: number,
  load: RtpLoad,
  calls: readonly LoadedCall[],
): Promise<Cost> {
  let [cpu, stolen, fromMs] = [0, 0, 0];
  const begin = (): void => {
    [cpu, stolen, fromMs] = [program.cpuSeconds(), stolenSeconds(), performance.now()];
  };
  const plan = { settleMs: SETTLE_MS, measureMs: MEASURE_MS, onMeasuring: begin };
  const result = await load.run(calls, plan);
  const seconds = (performance.now() - fromMs) / 1000;
  return {
    cores: (program.cpuSeconds() - cpu) / seconds,
    idle,
    residentMb: program.residentMb(),
    stolen: (stolenSeconds() - stolen) / seconds,
    result,
  };
}

function rowOf(name: string, way: string, calls: number, cost: Cost): Row {
  const { cores, idle, residentMb, stolen, result } = cost;
  return {
    bridge: name,
    SRTP: way,
    bridges: calls / 2,
    'core %': 100 * cores,
    '% of a core a leg': ((100 * (cores - idle)) / calls).toFixed(3),
    'delay p50 ms': result.delayMs.p50,
    'delay p99 ms': result.delayMs.p99,
    'delay max ms': result.delayMs.max,
    'lost %': (100 * (result.sent - result.received)) / result.sent,
    'load dropped': result.dropped,
    'RSS MB': residentMb,
    'stolen %': 100 * stolen,
  };
}

async function relayLine(bridges: number, { name, secured }: Secured): Promise<Row> {
  const load = await RtpLoad.open();
  // On one processor the threads of the parallel collector keep each other waiting.
  const program = new PinnedProgram(SERVER_CORE, process.execPath, ['--single-threaded-gc', SERVER], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  try {
    await once(program.child, 'message');
    const idle = await idleCores({ program });
    const order: BridgeOrder = { bridges, farPort: load.port, secured };
    program.child.send(order);
    const [calls] = (await once(program.child, 'message')) as [LoadedCall[]];
    return rowOf('Parley, relay', name, calls.length, await costOf(program, idle, load, calls));
  } finally {
    load.close();
    program.child.disconnect();
    await program.close();
  }
}

async function rtpengineLine(bridges: number): Promise<Row> {
  const load = await RtpLoad.open();
  const rival = await openRtpengine();
  try {
    const idle = await idleCores(rival);
    const calls: LoadedCall[] = [];
    for (let n = 0; n < bridges; n++) {
      for (const port of await rival.bridge(`bridge-${n}`, load.port)) calls.push({ port, secured: false });
    }
    const cost = await costOf(rival.program, idle, load, calls);
    return rowOf('rtpengine 10.5, user space', PLAIN.name, calls.length, cost);
  } finally {
    load.close();
    await rival.close();
  }
}

async function main(): Promise<void> {
  if (availableParallelism() < 2) throw new Error('this bench wants two processors');
  spawnSync('taskset', ['-apc', LOAD_CORE, String(process.pid)]);
  console.log(`${machine()}\n`);
  const rows: Row[] = [];
  for (const bridges of BRIDGES) {
    for (const way of WAYS) rows.push(await relayLine(bridges, way));
    rows.push(await rtpengineLine(bridges));
  }
  console.log(`Relay\n\n${table(rows)}\n`);
  const calls = Math.max(...BRIDGES);
  const cached = await standingLine({ name: 'cached', calls, measureMs: MEASURE_MS });
  console.log(`Calls that hear a cached prompt\n\n${table([cached])}\n`);
}

await main();
