// Mixed traffic over HTTP and WebSockets for a while, and whether the server
// that bears it stays as it was: memory, handles, files, delay of its event loop.
//
//   npm run soak -- http      10 minutes
//   npm run soak -- http 60   minutes
//
// The server is a process of its own and tells its figures itself, at /metrics.
// Flat means: what the second half held is what the first half held, but for a
// tenth, and nothing is left open when everybody went.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import http2 from 'node:http2';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import { machine, type Row, table } from './table.js';

// The traffic: clients call every speech endpoint and dialect. They read a response to the end, read a part
// and abort, or abort at once.

const FORMATS = ['mp3', 'opus', 'ogg', 'flac', 'wav', 'pcm', 'ulaw_8000', 'alaw_8000'];
const VOICES = ['slt', 'rms', 'alloy', 'nova'];
const WORDS = [
  'your',
  'order',
  'has',
  'shipped',
  'and',
  'arrives',
  'on',
  'Tuesday',
  'near',
  'the',
  'station',
];
const LIMIT_MS = 60_000; // per visit; the server's own limits are below it
const LONGEST_STAY_MS = 400; // for visitors that leave early

function oneOf<T>(list: readonly [T, ...T[]] | readonly T[]): T {
  return list[Math.floor(Math.random() * list.length)] as T;
}

/** Half of them are asked again and again, so that the cache has work, too. */
function text(): string {
  if (Math.random() < 0.5) return `Sentence number ${Math.floor(Math.random() * 40)}. It is said often.`;
  const sentence = () => `${Array.from({ length: 8 }, () => oneOf(WORDS)).join(' ')}.`;
  return Array.from({ length: 1 + Math.floor(Math.random() * 6) }, sentence).join(' ');
}

/** Aborts after the visit's limit, or earlier for a visitor that leaves early. */
function patience(): AbortSignal {
  const leaves = Math.random() < 0.35;
  return AbortSignal.timeout(leaves ? Math.floor(Math.random() * LONGEST_STAY_MS) : LIMIT_MS);
}

function common(): Record<string, unknown> {
  const language = Math.random() < 0.1 ? { language: 'fr' } : { voice: oneOf(VOICES) };
  return { ...language, response_format: oneOf(FORMATS) };
}

type Visit = (url: string) => Promise<unknown>;

const connections = new Agent({ keepAlive: true });

async function ask(url: string, method: string, body: string, signal: AbortSignal): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const asking = request(url, { agent: connections, method, headers, signal });
  asking.end(body);
  const [answer] = (await once(asking, 'response')) as [IncomingMessage];
  answer.resume();
  await finished(answer);
  const { statusCode = 0 } = answer;
  if (statusCode >= 500 && statusCode !== 503) throw new Error(`${url}: ${statusCode}`);
}

async function post(url: string, body: object): Promise<void> {
  const signal = patience();
  try {
    await ask(url, 'POST', JSON.stringify(body), signal);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}

async function overHttp2(url: string): Promise<void> {
  const session = http2.connect(url);
  session.on('error', () => undefined);
  const signal = patience();
  signal.addEventListener('abort', () => session.destroy());
  const streams = Array.from({ length: 3 }, async () => {
    const stream = session.request({
      ':method': 'POST',
      ':path': '/v1/audio/speech',
      'content-type': 'application/json',
    });
    stream.on('error', () => undefined);
    stream.end(JSON.stringify({ input: text(), ...common() }));
    stream.resume();
    await new Promise((resolve) => stream.on('close', resolve));
  });
  await Promise.all(streams);
  session.destroy();
}

/** Says all of it, and stays until a message is the last one. */
async function overSocket(url: string, messages: readonly object[], isLast: RegExp): Promise<void> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'));
  const signal = patience();
  signal.addEventListener('abort', () => socket.terminate());
  socket.on('error', () => undefined);
  socket.on('open', () => {
    for (const message of messages) socket.send(JSON.stringify(message));
  });
  socket.on('message', (data, isBinary) => {
    if (!isBinary && isLast.test((data as Buffer).toString())) socket.close();
  });
  await new Promise((resolve) => socket.on('close', resolve)); // not `once` of events: it rejects where a socket ends before it is open
}

