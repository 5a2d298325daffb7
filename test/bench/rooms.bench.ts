// Rooms of calls: what a member costs, and how long the sound of a talker takes to the others.
//
//   npm run bench -- rooms           rooms of 3, 20 and 100 members, of whom 2, 3 and 4 talk, about 4 minutes
//   npm run bench -- rooms --quick   one room of each size, 1.5 minutes
//
// The server is a process of its own on one processor: a media plane with one mixer. A native program on the
// other one is the far end of all members, whose codecs are G.711, Opus and G.722 in turn; the first one has
// SRTP. Each sends 50 packets a second over UDP, whether it talks or not. The delay is from the moment
// before a packet is sent whose sound begins with a tone, to the place of that tone in what another member
// gets by the kernel's time of arrival. The codecs' own delays are in it, 3 to 8 ms, and so is the jitter
// buffer.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { RoomOrder } from './rooms-server.js';
import { type LoadedMember, RoomLoad, type RoomResult } from './rtp-load.js';
import { machine, type Row, stolenSeconds, table } from './table.js';
import { LOAD_CORE, SERVER_CORE } from './telephone/bench-phone.js';
import { PinnedProgram } from './telephone/pinned-program.js';
import { idleCores } from './telephone/standing-calls.js';

const QUICK = process.argv.includes('--quick');
/** Members, and how many of them talk. */
const ROOMS: readonly (readonly [number, readonly number[]])[] = QUICK
  ? [
      [3, [2]],
      [20, [3]],
      [100, [4]],
    ]
  : [
      [3, [2, 3]],
      [20, [2, 3, 4]],
      [100, [2, 3, 4]],
    ];
const MEASURE_MS = QUICK ? 8000 : 12_000;
const SETTLE_MS = 10_000; // the jitter buffers come back from the first stalls of the server
const SERVER = fileURLToPath(new URL('./rooms-server.js', import.meta.url));
const CODECS = ['pcmu', 'opus', 'g722'] as const;
/** Figures of the media plane. */
const THREADS = { mix: 'parley-join', receive: 'parley-receive', clock: 'parley-clock' } as const;

const memberOf = (n: number, talkers: number): Omit<LoadedMember, 'port'> => ({
  codec: CODECS[n % CODECS.length] ?? 'pcmu',
  secured: n === 0,
  talks: n < talkers,
});

interface Use {
  readonly atMs: number;
  readonly cpu: number;
  readonly stolen: number;
  readonly threads: ReadonlyMap<string, number>;
}

const useOf = (program: PinnedProgram): Use => ({
  atMs: performance.now(),
  cpu: program.cpuSeconds(),
  stolen: stolenSeconds(),
  threads: program.threadSeconds(),
});

async function roomLine(size: number, talkers: number): Promise<Row> {
  const load = await RoomLoad.open();
  // On one processor the threads of the parallel collector keep each other waiting.
  const program = new PinnedProgram(SERVER_CORE, process.execPath, ['--single-threaded-gc', SERVER], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  try {
    await once(program.child, 'message');
    const idle = await idleCores({ program });
    const members = Array.from({ length: size }, (_, n) => memberOf(n, talkers));
    const order: RoomOrder = { members, farPort: load.port };
    program.child.send(order);
    const [loaded] = (await once(program.child, 'message')) as [LoadedMember[]];
    let [from, until] = [useOf(program), useOf(program)];
    const plan = {
      settleMs: SETTLE_MS,
      measureMs: MEASURE_MS,
      onMeasuring: () => void (from = useOf(program)),
      onMeasured: () => void (until = useOf(program)),
    };
    const result = await load.run(loaded, plan);
    return rowOf(size, talkers, idle, result, from, until);
  } finally {
    load.close();
    program.child.disconnect();
    await program.close();
  }
}

function rowOf(
  size: number,
  talkers: number,
  idle: number,
  { sent, received, dropped, bursts, heard, delayMs }: RoomResult,
  from: Use,
  until: Use,
): Row {
  const seconds = (until.atMs - from.atMs) / 1000;
  const cores = (until.cpu - from.cpu) / seconds;
  const threadOf = (name: string) =>
    (100 * ((until.threads.get(name) ?? 0) - (from.threads.get(name) ?? 0))) / seconds;
  return {
    members: size,
    talk: talkers,
    'core %': 100 * cores,
    '% of a core a member': ((100 * (cores - idle)) / size).toFixed(3),
    ...Object.fromEntries(Object.entries(THREADS).map(([name, thread]) => [`${name} %`, threadOf(thread)])),
    'delay p50 ms': delayMs.p50,
    'delay p99 ms': delayMs.p99,
    'delay max ms': delayMs.max,
    'heard %': (100 * heard) / bursts,
    'packets out/in %': (100 * received) / sent,
    'load dropped': dropped,
    'stolen %': (100 * (until.stolen - from.stolen)) / seconds,
  };
}

async function main(): Promise<void> {
  if (availableParallelism() < 2) throw new Error('this bench wants two processors');
  spawnSync('taskset', ['-apc', LOAD_CORE, String(process.pid)]);
  console.log(`${machine()}\n`);
  const rows: Row[] = [];
  for (const [size, all] of ROOMS) for (const talkers of all) rows.push(await roomLine(size, talkers));
  console.log(`Rooms of three codecs\n\n${table(rows)}\n`);
}

await main();
