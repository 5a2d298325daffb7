// Pacing of sent packets: the native media plane against a JavaScript sender with absolute deadlines, over
// the loopback interface, with SRTP on every packet.
//
//   npm run bench -- pacing           20 s per line
//   npm run bench -- pacing --quick   3 s per line, fewer streams
//
// Lateness is the kernel's time of arrival less the time the packet was due, so
// it counts scheduling, encryption and the send call, for both senders alike.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { MediaPlane } from '../../src/media/media-plane.js';
import { type Arrivals, pacingOf, type Schedule, UdpReceiver } from './arrivals.js';
import { JsSender, type RtpHeader, SrtpPacketWriter } from './js-sender.js';
import { type NativeCounts, NativeSender, streamOptions } from './native-sender.js';
import { streamPlans, TICKS_PER_MS } from './stream-plan.js';
import { machine, type Row, stolenSeconds, table } from './table.js';

/** Throws unless both senders send the same bytes. */
function assertSamePackets(): void {
  const [plan] = streamPlans(1);
  if (plan === undefined) throw new Error('no plan');
  const plane = MediaPlane.open({ clock: 'manual', seed: 1, startMs: 0, wallMs: 0 });
  const playout = plane.openStream(streamOptions(plan));
  playout.target({ capture: true });
  for (let frame = 0; frame < 3; frame++) playout.push(playout.generation, 1, plan.payload);
  plane.advance(3 * plan.frameMs);
  const packets = plane.takePackets().filter(({ kind }) => kind === 'rtp');
  plane.close();
  const writer = new SrtpPacketWriter(plan);
  assert.ok(packets.length >= 3);
  for (const [index, { data }] of packets.slice(0, 3).entries()) {
    const sequence: number = plan.sequence + index;
    const header: RtpHeader = {
      marker: index === 0,
      payloadType: plan.payloadType,
      sequence,
      timestamp: (plan.timestamp + index * plan.ticksPerFrame) >>> 0,
      ssrc: plan.ssrc,
    };
    assert.deepEqual(Buffer.from(data), writer.write(header, plan.payload, sequence));
  }
}

const QUICK = process.argv.includes('--quick');
const RUN_MS = QUICK ? 3000 : 20_000;
const STREAMS = QUICK ? [50, 200] : [50, 200, 500];
const SETTLE_MS = 500; // between two lines
const LOADS = ['idle', 'blocked 200 ms/s', 'cores saturated'] as const;
const SATURATING_WORKERS = availableParallelism();
const BLOCK_EVERY_MS = 1000;
const BLOCK_MS = 200;

type Load = (typeof LOADS)[number];

/** Puts the load on the machine; the function returned takes it off. */
function put(load: Load): () => Promise<void> {
  if (load === 'idle') return async () => {};
  if (load === 'cores saturated') return saturate();
  const timer = setInterval(() => {
    const endMs = performance.now() + BLOCK_MS;
    while (performance.now() < endMs) JSON.parse('{"the":["main","thread","is","busy"]}');
  }, BLOCK_EVERY_MS);
  return async () => clearInterval(timer);
}

function saturate(): () => Promise<void> {
  const url = new URL('./encode-worker.js', import.meta.url);
  const stop = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const workers = Array.from(
    { length: SATURATING_WORKERS },
    () => new Worker(url, { workerData: stop.buffer }),
  );
  return async () => {
    const ends = workers.map((worker) => once(worker, 'exit'));
    Atomics.store(stop, 0, 1);
    await Promise.all(ends);
  };
}

interface Ran {
  readonly arrivals: Arrivals;
  readonly schedules: readonly Schedule[];
  readonly sent: number;
  readonly counts: NativeCounts | undefined;
  readonly use: Use;
}

/** Shares of one core: what this process used, and what the host took from the machine. */
interface Use {
  readonly cpuPercent: number;
  readonly stolenPercent: number;
}

async function runNative(streams: number, load: Load): Promise<Ran> {
  const receiver = await UdpReceiver.open();
  const sender = await NativeSender.open(streamPlans(streams), receiver.port);
  const use = await under(load);
  sender.stop();
  const counts = sender.counts();
  const arrivals = await receiver.close();
  const first = new Map<number, number>();
  for (const { ssrc, timestamp } of arrivals.packets) if (!first.has(ssrc)) first.set(ssrc, timestamp);
  const schedules = sender.schedules(first);
  await sender.close();
  return { arrivals, schedules, sent: counts.packets, counts, use };
}

async function runJs(streams: number, load: Load): Promise<Ran> {
  const receiver = await UdpReceiver.open();
  const sender = await JsSender.open(streamPlans(streams), receiver.port);
  const use = await under(load);
  const sent = sender.packets();
  sender.close();
  const arrivals = await receiver.close();
  return { arrivals, schedules: sender.schedules(), sent, counts: undefined, use };
}

/** Runs for the time of one line. */
async function under(load: Load): Promise<Use> {
  const takeOff = put(load);
  const before = process.cpuUsage();
  const stolenBefore = stolenSeconds();
  const startedAt = performance.now();
  await sleep(RUN_MS);
  const { user, system } = process.cpuUsage(before);
  const seconds = (performance.now() - startedAt) / 1000;
  const cpuPercent = (user + system) / 1e4 / seconds;
  const stolenPercent = (100 * (stolenSeconds() - stolenBefore)) / seconds;
  await takeOff();
  return { cpuPercent, stolenPercent };
}

function row(sender: string, streams: number, load: Load, ran: Ran): Row {
  const pacing = pacingOf(ran.arrivals.packets, ran.schedules, { ticksPerMs: TICKS_PER_MS, runMs: RUN_MS });
  return {
    streams,
    load,
    sender,
    packets: pacing.received,
    lost: ran.sent - ran.arrivals.packets.length,
    'late p50': pacing.late.p50,
    'late p99': pacing.late.p99,
    'late max': pacing.late.max,
    'interval p99': pacing.interval.p99,
    'interval max': pacing.interval.max,
    'drift ms': pacing.driftMs.toFixed(2),
    underruns: ran.counts?.underruns ?? '–',
    'ticks > 1 ms late': ran.counts?.lateTicks ?? '–',
    'ticks skipped': ran.counts?.skippedTicks ?? '–',
    'CPU %': Math.round(ran.use.cpuPercent),
    'stolen %': ran.use.stolenPercent.toFixed(1),
  };
}

async function main(): Promise<void> {
  assertSamePackets();
  const rows: Row[] = [];
  let priority = 'unknown';
  for (const load of LOADS) {
    for (const streams of STREAMS) {
      const native = await runNative(streams, load);
      priority = native.counts?.priority ?? priority;
      rows.push(row('native', streams, load, native));
      await sleep(SETTLE_MS);
      rows.push(row('JavaScript', streams, load, await runJs(streams, load)));
      await sleep(SETTLE_MS);
      console.error(table(rows.slice(-2)));
    }
  }
  console.log(
    `${machine()}; ${RUN_MS / 1000} s per line; clock thread: ${priority} priority; all times in ms\n`,
  );
  console.log(table(rows));
}

await main();
