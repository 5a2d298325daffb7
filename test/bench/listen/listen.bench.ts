// Cost of hearing calls: another process sends them, this one decodes them, and finds speech in them.
//
//   npm run bench -- listen           1, 50, 200 and 500 calls, 10 s a line
//   npm run bench -- listen --quick   1 and 50 calls, 3 s a line
//
// Processor time is that of this process, with every thread: the receiver, the listening thread, the hearing
// worker, and the clock that sends a frame of silence in each call. The first line of each codec hears
// nothing, and is what a call costs anyway. "Callers' core %" is the process that sends.
import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { CODECS, type CodecName, ticksPerFrame } from '../../../src/codecs/codec.js';
import { readConfig } from '../../../src/config/config.js';
import { fliteEngine } from '../../../src/engines/flite/flite.js';
import { Hearing } from '../../../src/hearing/hearing.js';
import { EAR_FIELDS, Ears, WINDOW_SAMPLES } from '../../../src/media/ears.js';
import { createLog } from '../../../src/observe/log.js';
import type { SocketStats } from '../../../src/media/media-addon.js';
import { MediaPlane } from '../../../src/media/media-plane.js';
import { type MediaSocket, RtpPorts } from '../../../src/media/media-socket.js';
import type { Playout } from '../../../src/media/playout.js';
import { systemTime } from '../../../src/time.js';
import { spreadOf } from '../arrivals.js';
import { machine, type Row, stolenSeconds, table } from '../table.js';
import { type CallersOrder, payloadTypeOf } from './callers.js';
import { type Speech, speechOf } from './speech.js';

const QUICK = process.argv.includes('--quick');
const RUN_MS = QUICK ? 3000 : 10_000;
const CALLS = QUICK ? [1, 50] : [1, 50, 200, 500];
const SETTLE_MS = 3000;
const FRAME_MS = 20;
const SERVER_CORE = '0';
const CALLERS_CORE = '1';
const TEXT = 'The quick brown fox jumps over the lazy dog, and then it walks slowly back to the river.';

type Ear = 'none' | 'decoded' | 'speech found';

interface Line {
  readonly codec: CodecName;
  readonly calls: number;
  readonly talking: number;
  readonly ear: Ear;
}

interface CallMedia {
  readonly socket: MediaSocket;
  readonly playout: Playout;
}

function openMedia(plane: MediaPlane, ports: RtpPorts, { codec: name, calls }: Line): CallMedia[] {
  const codec = CODECS[name];
  return Array.from({ length: calls }, (_, index) => {
    const socket = plane.openSocket({ ports, mux: true });
    const payloadType = payloadTypeOf(name);
    socket.formats([{ payloadType, kind: 'sound', clockRate: codec.clockRate, codec: name }]);
    socket.srtp('plain');
    socket.learn({ anywhere: true });
    const playout = plane.openStream({
      ssrc: 100_000 + index,
      payloadType,
      clockRate: codec.clockRate,
      ticksPerFrame: ticksPerFrame(codec, FRAME_MS),
      frameMs: FRAME_MS,
      sequence: 1,
      timestamp: 0,
      silence: codec.silence(FRAME_MS),
      lowMs: 400,
      highMs: 1500,
      cname: 'bench',
      rtcpIntervalMs: 0,
      codec: name,
    });
    socket.bind(playout);
    return { socket, playout };
  });
}

/** Hears the calls; the returned functions give the windows so far, and end it. */
async function hear(plane: MediaPlane, opened: readonly CallMedia[], ear: Ear) {
  if (ear === 'none') return { windows: () => 0, close: async () => undefined };
  if (ear === 'decoded') {
    const ears = Ears.open(plane);
    const samples = new Float32Array(opened.length * 2 * WINDOW_SAMPLES);
    const fields = new Float64Array(opened.length * EAR_FIELDS);
    let windows = 0;
    const take = (): void => {
      for (let rows = ears.take(samples, fields); rows > 0; rows = ears.take(samples, fields))
        windows += rows;
      ears.onWindows(take);
    };
    for (const { socket } of opened) ears.add(socket.handle);
    ears.onWindows(take);
    return { windows: () => windows, close: async () => ears.close() };
  }
  const log = createLog({ level: 'warn', logText: false });
  const hearing = await Hearing.open({ plane, log, time: systemTime });
  if (hearing.detector !== 'silero') throw new Error(`no Silero model: ${hearing.problem}`);
  const { settings } = readConfig({}).hearing;
  for (const [index, media] of opened.entries())
    hearing.listen(`call ${index}`, media, settings, () => undefined);
  return { windows: () => hearing.figures().windows, close: () => hearing.close() };
}

