// Browser calls against the whole server: how fast they are set up, what they cost while they stand, and the
// same for libdatachannel. Then thousands of calls come and go, and the server must stay as it was.
//
//   npm run bench -- webrtc           all tables, about 15 minutes
//   npm run bench -- webrtc --quick   the same, smaller, about 5 minutes
//   npm run bench -- webrtc set-up    one table: set-up, load, standing, turnover
//
// The server is a process of its own on one processor; the clients are one on the other. "Ready" is the
// first RTP packet at the client, which follows ICE and DTLS; for a client with a data channel it is the
// message `ready`. "Audible" is the first packet that is not the codec's silence. Both count from the offer.
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { machine, type Row, table } from '../table.js';
import { BenchCallServer, type ServerKind } from './bench-call-server.js';
import { BenchProgram, CLIENT_CORE } from './bench-program.js';
import { medianOf, setUpLine } from './set-up-lines.js';
import { standingLine } from './standing-lines.js';
import { growthOf, turnoverLines } from './turnover-lines.js';

const QUICK = process.argv.includes('--quick');
const WANTED = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const ROUNDS = QUICK ? 1 : 3;
const CALLS = QUICK ? [50, 200] : [50, 200, 400];
const SYNTHESISED_CALLS = QUICK ? [10] : [10, 30];
const MEASURE_MS = QUICK ? 4000 : 10_000;
const TURNOVER = QUICK ? { calls: 400, part: 100, standing: 25 } : { calls: 4000, part: 1000, standing: 75 };
const WARM_UP_S = QUICK ? 3 : 5;

interface Lane {
  readonly name: string;
  readonly kind: ServerKind;
  readonly clients: 'light' | 'datachannel';
  readonly until: 'ready' | 'audible';
  /** The frames of what is spoken must be cached. */
  readonly cached?: boolean;
}

const ONE_BY_ONE: readonly Lane[] = [
  { name: 'none', kind: 'silent', clients: 'light', until: 'ready' },
  { name: 'cached frames', kind: 'cached', clients: 'light', until: 'audible', cached: true },
  { name: 'prepared PCM, encoded live', kind: 'prepared', clients: 'light', until: 'audible' },
  { name: 'synthesised live (flite)', kind: 'synthesised', clients: 'light', until: 'audible' },
  {
    name: 'cached frames, by data channel',
    kind: 'silent',
    clients: 'datachannel',
    until: 'audible',
    cached: true,
  },
  { name: 'prepared packets', kind: 'rival', clients: 'light', until: 'audible' },
];

/** Offers one after another; the rounds of all lanes alternate. */
async function oneByOne(): Promise<Row[]> {
  const calls = QUICK ? 30 : 50;
  const rounds = new Map<Lane, Row[]>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const lane of ONE_BY_ONE) {
      const row = await withPrograms(lane, (server, clients) =>
        setUpLine(server, clients, { until: lane.until, calls, atOnce: 1 }),
      );
      const labelled = { server: serverName(lane), client: lane.clients, speech: lane.name, ...row };
      rounds.set(lane, [...(rounds.get(lane) ?? []), labelled]);
      console.error(table([labelled]));
    }
  }
  return [...rounds.values()].map(medianOf);
}

const LOADS = [
  { name: '8 at once', calls: 100_000, atOnce: 8, seconds: QUICK ? 4 : 10 },
  { name: '20 offers/s', calls: QUICK ? 80 : 200, perSecond: 20 },
  { name: '50 offers/s', calls: QUICK ? 200 : 500, perSecond: 50 },
  { name: '100 at one moment', calls: 100, perSecond: 1e6 },
] as const;

async function load(): Promise<Row[]> {
  const rounds = new Map<string, Row[]>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const kind of ['silent', 'rival'] as const) {
      const lane: Lane = { name: 'none', kind, clients: 'light', until: 'ready' };
      await withPrograms(lane, async (server, clients) => {
        for (const { name, ...plan } of LOADS) {
          const row = await setUpLine(server, clients, { until: 'ready', ...plan });
          const labelled = { server: serverName(lane), load: name, ...row };
          const key = `${kind} ${name}`;
          rounds.set(key, [...(rounds.get(key) ?? []), labelled]);
          console.error(table([labelled]));
        }
      });
    }
  }
  return [...rounds.values()].map(medianOf);
}

async function standing(): Promise<Row[]> {
  const lanes: readonly [ServerKind, readonly number[]][] = [
    ['cached', CALLS],
    ['prepared', CALLS],
    ['synthesised', SYNTHESISED_CALLS],
    ['rival', CALLS],
  ];
  const rows: Row[] = [];
  for (const [kind, sizes] of lanes) {
    const lane = ONE_BY_ONE.find((one) => one.kind === kind);
    if (lane === undefined) continue;
    for (const calls of sizes) {
      const row = await withPrograms(lane, (server, clients) =>
        standingLine(server, clients, { calls, measureMs: MEASURE_MS }),
      );
      rows.push({ server: serverName(lane), speech: lane.name, ...row });
      console.error(table(rows.slice(-1)));
    }
  }
  return rows;
}

/** Ends the bench with status 1 if the server grew. */
async function turnover(): Promise<Row[]> {
  const lane = ONE_BY_ONE.find(({ kind }) => kind === 'cached');
  if (lane === undefined) return [];
  const rows = await withPrograms(lane, (server, clients) => turnoverLines(server, clients, TURNOVER));
  const growth = growthOf(rows);
  console.error(growth.length > 0 ? `not flat: ${growth.join('; ')}` : 'flat');
  if (growth.length > 0) process.exitCode = 1;
  return rows;
}

function serverName({ kind }: Lane): string {
  return kind === 'rival' ? 'libdatachannel' : 'Parley';
}

/** Starts both programs, warms the server up, and ends both. */
async function withPrograms<Result>(
  { kind, clients: clientKind, cached = false }: Lane,
  measure: (server: BenchCallServer, clients: BenchProgram) => Promise<Result>,
): Promise<Result> {
  const server = await BenchCallServer.start(kind);
  const clients = await BenchProgram.start({ core: CLIENT_CORE, file: './clients.js', args: [clientKind] });
  try {
    await server.warmUp(clients, WARM_UP_S, cached);
    return await measure(server, clients);
  } finally {
    await clients.close();
    await server.close();
  }
}

const TABLES = [
  ['set-up', 'Set-up, one offer after another', oneByOne],
  ['load', 'Set-up without speech, many offers', load],
  ['standing', 'Calls that stand', standing],
  [
    'turnover',
    `Calls that come and go, ${TURNOVER.standing} at a time; figures without an open call`,
    turnover,
  ],
] as const;

async function main(): Promise<void> {
  if (availableParallelism() < 2) throw new Error('this bench needs two processors');
  spawnSync('taskset', ['-apc', CLIENT_CORE, String(process.pid)]);
  console.log(`${machine()}; median of ${ROUNDS} rounds; times in ms\n`);
  for (const [name, title, rowsOf] of TABLES) {
    if (WANTED.length > 0 && !WANTED.includes(name)) continue;
    console.log(`${title}\n\n${table(await rowsOf())}\n`);
  }
}

await main();