const VISITS: readonly Visit[] = [
  (url) => post(`${url}/v1/audio/speech`, { input: text(), ...common() }),
  (url) => post(`${url}/v1/audio/speech`, { input: text(), ...common(), stream: false }),
  (url) => post(`${url}/v1/audio/speech`, { input: text(), ...common(), stream_format: 'sse' }),
  (url) => post(`${url}/v1/audio/speech`, { input: text(), speed: 1.5, cache: false }),
  (url) => post(`${url}/v1/audio/speech`, { input: '', voice: 7 }),
  (url) => post(`${url}/v1/audio/speech/stream`, { input: text() }),
  (url) => post(`${url}/v1/audio/speech/pcm`, { input: text() }),
  (url) =>
    post(`${url}/v1/audio/speech/batch`, { items: [{ input: text() }, { input: text(), ...common() }] }),
  (url) => post(`${url}/v1/text-to-speech/slt`, { text: text() }),
  (url) => post(`${url}/v1/text-to-speech/slt/stream/with-timestamps`, { text: text() }),
  (url) =>
    Math.random() < 0.05 ? post(`${url}/cache/clear`, {}) : post(`${url}/v1/audio/speech`, { input: '...' }),
  overHttp2,
  (url) =>
    overSocket(`${url}/v1/audio/speech/ws`, [{ input: text() }, { input: text() }], /"(?:done|error)"/),
  (url) =>
    overSocket(
      `${url}/v1/audio/speech/stream`,
      [
        { type: 'session.config', response_format: oneOf(FORMATS), stream_audio: Math.random() < 0.5 },
        { type: 'input.text', text: text() },
        { type: 'input.done' },
      ],
      /"session\.done"/,
    ),
  (url) =>
    overSocket(
      `${url}/v1/text-to-speech/slt/stream-input?output_format=pcm_24000`,
      [{ text: ' ' }, { text: `${text()} ` }, { text: '' }],
      /"isFinal":true/,
    ),
  (url) =>
    overSocket(
      `${url}/v1/text-to-speech/slt/multi-stream-input?output_format=mp3_22050_32`,
      [
        { text: ' ', context_id: 'one' },
        { text: `${text()} `, context_id: 'one', flush: true },
        { text: `${text()} `, context_id: 'two' },
        { context_id: 'one', close_context: true },
        { close_socket: true },
      ],
      /never/,
    ),
];

interface TrafficCount {
  visits: number;
  left: number;
  failed: number;
}

/** Visits one after the other until the signal is aborted; what goes wrong but for leaving is told. */
async function visitor(
  url: string,
  signal: AbortSignal,
  count: TrafficCount,
  failed: (error: unknown) => void,
): Promise<void> {
  while (!signal.aborted) {
    count.visits++;
    try {
      await oneOf(VISITS)(url);
    } catch (error) {
      if ((error as Error).name === 'TimeoutError') count.left++;
      else {
        count.failed++;
        failed(error);
      }
    }
    await sleep(Math.random() * 50);
  }
}

/** Ends the connections that are kept for further visits. */
function closeConnections(): void {
  connections.destroy();
}

const SERVER = fileURLToPath(new URL('../../src/main.js', import.meta.url));
const MINUTES = Number(process.argv[2] ?? 10);
const EVERY_MS = 30_000;
const VISITORS = 12;
const REST_MS = 10_000; // for what visitors left behind
const GROWTH = 1.1;
const CACHE_BYTES = 16 * 1024 * 1024; // full within the first minutes: what grows later is something else

const FIGURES = {
  'RSS MB': ['process_resident_memory_bytes', 1e-6],
  'heap MB': ['nodejs_heap_size_used_bytes', 1e-6],
  'external MB': ['nodejs_external_memory_bytes', 1e-6],
  files: ['process_open_fds', 1],
  resources: ['nodejs_active_resources_total', 1],
  waiting: ['tts_queue_depth', 1],
  'loop p99 ms': ['nodejs_eventloop_lag_p99_seconds', 1000],
  'loop max ms': ['nodejs_eventloop_lag_max_seconds', 1000],
} as const;
type Figures = Record<keyof typeof FIGURES, number>;