async function openCallers(order: CallersOrder): Promise<ChildProcess> {
  const child = fork(new URL('./callers.js', import.meta.url));
  spawnSync('taskset', ['-apc', CALLERS_CORE, String(child.pid)]);
  child.send(order);
  await once(child, 'message');
  return child;
}

async function cpuOf(child: ChildProcess): Promise<number> {
  child.send('cpu');
  const [seconds] = (await once(child, 'message')) as [number];
  return seconds;
}

async function run(line: Line, speech: Speech): Promise<Row> {
  const ports = RtpPorts.open({
    address: '127.0.0.1',
    portMin: 20_000,
    portMax: 24_001,
    drainMs: 0,
    dscp: 0,
  });
  const plane = MediaPlane.open({ clock: 'real', seed: 2 });
  const opened = openMedia(plane, ports, line);
  const { codec, talking } = line;
  const callers = await openCallers({
    ports: opened.map(({ socket }) => socket.port),
    codec,
    talking,
    speech,
  });
  const ear = await hear(plane, opened, line.ear);
  spawnSync('taskset', ['-apc', SERVER_CORE, String(process.pid)]); // threads that have begun since, too
  await sleep(SETTLE_MS);
  plane.startTrace(Math.ceil(((line.calls * RUN_MS) / FRAME_MS) * 1.2));
  const [cpuBefore, startMs, stolen] = [process.cpuUsage(), performance.now(), stolenSeconds()];
  const [windows, callersBefore] = [ear.windows(), await cpuOf(callers)];
  await sleep(RUN_MS);
  const cpu = process.cpuUsage(cpuBefore);
  const seconds = (performance.now() - startMs) / 1000;
  const callersCpu = (await cpuOf(callers)) - callersBefore;
  const heard = ear.windows() - windows;
  const late = spreadOf(plane.takeTrace().map(({ dueMs, sentMs }) => sentMs - dueMs));
  const stats = opened.map(({ socket }) => socket.stats().hearing);
  checkHeard(line, stats, opened);
  const sum = (of: (one: NonNullable<(typeof stats)[number]>) => number) =>
    stats.reduce((total, one) => total + (one === undefined ? 0 : of(one)), 0);
  await ear.close();
  callers.disconnect();
  await once(callers, 'exit');
  plane.close();
  ports.close();
  const core = (100 * (cpu.user + cpu.system)) / 1e6 / seconds;
  return {
    codec,
    calls: line.calls,
    talking,
    heard: line.ear,
    'core %': core,
    '% of a core a call': core / line.calls,
    'windows/s a call': heard / seconds / line.calls,
    'delay ms': sum(({ delayMs }) => delayMs) / line.calls,
    'concealed %':
      (100 * sum(({ concealed }) => concealed)) /
      Math.max(
        1,
        sum(({ samples }) => samples),
      ),
    'sent late p99 ms': late.p99,
    'sent late max ms': late.max,
    "callers' core %": (100 * callersCpu) / seconds,
    'stolen %': (100 * (stolenSeconds() - stolen)) / seconds,
  };
}

/** Throws if the far ends were not heard, so that no figure counts calls without sound. */
function checkHeard(
  { ear, calls }: Line,
  hearing: readonly SocketStats['hearing'][],
  opened: readonly CallMedia[],
): void {
  const silent = opened.filter(({ socket }) => socket.stats().packets === 0).length;
  const deaf = ear === 'none' ? 0 : hearing.filter((one) => one === undefined || one.samples === 0).length;
  if (silent + deaf === 0) return;
  throw new Error(`of ${calls} calls ${silent} received no packet, and ${deaf} were not decoded`);
}

function linesOf(codec: CodecName): Line[] {
  const ears: readonly Ear[] = ['none', 'decoded', 'speech found'];
  const sizes = CALLS.flatMap((calls) => {
    const some = Math.ceil(calls / 5);
    return calls === 500
      ? [
          { calls, talking: 0 },
          { calls, talking: some },
        ]
      : [{ calls, talking: calls }];
  });
  return sizes.flatMap((size) => ears.map((ear) => ({ codec, ...size, ear })));
}

console.log(`${machine()}\n`);
const engine = fliteEngine({ maxWaiting: 10, renderTimeoutMs: 10_000 });
await engine.load();
const speech = await speechOf(engine, (await engine.voices())[0]?.name ?? 'slt', TEXT);
await engine.close();
const rows: Row[] = [];
for (const codec of ['PCMU', 'opus'] as const) {
  for (const line of linesOf(codec)) {
    rows.push(await run(line, speech));
    console.error(table(rows.slice(-1)));
  }
}
console.log(table(rows));
