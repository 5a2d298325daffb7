// Calls over WebSocket, whose sound passes the main thread: each sends a message of sound each 20 ms, in
// OpenAI's Realtime events, and hears one.
//
//   npm run bench -- socket-calls           1, 50, 100 and 200 calls
//   npm run bench -- socket-calls --quick   1 and 10, for a shorter time
//
// The clients run in a process of their own on the same machine. They hear kept sentences of the embedded
// voice, so that what remains is the way of the sound.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import { readConfig } from '../../src/config/config.js';
import { startServer } from '../../src/main.js';
import { spreadOf } from './arrivals.js';
import { machine, type Row, stolenSeconds, table } from './table.js';

const QUICK = process.argv.includes('--quick');
const SECONDS = QUICK ? 5 : 20;
const SETTLE_MS = 3000;
const FRAME_MS = 20;
const MIB = 1024 * 1024;
const TICK_MS = 10; // of the kernel's clock of processor time: USER_HZ is 100
const TEXT = 'The train leaves at nine from platform two. It stops in Bern, and then in Thun. '.repeat(3);
const SOUND = JSON.stringify({
  type: 'input_audio_buffer.append',
  audio: Buffer.alloc(960, 1).toString('base64'),
});
const CREATE = JSON.stringify({
  type: 'response.create',
  response: {
    conversation: 'none',
    input: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: TEXT }] }],
  },
});

interface ClientFigures {
  /** Milliseconds between two messages of sound of a response. */
  readonly gaps: readonly number[];
  readonly errors: number;
}

/** One call; adds to the gaps. */
async function call(url: string, gaps: number[], failed: () => void): Promise<void> {
  const socket = new WebSocket(url);
  let lastMs = NaN;
  socket.on('message', (data) => {
    const text = (data as Buffer).toString();
    if (text.startsWith('{"type":"response.output_audio.delta"')) {
      const nowMs = performance.now();
      if (!Number.isNaN(lastMs)) gaps.push(nowMs - lastMs);
      lastMs = nowMs;
    } else if (text.startsWith('{"type":"response.done"')) {
      lastMs = NaN;
      socket.send(CREATE);
    } else if (text.startsWith('{"type":"error"')) failed();
  });
  await once(socket, 'open');
  socket.send(CREATE);
  setInterval(() => socket.send(SOUND), FRAME_MS);
}

/** The process of the clients. */
async function clients(url: string, count: number): Promise<void> {
  const gaps: number[] = [];
  let errors = 0;
  for (let n = 0; n < count; n++) {
    await call(url, gaps, () => errors++);
    await sleep((1000 * FRAME_MS) / 1000 / count);
  }
  process.send?.('open');
  await once(process, 'message');
  gaps.length = 0;
  await once(process, 'message');
  process.send?.({ gaps, errors } satisfies ClientFigures);
  await sleep(100);
  process.exit();
}

/** Processor time of the main thread in milliseconds; NaN where the system does not tell it (proc(5)). */
function mainThreadMs(): number {
  try {
    const stat = readFileSync(`/proc/self/task/${process.pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return TICK_MS * (Number(fields[11]) + Number(fields[12])); // utime and stime
  } catch {
    return NaN;
  }
}

async function line(url: string, count: number): Promise<Row> {
  const child = fork(fileURLToPath(import.meta.url), ['clients', url, String(count)]);
  await once(child, 'message');
  await sleep(SETTLE_MS);
  child.send('begin');
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  const [cpu, mainMs, stolen] = [process.cpuUsage(), mainThreadMs(), stolenSeconds()];
  await sleep(1000 * SECONDS);
  const { user, system } = process.cpuUsage(cpu);
  const spentMs = mainThreadMs() - mainMs;
  loop.disable();
  child.send('end');
  const [{ gaps, errors }] = (await once(child, 'message')) as [ClientFigures];
  await once(child, 'exit');
  const gap = spreadOf(gaps);
  return {
    calls: count,
    'gap p50': gap.p50,
    'gap p99': gap.p99,
    'gap max': gap.max,
    'loop p99': loop.percentile(99) / 1e6,
    'loop max': loop.max / 1e6,
    'main CPU % a call': spentMs / 10 / SECONDS / count,
    'CPU % a call': (user + system) / 1e4 / SECONDS / count,
    'RSS MB': Math.round(process.memoryUsage().rss / MIB),
    errors,
    'stolen s': stolenSeconds() - stolen,
  };
}

async function main(): Promise<void> {
  console.log(`${new Date().toISOString().slice(0, 10)}, ${machine()}\n`);
  const environment = {
    PORT: '0',
    SIP_ENABLED: '0',
    ENGINE: 'flite',
    LOG_LEVEL: 'silent',
    MAX_SOCKETS: '1000',
  };
  const server = await startServer(readConfig({ ...environment, MAX_CALLS: '1000' }));
  const url = `${server.url.replace('http', 'ws')}/v1/realtime`;
  const rows: Row[] = [];
  for (const count of QUICK ? [1, 10] : [1, 50, 100, 200]) rows.push(await line(url, count));
  console.log(table(rows));
  await server.close();
}

const [, , role, url = '', count = '1'] = process.argv;
if (role === 'clients') await clients(url, Number(count));
else await main();
