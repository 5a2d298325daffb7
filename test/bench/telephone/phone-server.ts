// The server of the telephone bench, in a process of its own so that it has a
// core of its own. Configured by the environment as any server; its parent asks
// it by message for what /metrics would tell less exactly.
//
//   node phone-server.js            the engines of the configuration
//   node phone-server.js instant    an engine that costs nothing
import { readdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Telephone } from '../../../sip/telephone/telephone.js';
import { readConfig } from '../../../src/config/config.js';
import { startServer } from '../../../src/main.js';
import type { Log } from '../../../src/log.js';
import { createLog } from '../../../src/observe/log.js';
import { Engines } from '../../../src/engines/routing.js';
import { InstantEngine } from '../../fakes/engines.js';
import { spreadOf, type Spread } from '../arrivals.js';

export type ToPhoneServer =
  { readonly type: 'begin'; readonly mostPackets: number } | { readonly type: 'figures' | 'collect' };

export interface PhoneFigures {
  readonly type: 'figures';
  /** CPU time in milliseconds of all threads, since `begin`. */
  readonly cpuMs: number;
  readonly residentMb: number;
  /** The most that was resident since the start. */
  readonly peakMb: number;
  readonly heapMb: number;
  /** Milliseconds that the event loop was late. */
  readonly loopLate: Pick<Spread, 'p50' | 'p99' | 'max'>;
  /** Milliseconds after they were due that packets left, since `begin`. */
  readonly late: Spread;
  readonly packets: number;
  readonly underruns: number;
  readonly sendErrors: number;
  /** Milliseconds from the acknowledgement to the first packet of speech, since the figures before. */
  readonly firstAudio: Spread;
  readonly calls: number;
  readonly dialogs: number;
  readonly transactions: number;
  readonly portsUsed: number;
  readonly portsResting: number;
  readonly timers: number;
  readonly descriptors: number;
  /** Requests that came again, and that were refused for load, since the start. */
  readonly again: number;
  readonly overload: number;
  /** Share of new calls that overload control refuses now. */
  readonly refusedShare: number;
}

const RESOLUTION_MS = 1;
const [kind] = process.argv.slice(2);
const config = readConfig(process.env);
const firstAudioMs: number[] = [];
const log = noting(createLog({ level: config.log.level, logText: false }));
const engines = kind === 'instant' ? { engines: await Engines.of([new InstantEngine()]) } : {};
const server = await startServer(config, { log, ...engines });
const { telephone } = server;
if (telephone === undefined) throw new Error('the server takes no telephone calls');
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
let cpu = process.cpuUsage();
let before = server.plane.stats();

/** A log that also notes each call's first packet, whatever the log level. */
function noting(log: Log): Log {
  const info = (fields: object, message: string): void => {
    const { firstPacketMs } = fields as { firstPacketMs?: number };
    if (message === 'first packet' && firstPacketMs !== undefined) firstAudioMs.push(firstPacketMs);
    log.info(fields, message);
  };
  return Object.create(log, { info: { value: info } }) as Log;
}

function begin(mostPackets: number): void {
  server.plane.startTrace(mostPackets);
  before = server.plane.stats();
  delay.enable();
  delay.reset();
  cpu = process.cpuUsage();
}

function figures(door: Telephone): PhoneFigures {
  const { user, system } = process.cpuUsage(cpu);
  const { rss, heapUsed } = process.memoryUsage();
  const late = (ns: number) => Math.max(0, ns / 1e6 - RESOLUTION_MS);
  const loopLate = { p50: late(delay.percentile(50)), p99: late(delay.percentile(99)), max: late(delay.max) };
  const after = server.plane.stats();
  const trace = server.plane.takeTrace();
  const { transactions, agent } = door.network;
  const { early, confirmed } = agent.counts;
  const { server: answered, client: asked } = transactions.open;
  const { ports, dropped } = door;
  return {
    type: 'figures',
    cpuMs: (user + system) / 1000,
    residentMb: rss / 2 ** 20,
    peakMb: process.resourceUsage().maxRSS / 2 ** 10,
    heapMb: heapUsed / 2 ** 20,
    loopLate,
    late: spreadOf(trace.map(({ dueMs, sentMs }) => sentMs - dueMs)),
    packets: after.packets - before.packets,
    underruns: after.underruns - before.underruns,
    sendErrors: after.sendErrors - before.sendErrors,
    firstAudio: spreadOf(firstAudioMs.splice(0)),
    calls: door.size,
    dialogs: early + confirmed,
    transactions: answered + asked,
    portsUsed: ports['used'] ?? 0,
    portsResting: ports['resting'] ?? 0,
    timers: process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length,
    descriptors: readdirSync('/proc/self/fd').length,
    again: transactions.countOf('retransmissions'),
    overload: dropped['overload'] ?? 0,
    refusedShare: door.network.refusedShare,
  };
}

process.on('message', (message: ToPhoneServer) => {
  if (message.type === 'begin') begin(message.mostPackets);
  else if (message.type === 'collect') (globalThis as { gc?: () => void }).gc?.();
  else process.send?.(figures(telephone));
});
process.once('disconnect', () => process.exit(0));
process.send?.({ type: 'listening' });
