// Calls that stand and are spoken to all the time: what they cost a second, and
// how punctually and regularly their packets leave.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Arrival, type Spread, spreadOf, UdpReceiver } from '../arrivals.js';
import { type Row, stolenSeconds } from '../table.js';
import { BenchPhone, LONG_GREETING, type BenchPhoneOptions } from './bench-phone.js';
import type { PinnedProgram } from './pinned-program.js';
import { SippLoad } from './sipp-load.js';

const SETUP_PER_S = 100;
const MOST_TRIES = 1_000_000;
const HOLD_MS = 600_000; // longer than any run: calls are broken off
const STAND_LIMIT_MS = 60_000;
const LOOK_MS = 250;
const SETTLE_MS = 1500;
const IDLE_MS = 2000;
const PACKETS_PER_S = 50;
const SPARE = 1.2;

/** Milliseconds between two packets of a stream, and streams, within the time that is measured. */
function intervalsOf(packets: readonly Arrival[]): { readonly spread: Spread; readonly streams: number } {
  const last = new Map<number, number>();
  const intervals: number[] = [];
  for (const { ssrc, atMs } of packets) {
    const before = last.get(ssrc);
    if (before !== undefined) intervals.push(atMs - before);
    last.set(ssrc, atMs);
  }
  return { spread: spreadOf(intervals), streams: last.size };
}

const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** CPU, memory and pacing of a sending program, in columns that all senders have. */
export async function measured(
  program: PinnedProgram,
  receiver: UdpReceiver,
  measureMs: number,
  idle: number,
): Promise<() => Promise<Row>> {
  const [fromMs, cpu, stolen] = [monotonicMs(), program.cpuSeconds(), stolenSeconds()];
  await sleep(measureMs);
  const seconds = (monotonicMs() - fromMs) / 1000;
  const [cores, stolenShare, residentMb] = [
    (program.cpuSeconds() - cpu) / seconds,
    (stolenSeconds() - stolen) / seconds,
    program.residentMb(),
  ];
  const untilMs = monotonicMs();
  return async () => {
    const { packets, dropped } = await receiver.close();
    const within = packets.filter(({ atMs }) => atMs >= fromMs && atMs < untilMs);
    const { spread, streams } = intervalsOf(within);
    return {
      calls: streams,
      'packets/s a call': within.length / streams / seconds,
      'core %': 100 * cores,
      'idle %': 100 * idle,
      '% of a core a call': (100 * (cores - idle)) / streams,
      'RSS MB': residentMb,
      'interval p50 ms': spread.p50,
      'interval p99 ms': spread.p99,
      'interval max ms': spread.max,
      'sink dropped': dropped,
      'stolen %': 100 * stolenShare,
    };
  };
}

interface StandingOptions extends BenchPhoneOptions {
  readonly name: string;
  readonly calls: number;
  readonly measureMs: number;
}

export async function standingLine({ name, calls, measureMs, ...options }: StandingOptions): Promise<Row> {
  const environment = { GREETING: LONG_GREETING, ...options.environment };
  const phone = await BenchPhone.start({ ...options, environment });
  try {
    await warmUp(phone);
    const idle = await idleCores(phone);
    const receiver = await UdpReceiver.open();
    const load = await standUp(phone, receiver.port, calls);
    const { firstAudio } = await phone.figures();
    phone.begin(Math.round(((calls * PACKETS_PER_S * measureMs) / 1000) * SPARE));
    const sippCpu = load.cpuSeconds();
    const finish = await measured(phone.program, receiver, measureMs, idle);
    const sippCores = (load.cpuSeconds() - sippCpu) / (measureMs / 1000);
    const figures = await phone.figures();
    await load.kill();
    const { 'stolen %': stolen = NaN, ...use } = await finish();
    return {
      speech: name,
      ...use,
      'late p50 ms': figures.late.p50,
      'late p99 ms': figures.late.p99,
      'late max ms': figures.late.max,
      underruns: figures.underruns,
      'first sound p50 ms': firstAudio.p50,
      'first sound p99 ms': firstAudio.p99,
      'loop late p99 ms': figures.loopLate.p99,
      'SIPp core %': 100 * sippCores,
      'stolen %': stolen,
    };
  } finally {
    await phone.close();
  }
}

/** Resolves when so many calls stand, or the machine could not in time. Who is refused calls again. */
async function standUp(phone: BenchPhone, sinkPort: number, calls: number): Promise<SippLoad> {
  const plan = {
    to: phone.address,
    sinkPort,
    calls: MOST_TRIES,
    perSecond: SETUP_PER_S,
    holdMs: HOLD_MS,
    atOnce: calls,
  };
  const load = await SippLoad.start(plan);
  const untilMs = monotonicMs() + STAND_LIMIT_MS;
  for (;;) {
    const { dialogs } = await phone.figures();
    if (dialogs >= calls || monotonicMs() > untilMs) break;
    await sleep(LOOK_MS);
  }
  await sleep(SETTLE_MS);
  return load;
}

/** Processor cores used by the server without calls, mostly by its clock's tick. */
export async function idleCores({ program }: Pick<BenchPhone, 'program'>): Promise<number> {
  await sleep(SETTLE_MS);
  const [fromMs, cpu] = [monotonicMs(), program.cpuSeconds()];
  await sleep(IDLE_MS);
  return (program.cpuSeconds() - cpu) / ((monotonicMs() - fromMs) / 1000);
}

/** Calls before the measured ones: code is compiled, prompts are there. */
async function warmUp(phone: BenchPhone, calls = 300, perSecond = 100): Promise<void> {
  const receiver = await UdpReceiver.open();
  const load = await SippLoad.start({
    to: phone.address,
    sinkPort: receiver.port,
    calls,
    perSecond,
    holdMs: 300,
  });
  await load.ended;
  await receiver.close();
}
