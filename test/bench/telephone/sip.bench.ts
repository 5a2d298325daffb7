// Telephone calls against the whole server: how fast they are set up, and what
// they cost while they stand.
//
//   npm run bench -- sip           all tables, about 9 minutes
//   npm run bench -- sip --quick   the same, smaller, about 3 minutes
//   npm run bench -- sip setup     one table: setup, standing, rivals
//
// The server is a process of its own on one processor; SIPp, which calls, and a
// native program, which hears, are on the other. Calls are G.711 over plain RTP.
// Lateness is what the plane's own clock says of each packet (when it was due,
// when it left); intervals are the kernel's times of arrival at the hearer, which
// tell of everybody alike.
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { soundShare, spreadOf, UdpReceiver } from '../arrivals.js';
import { machine, type Row, stolenSeconds, table } from '../table.js';
import { BenchPhone, LOAD_CORE, SILENT } from './bench-phone.js';
import { baresipLine, rtpengineLine } from './media-rivals.js';
import { type SippCounts, SippLoad } from './sipp-load.js';
import { standingLine } from './standing-calls.js';

// Calls that are set up and end, at rising rates: those that nothing is said in,
// hung up as soon as they stand, which are set-up and end alone; then those that
// speak for half a second; then the latter at twice the rate that was too much,
// and at a moderate one again.

/** Kind of a benchmark call. */
interface Manner {
  readonly name: string;
  readonly service: string;
  readonly holdMs: number;
}

const SET_UP_ALONE: Manner = { name: 'none', service: SILENT, holdMs: 0 };
const SPEAKING: Manner = { name: '0.5 s', service: 'bench', holdMs: 500 };
const BROKEN_MS = 100; // set-up p95 above it: the rate is too much
const PACKET_MS = 20;
const SPEAKS_MS = 100; // calls that are shorter have no sound to count

interface SetUpLine {
  readonly row: Row;
  readonly counts: SippCounts;
  readonly isBroken: boolean;
}

async function setUpLine(
  phone: BenchPhone,
  name: string,
  { manner, perSecond, seconds }: { manner: Manner; perSecond: number; seconds: number },
): Promise<SetUpLine> {
  const { service, holdMs } = manner;
  const receiver = await UdpReceiver.open();
  phone.begin();
  const before = await phone.figures();
  const [stolen, threads] = [stolenSeconds(), phone.program.threadSeconds()];
  const calls = Math.round(perSecond * seconds);
  const load = await SippLoad.start({
    to: phone.address,
    sinkPort: receiver.port,
    calls,
    perSecond,
    holdMs,
    service,
  });
  const counts = await load.ended;
  const threadsAfter = phone.program.threadSeconds();
  const after = await phone.figures();
  const { packets } = await receiver.close();
  const setUp = spreadOf(counts.setUpMs);
  const cpuSeconds = after.cpuMs / 1000;
  const msOf = (thread: string) =>
    (1000 * ((threadsAfter.get(thread) ?? NaN) - (threads.get(thread) ?? NaN))) / counts.done;
  const row = {
    load: name,
    speech: manner.name,
    calls: counts.done,
    failed: counts.failed,
    'refused 503': counts.refused,
    'sent again': counts.retransmissions,
    'calls/s': counts.done / (counts.seconds - holdMs / 1000),
    'set-up p50 ms': setUp.p50,
    'p95 ms': setUp.p95,
    'p99 ms': setUp.p99,
    'max ms': setUp.max,
    'CPU ms a call': after.cpuMs / counts.done,
    'of it main thread': msOf('main'),
    'of it clock': msOf('parley-clock'),
    'calls/s per core': Math.round(counts.done / cpuSeconds),
    'core %': (100 * cpuSeconds) / counts.seconds,
    'loop late p99 ms': after.loopLate.p99,
    'sound of those due %':
      holdMs < SPEAKS_MS
        ? ''
        : 100 * soundShare(packets, { calls: counts.done, holdMs, packetMs: PACKET_MS }),
    'SIPp core %': (100 * counts.cpuSeconds) / counts.seconds,
    'stolen %': (100 * (stolenSeconds() - stolen)) / counts.seconds,
  };
  const isBroken =
    counts.failed + counts.refused + (after.overload - before.overload) > 0 || setUp.p95 > BROKEN_MS;
  return { row, counts, isBroken };
}

interface WarmUpPlan {
  readonly calls: number;
  /** Below what the server bears before its code is compiled. */
  readonly perSecond: number;
}

