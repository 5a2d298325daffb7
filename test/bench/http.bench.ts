// The speech server over HTTP: hits of the cache, the first byte of a text, and
// many streams at once.
//
//   npm run bench -- http           10 s a line
//   npm run bench -- http --quick   2 s
//
// The server has one processor to itself and the load another one. Hits are
// compared with what fastify and Node's own server do when they answer the same
// bytes without looking at the request.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { spreadOf } from './arrivals.js';
import type { FromBenchServer, ToBenchServer } from './bench-server.js';
import { machine, type Row, stolenSeconds, table } from './table.js';

// A load of requests over keep-alive connections, each of which asks again as
// soon as it was answered. Raw sockets: the generator must cost less than what
// it measures.

interface Load {
  readonly port: number;
  readonly connections: number;
  /** Fields of the JSON body. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly warmUpMs: number;
  readonly runMs: number;
}

interface LoadFigures {
  readonly answers: number;
  readonly perSecond: number;
  /** Milliseconds from the request to the last byte of its answer. */
  readonly latenciesMs: readonly number[];
  /** Answers that were not 200, or no hit where one was asked for. */
  readonly wrong: number;
  readonly bodyBytes: number;
}

const HEAD_END = Buffer.from('\r\n\r\n');

function requestOf(fields: Readonly<Record<string, unknown>>): Buffer {
  const body = JSON.stringify(fields);
  return Buffer.from(
    'POST /v1/audio/speech HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n' +
      `Accept: application/octet-stream\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

class Connection {
  readonly latenciesMs: number[] = [];
  answers = 0;
  wrong = 0;
  bodyBytes = 0;
  counting = false;
  readonly #socket: Socket;
  readonly #request: Buffer;
  #askedAt = 0;
  /** Bytes of the answer that are still to come; negative while its head is not there whole. */
  #left = -1;
  #head: Buffer = Buffer.alloc(0);

  constructor(port: number, request: Buffer) {
    this.#request = request;
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => this.#ask());
    this.#socket.on('data', (chunk) => this.#take(chunk));
    this.#socket.on('error', () => this.wrong++);
  }

  close(): void {
    this.#socket.destroy();
  }

  #ask(): void {
    this.#askedAt = performance.now();
    this.#socket.write(this.#request);
  }

  #take(chunk: Buffer): void {
    if (this.#left >= 0) this.#left -= chunk.length;
    else this.#readHead(this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]));
    if (this.#left !== 0) return;
    this.#left = -1;
    if (this.counting) {
      this.answers++;
      this.latenciesMs.push(performance.now() - this.#askedAt);
    }
    this.#ask();
  }

  #readHead(bytes: Buffer): void {
    const end = bytes.indexOf(HEAD_END);
    if (end < 0) {
      this.#head = bytes;
      return;
    }
    this.#head = Buffer.alloc(0);
    const head = bytes.toString('latin1', 0, end);
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? NaN);
    if (!head.startsWith('HTTP/1.1 200') || Number.isNaN(length)) {
      this.wrong++;
      this.#socket.destroy();
      return;
    }
    this.bodyBytes = length;
    this.#left = length - (bytes.length - end - HEAD_END.length);
  }
}

async function runLoad({ port, connections, fields, warmUpMs, runMs }: Load): Promise<LoadFigures> {
  const request = requestOf(fields);
  const open = Array.from({ length: connections }, () => new Connection(port, request));
  const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  await wait(warmUpMs);
  for (const connection of open) connection.counting = true;
  const from = performance.now();
  await wait(runMs);
  const seconds = (performance.now() - from) / 1000;
  for (const connection of open) connection.close();
  const answers = open.reduce((sum, connection) => sum + connection.answers, 0);
  return {
    answers,
    perSecond: answers / seconds,
    latenciesMs: open.flatMap(({ latenciesMs }) => latenciesMs),
    wrong: open.reduce((sum, { wrong }) => sum + wrong, 0),
    bodyBytes: open[0]?.bodyBytes ?? 0,
  };
}

const QUICK = process.argv.includes('--quick');
const RUN_MS = QUICK ? 2000 : 10_000;
const WARM_UP_MS = QUICK ? 1000 : 3000;
const CONNECTIONS = 8;
const ROUNDS = QUICK ? 5 : 25;
const STREAMS = 64;
const SERVER_CORE = '0';
const LOAD_CORE = '1';

// A second of speech.
const PROMPT = { input: 'Please hold the line.', voice: 'slt', response_format: 'opus' };
const SENTENCES = [
  'Thank you for calling the harbour office of the city of Bergen.',
  'Our counter is open from nine in the morning until five in the afternoon.',
  'If you know the number of your berth, please say it after the tone.',
].join(' ');
const LONG = Array.from({ length: 3 }, (_, n) => `This is sentence ${n} of a text that goes on.`).join(' ');

type Figures = Extract<FromBenchServer, { type: 'figures' }>;

class BenchServer {
  readonly port: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.port = port;
  }

  static async start(kind: 'parley' | 'fastify' | 'node', cores: string): Promise<BenchServer> {
    const script = fileURLToPath(new URL('./bench-server.js', import.meta.url));
    const child = spawn('taskset', ['-c', cores, process.execPath, script, kind], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const { port } = (await answer(child, 'listening')) as Extract<FromBenchServer, { type: 'listening' }>;
    return new BenchServer(child, port);
  }

  say(message: ToBenchServer): void {
    this.#child.send(message);
  }

  async figures(): Promise<Figures> {
    const told = answer(this.#child, 'figures');
    this.say({ type: 'figures' });
    return (await told) as Figures;
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.disconnect();
    await ended;
  }
}

function answer(child: ChildProcess, type: FromBenchServer['type']): Promise<FromBenchServer> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the server of the bench ended with ${code}`)));
    child.on('message', (message) => {
      if ((message as FromBenchServer).type === type) resolve(message as FromBenchServer);
    });
  });
}

