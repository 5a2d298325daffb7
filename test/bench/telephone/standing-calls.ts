// Calls that stand and are spoken to all the time: what they cost a second, and
// how punctually and regularly their packets leave.
import { setTimeout as sleep } from 'node:timers/promises';
import { spreadOf, type Spread } from '../arrivals.js';
import { stolenSeconds } from '../stolen-time.js';
import type { Row } from '../table.js';
import { UdpReceiver, type Arrival } from '../udp-receiver.js';
import { BenchPhone, LONG_GREETING, type BenchPhoneOptions } from './bench-phone.js';
import type { PinnedProgram } from './pinned-program.js';
import { SippLoad } from './sipp-load.js';

export const SETUP_PER_S = 100;
const SETTLE_MS = 2000;
const TAIL_MS = 1500;
const PACKETS_PER_S = 50;
const SPARE = 1.2;

/** Milliseconds between two packets of a stream, and streams, within the time that is measured. */
export function intervalsOf(packets: readonly Arrival[]): { readonly spread: Spread; readonly streams: number } {
  const last = new Map<number, number>();
  const intervals: number[] = [];
  for (const { ssrc, atMs } of packets) {
    const before = last.get(ssrc);
    if (before !== undefined) intervals.push(atMs - before);
    last.set(ssrc, atMs);
  }
  return { spread: spreadOf(intervals), streams: last.size };
} // prettier-ignore

export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** What a program uses while it sends, in columns that all senders have. */
export async function measured(program: PinnedProgram, receiver: UdpReceiver, measureMs: number): Promise<() => Promise<Row>> {
  const [fromMs, cpu, stolen] = [monotonicMs(), program.cpuSeconds(), stolenSeconds()];
  await sleep(measureMs);
  const seconds = (monotonicMs() - fromMs) / 1000;
  const [cores, stolenShare, residentMb] = [(program.cpuSeconds() - cpu) / seconds, (stolenSeconds() - stolen) / seconds, program.residentMb()];
  const untilMs = monotonicMs();
  return async () => {
    const { packets, dropped } = await receiver.close();
    const within = packets.filter(({ atMs }) => atMs >= fromMs && atMs < untilMs);
    const { spread, streams } = intervalsOf(within);
    return {
      streams,
      'packets/s a stream': within.length / streams / seconds,
      'core %': 100 * cores,
      '% of a core a call': (100 * cores) / streams,
      'RSS MB': residentMb,
      'interval p50 ms': spread.p50,
      'interval p99 ms': spread.p99,
      'interval max ms': spread.max,
      'sink dropped': dropped,
      'stolen %': 100 * stolenShare,
    };
  };
} // prettier-ignore

export interface StandingOptions extends BenchPhoneOptions {
  readonly name: string;
  readonly calls: number;
  readonly measureMs: number;
}

export async function standingLine({ name, calls, measureMs, ...options }: StandingOptions): Promise<Row> {
  const environment = { GREETING: LONG_GREETING, ...options.environment };
  const phone = await BenchPhone.start({ ...options, environment });
  try {
    await warmUp(phone);
    const receiver = await UdpReceiver.open();
    const setUpMs = (1000 * calls) / SETUP_PER_S;
    const holdMs = setUpMs + SETTLE_MS + measureMs + TAIL_MS;
    const load = await SippLoad.start({ to: phone.address, sinkPort: receiver.port, calls, perSecond: SETUP_PER_S, holdMs });
    await sleep(setUpMs + SETTLE_MS);
    phone.begin(Math.round(((calls * PACKETS_PER_S * measureMs) / 1000) * SPARE));
    const sippCpu = load.cpuSeconds();
    const finish = await measured(phone.program, receiver, measureMs);
    const sippCores = (load.cpuSeconds() - sippCpu) / (measureMs / 1000);
    const figures = await phone.figures();
    const counts = await load.ended;
    const { firstAudio } = await phone.figures();
    const { streams, 'stolen %': stolen, ...use } = await finish();
    return {
      speech: name,
      calls,
      failed: counts.failed + counts.refused,
      streams: streams ?? 0,
      ...use,
      'late p50 ms': figures.late.p50,
      'late p99 ms': figures.late.p99,
      'late max ms': figures.late.max,
      underruns: figures.underruns,
      'first sound p50 ms': firstAudio.p50,
      'first sound p99 ms': firstAudio.p99,
      'loop late p99 ms': figures.loopLate.p99,
      'SIPp core %': 100 * sippCores,
      'stolen %': stolen ?? NaN,
    };
  } finally {
    await phone.close();
  }
} // prettier-ignore

/** Calls before the measured ones: code is compiled, prompts are there. */
export async function warmUp(phone: BenchPhone, calls = 300, perSecond = 100): Promise<void> {
  const receiver = await UdpReceiver.open();
  const load = await SippLoad.start({ to: phone.address, sinkPort: receiver.port, calls, perSecond, holdMs: 300 });
  await load.ended;
  await receiver.close();
}
