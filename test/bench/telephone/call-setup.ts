// Calls that are set up, speak for half a second and end, at rising rates; then
// at twice the rate that was too much; then at a moderate one again.
import { stolenSeconds } from '../stolen-time.js';
import type { Row } from '../table.js';
import { spreadOf } from '../arrivals.js';
import { UdpReceiver } from '../udp-receiver.js';
import type { BenchPhone } from './bench-phone.js';
import { SippLoad, type SippCounts } from './sipp-load.js';

const HOLD_MS = 500;
const BROKEN_MS = 100; // set-up p95 above it: the rate is too much
const PACKETS_PER_S = 50;

export interface SetUpLine {
  readonly row: Row;
  readonly counts: SippCounts;
  readonly isBroken: boolean;
}

export async function setUpLine(phone: BenchPhone, name: string, perSecond: number, seconds: number): Promise<SetUpLine> {
  const receiver = await UdpReceiver.open();
  phone.begin();
  const before = await phone.figures();
  const stolen = stolenSeconds();
  const calls = Math.round(perSecond * seconds);
  const load = await SippLoad.start({ to: phone.address, sinkPort: receiver.port, calls, perSecond, holdMs: HOLD_MS });
  const counts = await load.ended;
  const after = await phone.figures();
  const { packets } = await receiver.close();
  const setUp = spreadOf(counts.setUpMs);
  const cpuSeconds = after.cpuMs / 1000;
  const row = {
    load: name,
    calls: counts.done,
    failed: counts.failed,
    'refused 503': counts.refused,
    'sent again': counts.retransmissions,
    'calls/s': counts.done / (counts.seconds - HOLD_MS / 1000),
    'set-up p50 ms': setUp.p50,
    'p95 ms': setUp.p95,
    'p99 ms': setUp.p99,
    'max ms': setUp.max,
    'CPU ms a call': after.cpuMs / counts.done,
    'calls/s per core': Math.round(counts.done / cpuSeconds),
    'core %': (100 * cpuSeconds) / counts.seconds,
    'loop late p99 ms': after.loopLate.p99,
    'sound of those due %': (100 * packets.length) / (counts.done * (HOLD_MS / 1000) * PACKETS_PER_S),
    'SIPp core %': (100 * counts.cpuSeconds) / counts.seconds,
    'stolen %': (100 * (stolenSeconds() - stolen)) / counts.seconds,
  };
  const isBroken = counts.failed + counts.refused + (after.overload - before.overload) > 0 || setUp.p95 > BROKEN_MS;
  return { row, counts, isBroken };
} // prettier-ignore

export interface SetUpRates {
  readonly ladder: readonly number[];
  readonly seconds: number;
  /** What the server bears easily, after it was overloaded. */
  readonly afterwards: number;
}

export async function setUpTable(
  phone: BenchPhone,
  { ladder, seconds, afterwards }: SetUpRates,
): Promise<Row[]> {
  const rows: Row[] = [];
  let tooMuch = ladder.at(-1) ?? 0;
  for (const rate of ladder) {
    const { row, isBroken } = await setUpLine(phone, `${rate} calls/s`, rate, seconds);
    rows.push(row);
    if (!isBroken) continue;
    tooMuch = rate;
    break;
  }
  const overload = await setUpLine(phone, `overload: ${2 * tooMuch} calls/s`, 2 * tooMuch, seconds);
  const recovery = await setUpLine(phone, `at once after it: ${afterwards} calls/s`, afterwards, seconds);
  return [...rows, overload.row, recovery.row];
}