async function hits(
  kind: 'parley' | 'fastify' | 'node',
  bodyBytes: number,
): Promise<Row & { bytes: number }> {
  const server = await BenchServer.start(kind, SERVER_CORE);
  try {
    server.say({ type: 'body', bytes: bodyBytes });
    await ask(server.port, { ...PROMPT, cache: true }); // renders it once
    const load = { port: server.port, connections: CONNECTIONS, fields: PROMPT };
    await runLoad({ ...load, connections: 1, warmUpMs: 500, runMs: WARM_UP_MS });
    server.say({ type: 'begin' });
    const stolen = stolenSeconds();
    const ran = await runLoad({ ...load, warmUpMs: 0, runMs: RUN_MS });
    const { cpuMs } = await server.figures();
    if (ran.wrong > 0) throw new Error(`${ran.wrong} answers of ${kind} were wrong`);
    const { p50, p99, max } = spreadOf(ran.latenciesMs);
    return {
      server: kind,
      bytes: ran.bodyBytes,
      'hits/s': Math.round(ran.perSecond),
      'p50 ms': p50,
      'p99 ms': p99,
      'max ms': max,
      'µs CPU a hit': Math.round((cpuMs * 1000) / ran.answers),
      'stolen s': stolenSeconds() - stolen,
    };
  } finally {
    await server.close();
  }
}

interface Asked {
  readonly firstMs: number;
  readonly allMs: number;
  readonly bytes: number;
}

async function ask(port: number, fields: Readonly<Record<string, unknown>>): Promise<Asked> {
  const askedAt = performance.now();
  const response = await fetch(`http://127.0.0.1:${port}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ voice: 'slt', cache: false, ...fields }),
  });
  if (!response.ok || response.body === null) throw new Error(await response.text());
  let firstMs = NaN;
  let bytes = 0;
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    if (bytes === 0) firstMs = performance.now() - askedAt;
    bytes += chunk.byteLength;
  }
  return { firstMs, allMs: performance.now() - askedAt, bytes };
}

async function firstByte(server: BenchServer, format: string): Promise<Row> {
  const streamed: Asked[] = [];
  const whole: Asked[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    streamed.push(await ask(server.port, { input: SENTENCES, response_format: format }));
    whole.push(await ask(server.port, { input: SENTENCES, response_format: format, stream: false }));
  }
  const first = spreadOf(streamed.map(({ firstMs }) => firstMs));
  const file = spreadOf(whole.map(({ allMs }) => allMs));
  return {
    format,
    texts: ROUNDS,
    'first byte p50 ms': first.p50,
    'p99 ms': first.p99,
    'whole file p50 ms': file.p50,
    'file p99 ms': file.p99,
    'first/whole %': Math.round((100 * first.p50) / file.p50),
  };
}

async function manyStreams(server: BenchServer, format: string): Promise<Row> {
  server.say({ type: 'begin' });
  const stolen = stolenSeconds();
  const from = performance.now();
  const asked = await Promise.all(
    Array.from({ length: STREAMS }, (_, n) =>
      ask(server.port, { input: `Number ${n}. ${LONG}`, response_format: format }),
    ),
  );
  const wallMs = performance.now() - from;
  const { delay, cpuMs } = await server.figures();
  const first = spreadOf(asked.map(({ firstMs }) => firstMs));
  return {
    format,
    streams: STREAMS,
    'loop delay p50 ms': delay.p50,
    'loop delay p99 ms': delay.p99,
    'loop delay max ms': delay.max,
    'first byte p50 ms': first.p50,
    'first byte p99 ms': first.p99,
    'all done s': wallMs / 1000,
    'CPU %': Math.round((100 * cpuMs) / wallMs),
    'stolen s': stolenSeconds() - stolen,
  };
}

async function main(): Promise<void> {
  if (availableParallelism() < 2) throw new Error('this bench wants two processors');
  const both = `${SERVER_CORE},${LOAD_CORE}`;
  console.log(`${machine()}\n`);

  const streams = await BenchServer.start('parley', both);
  await ask(streams.port, { input: SENTENCES, response_format: 'mp3' }); // loads what is loaded once
  const formats = ['mp3', 'opus', 'wav'];
  const first: Row[] = [];
  for (const format of formats) first.push(await firstByte(streams, format));
  console.log(
    `First byte of three sentences, flite, server and client on both processors\n\n${table(first)}\n`,
  );
  const many: Row[] = [];
  for (const format of formats) many.push(await manyStreams(streams, format));
  console.log(`${STREAMS} texts of 4 sentences at once, flite\n\n${table(many)}\n`);
  await streams.close();

  spawnSync('taskset', ['-pc', LOAD_CORE, String(process.pid)]);
  const parley = await hits('parley', 0);
  const rivals = [await hits('fastify', parley.bytes), await hits('node', parley.bytes)];
  const again = await hits('parley', 0); // so that a change of the machine's mood shows
  console.log(
    `Hits of the cache: ${CONNECTIONS} connections, one processor\n\n${table([parley, ...rivals, again])}`,
  );
}

await main();
