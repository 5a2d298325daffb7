// How long another client waits for `/health` while four connections of HTTP/2 flood the server.
//
//   npm run bench -- http2-flood
//
// Each connection sends up to 100,000 frames or pairs of frames as fast as the server takes them, from a
// process of its own and for at most 4 s.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { fields, frame, GREETING } from '../api/http/http2-client.js';
import type { FromBenchServer } from './bench-server.js';
import { machine, type Row, stolenSeconds, table } from './table.js';

const CONNECTIONS = 4;
const FRAMES = 100_000;
const MOST_MS = 4000;
const REST_MS = 1500; // the server refuses connections of an address for 1 s after a flood
const AT_ONCE = 500;

const HEADERS = frame(
  1,
  5,
  0,
  fields([':method', 'GET'], [':scheme', 'http'], [':path', '/v1/models'], [':authority', 'localhost']),
).subarray(9);

/** Frames for one stream of each flood. */
const FLOODS: Readonly<Record<string, ((stream: number) => Buffer) | undefined>> = {
  nothing: undefined,
  'HEADERS and RST_STREAM': (stream) =>
    Buffer.concat([frame(1, 5, stream, HEADERS), frame(3, 0, stream, Buffer.of(0, 0, 0, 8))]),
  PING: () => frame(6, 0, 0, Buffer.alloc(8)),
  SETTINGS: () => frame(4, 0, 0),
  WINDOW_UPDATE: () => frame(8, 0, 0, Buffer.of(0, 0, 0, 1)),
  PRIORITY: (stream) => frame(2, 0, stream, Buffer.of(0, 0, 0, 0, 5)),
};

/** Resolves once the server has closed the connection, or everything was sent. */
async function flood(port: number, make: (stream: number) => Buffer): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  socket.resume().on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const drained = () => new Promise((resolve) => socket.once('drain', resolve));
  const untilMs = performance.now() + MOST_MS;
  socket.write(GREETING);
  for (let sent = 0; sent < FRAMES && !socket.destroyed && performance.now() < untilMs; sent += AT_ONCE) {
    const frames = Array.from({ length: AT_ONCE }, (_, index) => make(2 * (sent + index) + 1));
    if (!socket.write(Buffer.concat(frames))) await Promise.race([drained(), closed]);
  }
  socket.destroySoon();
  await closed;
}

function health(port: number): Promise<number> {
  const beganMs = performance.now();
  return new Promise((resolve, reject) => {
    get({ port, path: '/health', agent: false }, (response) => {
      response.resume().once('end', () => resolve(performance.now() - beganMs));
    }).once('error', reject);
  });
}

type Figures = Extract<FromBenchServer, { type: 'figures' }>;

async function measure({ server, port }: BenchServer, kind: string): Promise<Row> {
  const attacker = fork(fileURLToPath(import.meta.url), ['attack', String(port), kind]);
  let isOver = false;
  const over = once(attacker, 'exit').then(() => (isOver = true));
  await once(attacker, 'message');
  server.send({ type: 'begin' });
  attacker.send('begin');
  const waits: number[] = [];
  while (!isOver || waits.length < 200) waits.push(await health(port));
  await over;
  server.send({ type: 'figures' });
  const [{ cpuMs }] = (await once(server, 'message')) as [Figures];
  waits.sort((a, b) => a - b);
  const [median, worst] = [waits[Math.floor(waits.length / 2)] ?? 0, waits.at(-1) ?? 0];
  await new Promise((resolve) => setTimeout(resolve, REST_MS));
  return { flood: kind, answers: waits.length, 'median ms': median, 'worst ms': worst, 'CPU ms': cpuMs };
}

interface BenchServer {
  readonly server: ChildProcess;
  readonly port: number;
}

async function startServer(): Promise<BenchServer> {
  const server = fork(fileURLToPath(new URL('bench-server.js', import.meta.url)), ['parley']);
  const [{ port }] = (await once(server, 'message')) as [Extract<FromBenchServer, { type: 'listening' }>];
  return { server, port };
}

async function bench(): Promise<void> {
  const open = await startServer();
  const { server, port } = open;
  for (let count = 0; count < 200; count++) await health(port); // V8 has compiled the code then
  const stolen = stolenSeconds();
  const rows: Row[] = [];
  for (const kind of Object.keys(FLOODS)) rows.push(await measure(open, kind));
  server.kill();
  console.log(`${machine()}, ${(stolenSeconds() - stolen).toFixed(1)} s stolen\n\n${table(rows)}`);
}

async function attack(port: number, kind: string): Promise<void> {
  process.send?.('ready');
  await once(process, 'message');
  const make = FLOODS[kind];
  if (make !== undefined) {
    await Promise.all(Array.from({ length: CONNECTIONS }, () => flood(port, make)));
  }
  process.disconnect();
}

const [, , role, port, kind] = process.argv;
await (role === 'attack' ? attack(Number(port), kind ?? '') : bench());
