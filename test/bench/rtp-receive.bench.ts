// Cost of receiving: calls of 50 packets a second each over loopback. Another process sends; this one reads,
// decrypts, checks and counts.
//
//   npm run bench -- rtp-receive           10 s a line
//   npm run bench -- rtp-receive --quick   3 s a line, 200 streams
//
// Processor time is that of this process: the thread that reads sockets, and
// where ears hear the calls the thread that decodes, too. "Packets/s per core" is what
// the time per packet comes to. A plane that is idle costs a tick a millisecond,
// which is in every line.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Ears } from '../../src/media/ears.js';
import { MediaPlane } from '../../src/media/media-plane.js';
import { type MediaSocket, RtpPorts } from '../../src/media/media-socket.js';
import { keysOf, type SenderOrder } from './rtp-sender.js';
import { machine, type Row, stolenSeconds, table } from './table.js';

const QUICK = process.argv.includes('--quick');
const RUN_MS = QUICK ? 3000 : 10_000;
const STREAMS = QUICK ? [200] : [500, 1000];
const SETTLE_MS = 1000;
const PACKETS_PER_S = 50;

const bytes = (count: number): string => Buffer.alloc(count, 7).toString('base64');
// prettier-ignore
const WAYS: readonly { readonly name: string; readonly srtp: SenderOrder['srtp']; readonly listens: boolean }[] = [
  { name: 'plain', srtp: null, listens: false },
  { name: 'SRTP CM-128 HMAC-80', srtp: { profile: 'AES_CM_128_HMAC_SHA1_80', key: bytes(16), salt: bytes(14) }, listens: false },
  { name: 'SRTP GCM-128', srtp: { profile: 'AEAD_AES_128_GCM', key: bytes(16), salt: bytes(12) }, listens: false },
  { name: 'SRTP GCM-128, heard', srtp: { profile: 'AEAD_AES_128_GCM', key: bytes(16), salt: bytes(12) }, listens: true },
];

function openSockets(
  plane: MediaPlane,
  ports: RtpPorts,
  ears: Ears,
  count: number,
  way: (typeof WAYS)[number],
): MediaSocket[] {
  return Array.from({ length: count }, () => {
    const socket = plane.openSocket({ ports, mux: true });
    socket.formats([{ payloadType: 0, kind: 'sound', clockRate: 8000, codec: 'PCMU' }]);
    socket.srtp(way.srtp === null ? 'plain' : keysOf(way.srtp));
    socket.learn({});
    if (way.listens) ears.add(socket.handle);
    return socket;
  });
}

async function openSender(order: SenderOrder): Promise<ChildProcess> {
  const child = fork(new URL('./rtp-sender.js', import.meta.url));
  child.send(order);
  await once(child, 'message');
  return child;
}

function counted(sockets: readonly MediaSocket[]): { readonly packets: number; readonly lost: number } {
  const stats = sockets.map((socket) => socket.stats());
  return {
    packets: stats.reduce((sum, { packets }) => sum + packets, 0),
    lost: stats.reduce((sum, { lost }) => sum + lost, 0),
  };
}

async function run(streams: number, way: (typeof WAYS)[number]): Promise<Row> {
  const ports = RtpPorts.open({
    address: '127.0.0.1',
    portMin: 20_000,
    portMax: 24_001,
    drainMs: 0,
    dscp: 0,
  });
  const plane = MediaPlane.open({ clock: 'real', seed: 2 });
  const ears = Ears.open(plane);
  const sockets = openSockets(plane, ports, ears, streams, way);
  const sender = await openSender({ ports: sockets.map(({ port }) => port), srtp: way.srtp });
  await sleep(SETTLE_MS);
  const [before, cpuBefore, startMs, stolen] = [
    counted(sockets),
    process.cpuUsage(),
    performance.now(),
    stolenSeconds(),
  ];
  await sleep(RUN_MS);
  const cpu = process.cpuUsage(cpuBefore);
  const seconds = (performance.now() - startMs) / 1000;
  const { packets: after, lost } = counted(sockets);
  const packets = after - before.packets;
  const cpuSeconds = (cpu.user + cpu.system) / 1e6;
  sender.disconnect();
  ears.close();
  await once(sender, 'exit');
  plane.close();
  ports.close();
  return {
    packets: way.name,
    streams,
    'packets/s': Math.round(packets / seconds),
    'of sent %': (packets / (streams * PACKETS_PER_S * seconds)) * 100,
    lost: lost - before.lost,
    'µs CPU a packet': (cpuSeconds / packets) * 1e6,
    'cores for 1000 streams': (cpuSeconds / seconds / streams) * 1000,
    'packets/s per core': Math.round(packets / cpuSeconds),
    'stolen %': ((stolenSeconds() - stolen) / seconds) * 100,
  };
}

console.log(`${machine()}\n`);
const rows: Row[] = [];
for (const way of WAYS) {
  for (const streams of STREAMS) rows.push(await run(streams, way));
}
console.log(table(rows));
