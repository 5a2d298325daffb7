// Calls that are set up and end, at rising rates: those that nothing is said in,
// hung up as soon as they stand, which are set-up and end alone; then those that
// speak for half a second; then the latter at twice the rate that was too much,
// and at a moderate one again.
import { stolenSeconds } from '../stolen-time.js';
import type { Row } from '../table.js';
import { soundShare, spreadOf } from '../arrivals.js';
import { UdpReceiver } from '../udp-receiver.js';
import { SILENT, type BenchPhone } from './bench-phone.js';
import { SippLoad, type SippCounts } from './sipp-load.js';

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

async function setUpLine(phone: BenchPhone, name: string, { manner, perSecond, seconds }: { manner: Manner; perSecond: number; seconds: number }): Promise<SetUpLine> {
  const { service, holdMs } = manner;
  const receiver = await UdpReceiver.open();
  phone.begin();
  const before = await phone.figures();
  const [stolen, threads] = [stolenSeconds(), phone.program.threadSeconds()];
  const calls = Math.round(perSecond * seconds);
  const load = await SippLoad.start({ to: phone.address, sinkPort: receiver.port, calls, perSecond, holdMs, service });
  const counts = await load.ended;
  const threadsAfter = phone.program.threadSeconds();
  const after = await phone.figures();
  const { packets } = await receiver.close();
  const setUp = spreadOf(counts.setUpMs);
  const cpuSeconds = after.cpuMs / 1000;
  const msOf = (thread: string) => (1000 * ((threadsAfter.get(thread) ?? NaN) - (threads.get(thread) ?? NaN))) / counts.done;
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
    'sound of those due %': holdMs < SPEAKS_MS ? '' : 100 * soundShare(packets, { calls: counts.done, holdMs, packetMs: PACKET_MS }),
    'SIPp core %': (100 * counts.cpuSeconds) / counts.seconds,
    'stolen %': (100 * (stolenSeconds() - stolen)) / counts.seconds,
  };
  const isBroken = counts.failed + counts.refused + (after.overload - before.overload) > 0 || setUp.p95 > BROKEN_MS;
  return { row, counts, isBroken };
} // prettier-ignore

interface WarmUpPlan {
  readonly calls: number;
  /** Below what the server bears before its code is compiled. */
  readonly perSecond: number;
}

/** Makes calls of both kinds until the code is compiled, then waits until overload control refuses none. */
export async function warmUpSetUp(phone: BenchPhone, { calls, perSecond }: WarmUpPlan): Promise<void> {
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

export async function setUpTable(
  phone: BenchPhone,
  { ladder, seconds, afterwards }: SetUpRates,
): Promise<Row[]> {
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

async function climb(phone: BenchPhone, { ladder, seconds }: Pick<SetUpRates, 'ladder' | 'seconds'>, manner: Manner): Promise<Climbed> {
  const rows: Row[] = [];
  for (const perSecond of ladder) {
    const { row, isBroken } = await setUpLine(phone, `${perSecond} calls/s`, { manner, perSecond, seconds });
    rows.push(row);
    if (isBroken) return { rows, tooMuch: perSecond };
  }
  return { rows, tooMuch: ladder.at(-1) ?? 0 };
} // prettier-ignore