async function start(): Promise<{ process: ChildProcess; url: string }> {
  const env = {
    ...process.env,
    PORT: '0',
    LOG_LEVEL: 'info',
    ESPEAK: '1',
    AUDIO_CACHE_BYTES: String(CACHE_BYTES),
  };
  const server = spawn(process.execPath, [SERVER], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  process.once('SIGTERM', () => server.kill()).once('SIGINT', () => server.kill());
  const lines = createInterface({ input: server.stdout });
  const url = await new Promise<string>((resolve, reject) => {
    server.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
    lines.on('line', (line) => {
      const { level, msg, url: told } = JSON.parse(line) as Record<string, string>;
      if (msg === 'parley listens' && told !== undefined) resolve(told);
      if (level === 'error' || level === 'fatal') console.error(line);
    });
  });
  return { process: server, url };
}

async function figuresOf(url: string): Promise<Figures> {
  const exposition = await (await fetch(`${url}/metrics`)).text();
  const valueOf = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(exposition)?.[1]);
  return Object.fromEntries(
    Object.entries(FIGURES).map(([title, [name, unit]]) => [
      title,
      Math.round(valueOf(name) * unit * 10) / 10,
    ]),
  ) as Figures;
}

function mean(of: readonly Figures[], title: keyof Figures): number {
  return of.reduce((sum, figures) => sum + figures[title], 0) / of.length;
}

/** Figures that grew between the halves, and resources that are still open. */
function grown(before: Figures, during: readonly Figures[], after: Figures): string[] {
  const middle = Math.floor(during.length / 2);
  const halves = [during.slice(0, middle), during.slice(middle)] as const;
  const larger = (['RSS MB', 'heap MB', 'external MB', 'loop p99 ms'] as const)
    .filter((title) => middle > 0 && mean(halves[1], title) > GROWTH * mean(halves[0], title))
    .map((title) => `${title} grew from ${mean(halves[0], title)} to ${mean(halves[1], title)}`);
  const open = (['files', 'resources', 'waiting'] as const)
    .filter((title) => after[title] > before[title] + 2) // this client's own connections
    .map((title) => `${title}: ${before[title]} before, ${after[title]} after`);
  return [...larger, ...open];
}

const { process: server, url } = await start();
const before = await figuresOf(url);
const rows: Row[] = [{ at: 'start', visits: 0, ...before }];
const count: TrafficCount = { visits: 0, left: 0, failed: 0 };
const controller = new AbortController();
const failed = (error: unknown) => console.error((error as Error).message);
const traffic = Array.from({ length: VISITORS }, () => visitor(url, controller.signal, count, failed));

console.log(`${machine()}; ${VISITORS} visitors for ${MINUTES} min`);
const during: Figures[] = [];
const endAtMs = performance.now() + MINUTES * 60_000;
while (performance.now() < endAtMs) {
  await sleep(Math.min(EVERY_MS, endAtMs - performance.now()));
  const figures = await figuresOf(url);
  during.push(figures);
  const at = `${(during.length * EVERY_MS) / 1000} s`;
  rows.push({ at, visits: count.visits, ...figures });
  console.log(at, JSON.stringify(figures), JSON.stringify(count));
}
controller.abort();
await Promise.all(traffic);
closeConnections();
await sleep(REST_MS);
const after = await figuresOf(url);
rows.push({ at: 'rest', visits: count.visits, ...after });
console.log(table(rows));

const stoppedAtMs = performance.now();
server.kill('SIGTERM');
const [code] = (await once(server, 'exit')) as [number | null];
console.log(
  `exit ${code} within ${Math.round(performance.now() - stoppedAtMs)} ms; ${count.left} visitors left early`,
);
const growth = grown(before, during, after);
if (growth.length > 0) console.log(`not flat: ${growth.join('; ')}`);
if (growth.length > 0 || count.failed > 0 || code !== 0) process.exitCode = 1;
else console.log('flat');
