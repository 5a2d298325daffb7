// Mixed traffic over HTTP and WebSockets for a while, and whether the server
// that bears it stays as it was: memory, handles, files, delay of its event loop.
//
//   npm run soak:http                10 minutes
//   npm run soak:http -- 60          minutes
//
// The server is a process of its own and tells its figures itself, at /metrics.
// Flat means: what the second half held is what the first half held, but for a
// tenth, and nothing is left open when everybody went.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { closeConnections, type TrafficCount, visitor } from './soak-traffic.js';
import { machine, table, type Row } from './table.js';

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