/** Makes calls of both kinds until the code is compiled, then waits until overload control refuses none. */
async function warmUpSetUp(phone: BenchPhone, { calls, perSecond }: WarmUpPlan): Promise<void> {
  for (const { service, holdMs } of [SPEAKING, SET_UP_ALONE]) {
    const receiver = await UdpReceiver.open();
    const plan = { to: phone.address, sinkPort: receiver.port, calls, perSecond, holdMs, service };
    await (
      await SippLoad.start(plan)
    ).ended;
    await receiver.close();
  }
  await phone.settled();
}

interface SetUpRates {
  readonly ladder: readonly number[];
  readonly seconds: number;
  /** A rate that the server sustains easily, measured after the overload. */
  readonly afterwards: number;
}

async function setUpTable(phone: BenchPhone, { ladder, seconds, afterwards }: SetUpRates): Promise<Row[]> {
  const alone = await climb(phone, { ladder, seconds }, SET_UP_ALONE);
  await phone.settled();
  const { rows, tooMuch } = await climb(phone, { ladder, seconds }, SPEAKING);
  const at = (perSecond: number) => ({ manner: SPEAKING, perSecond, seconds });
  const overload = await setUpLine(phone, `overload: ${2 * tooMuch} calls/s`, at(2 * tooMuch));
  const recovery = await setUpLine(phone, `at once after it: ${afterwards} calls/s`, at(afterwards));
  return [...alone.rows, ...rows, overload.row, recovery.row];
}

interface Climbed {
  readonly rows: Row[];
  /** The rate that was too much, or the highest one. */
  readonly tooMuch: number;
}

async function climb(
  phone: BenchPhone,
  { ladder, seconds }: Pick<SetUpRates, 'ladder' | 'seconds'>,
  manner: Manner,
): Promise<Climbed> {
  const rows: Row[] = [];
  for (const perSecond of ladder) {
    const { row, isBroken } = await setUpLine(phone, `${perSecond} calls/s`, { manner, perSecond, seconds });
    rows.push(row);
    if (isBroken) return { rows, tooMuch: perSecond };
  }
  return { rows, tooMuch: ladder.at(-1) ?? 0 };
}

const QUICK = process.argv.includes('--quick');
const WANTED = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const RATES = QUICK
  ? { ladder: [50, 100, 200, 400, 800], seconds: 4, afterwards: 100 }
  : { ladder: [50, 100, 200, 400, 600, 800, 1000, 1200, 1600, 2400], seconds: 10, afterwards: 100 };
const WARM_UP = { calls: QUICK ? 1000 : 3000, perSecond: 50 };
const CALLS = QUICK ? [100, 300] : [100, 500, 1000];
const BARESIP_CALLS = QUICK ? [50] : [100, 300];
const MEASURE_MS = QUICK ? 4000 : 10_000;

function isWanted(name: string): boolean {
  return WANTED.length === 0 || WANTED.includes(name);
}

function print(title: string, rows: readonly Row[]): void {
  console.log(`${title}\n\n${table(rows)}\n`);
}

async function setUp(logLevel: string): Promise<void> {
  const phone = await BenchPhone.start({ environment: { LOG_LEVEL: logLevel } });
  try {
    await warmUpSetUp(phone, WARM_UP);
    print(`Set-up, LOG_LEVEL=${logLevel}`, await setUpTable(phone, RATES));
  } finally {
    await phone.close();
  }
}

async function standing(): Promise<void> {
  const rows: Row[] = [];
  for (const calls of CALLS) rows.push(await standingLine({ name: 'cached', calls, measureMs: MEASURE_MS }));
  const uncached = { FRAME_CACHE_BYTES: '0' };
  for (const calls of CALLS) {
    rows.push(await standingLine({ name: 'live', calls, measureMs: MEASURE_MS, environment: uncached }));
  }
  print('Calls that stand', rows);
}

async function rivals(): Promise<void> {
  const rows: Row[] = [];
  for (const calls of CALLS) rows.push(await rtpengineLine(calls, MEASURE_MS));
  for (const calls of BARESIP_CALLS) rows.push(await baresipLine(calls, MEASURE_MS));
  print('Others that play a file into calls', rows);
}

async function main(): Promise<void> {
  if (availableParallelism() < 2) throw new Error('this bench wants two processors');
  spawnSync('taskset', ['-apc', LOAD_CORE, String(process.pid)]);
  console.log(`${machine()}\n`);
  if (isWanted('setup')) await setUp('warn');
  if (isWanted('setup') && !QUICK) await setUp('info');
  if (isWanted('standing')) await standing();
  if (isWanted('rivals')) await rivals();
}

await main();
