// A process with the last guard of the server. It throws in a handler of every kind, and then ends by itself.
import { writeSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { guarded } from '../../src/errors.js';
import { createLog } from '../../src/observe/log.js';
import { Metrics } from '../../src/observe/metrics.js';
import { surviveDefects } from '../../src/shutdown.js';
import { systemTime } from '../../src/time.js';
import { until } from './until.js';

function fail(name: string): never {
  throw new Error(name);
}

/** Throws in a socket's handler, and ends the socket. */
function throwInSocket(): void {
  const server = createServer((socket: Socket) => {
    socket.end('a byte');
    server.close();
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (address === null || typeof address === 'string') return;
    const socket = connect(address.port, address.address);
    socket.once('data', () => {
      socket.destroy();
      fail('socket');
    });
  });
}

/** Each throws an error with its name. */
export const DEFECTS: Readonly<Record<string, () => void>> = {
  timer: () => void systemTime.after(1, () => fail('timer')),
  immediate: () => void setImmediate(() => fail('immediate')),
  microtask: () => queueMicrotask(() => fail('microtask')),
  promise: () => void Promise.reject(new Error('promise')),
  socket: throwInSocket,
  worker: () => {
    const script = 'require("node:worker_threads").parentPort.postMessage(1)';
    new Worker(script, { eval: true }).once('message', () => fail('worker'));
  },
  ring: () => {
    const ring = PcmRing.open(8000, 100);
    ring.onReadable(() => {
      ring.close();
      fail('ring');
    });
    ring.write(new Float32Array(10));
  },
  guarded: () => {
    guarded(
      { work: 'fake call' },
      () => fail('guarded'),
      () => undefined,
    )();
  },
};

async function run(): Promise<void> {
  const metrics = new Metrics();
  let count = 0;
  const log = createLog({ level: 'info', logText: false });
  surviveDefects(log, (work) => {
    metrics.defect(work);
    count++;
  });
  for (const defect of Object.values(DEFECTS)) defect();
  await until(() => count === Object.keys(DEFECTS).length);
  process.send?.(await metrics.exposition(), () => process.disconnect());
}

if (process.argv[2] === 'run') await run();

/** Logs to an output that takes nothing, also a defect. Descriptor 3 is told the number of defects. */
async function loseOutput(style: string): Promise<void> {
  let count = 0;
  const log = createLog({ level: 'info', logText: false, style: style === 'text' ? 'text' : 'json' });
  surviveDefects(log, () => void count++);
  const tick = () => new Promise((resolve) => systemTime.after(5, () => resolve(undefined)));
  for (let line = 0; line < 20; line++) {
    log.info({}, 'a line');
    if (line === 10) void Promise.reject(new Error('defect'));
    await tick();
  }
  writeSync(3, `defects: ${count}\n`);
  process.exit(0);
}

if (process.argv[2] === 'lost-output') await loseOutput(process.argv[3] ?? '');
