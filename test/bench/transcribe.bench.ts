// The cost of transcription beside the model: files over HTTP and live sockets, 1, 8 and 64 at once, on the
// tiny checkpoint. The same sound through the recogniser alone, in this process, is the model's part.
//
//   npm run bench -- transcribe                  the tiny checkpoint
//   npm run bench -- transcribe DIR [quantize]   a checkpoint of full size: files, 1 and 8, of 30 s
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { toBytesS16le } from '../../src/audio/pcm16.js';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { readWav, WAV_HEADER_BYTES, wavHeader } from '../../src/codecs/wav.js';
import { Qwen3Recogniser } from '../../src/engines/qwen3/qwen3-recogniser.js';
import { GOLDEN } from '../engines/golden.js';
import type { FromBenchServer, ToBenchServer } from './bench-server.js';
import { machine, type Row, table } from './table.js';

const RATE = 16_000;
const PIECE_MS = 20;
const LIVE_SECONDS = 20;
const [directory, quantize = 'int8'] = process.argv.slice(2);
const isTiny = directory === undefined;
const MODEL = directory ?? join(GOLDEN, 'tiny-asr-a');
const FILE_SECONDS = isTiny ? 120 : 30;
const COUNTS = isTiny ? [1, 8, 64] : [1, 8];

/** Four seconds of speech and two of silence, in turn. */
function sound(seconds: number): Float32Array {
  const wav = readWav(readFileSync(join(GOLDEN, 'clips/odd37.wav')));
  const clip = new Float32Array(wav.frames);
  wav.read(0, 0, clip);
  const samples = new Float32Array(seconds * RATE);
  for (let at = RATE / 2; at < samples.length; at += 6 * RATE)
    samples.set(clip.subarray(0, Math.max(0, samples.length - at)), at);
  return samples;
}

function bytesOf(samples: Float32Array): Buffer {
  const bytes = Buffer.alloc(2 * samples.length);
  toBytesS16le(samples, samples.length, bytes);
  return bytes;
}

class BenchedServer {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.url = `http://127.0.0.1:${port}`;
  }

  static async open(env: Readonly<Record<string, string>>): Promise<BenchedServer> {
    const script = join(import.meta.dirname, 'bench-server.js');
    const child = fork(script, ['parley'], { env: { ...process.env, ...env } });
    const [message] = (await once(child, 'message')) as [FromBenchServer];
    if (message.type !== 'listening') throw new Error('the server told no port');
    return new BenchedServer(child, message.port);
  }

  /** Figures of the server while the work goes on. */
  async during(work: () => Promise<void>) {
    this.#child.send({ type: 'begin' } satisfies ToBenchServer);
    const from = performance.now();
    await work();
    const ms = performance.now() - from;
    this.#child.send({ type: 'figures' } satisfies ToBenchServer);
    const [message] = (await once(this.#child, 'message')) as [FromBenchServer];
    if (message.type !== 'figures') throw new Error('the server told no figures');
    return { ms, ...message };
  }

  async close(): Promise<void> {
    this.#child.disconnect();
    await once(this.#child, 'exit');
  }
}

async function oneFile(url: string, file: Buffer): Promise<void> {
  const answer = await fetch(`${url}/v1/audio/transcriptions?response_format=srt`, {
    method: 'POST',
    headers: { 'content-type': 'audio/wav' },
    body: Uint8Array.from(file),
  });
  const text = await answer.text();
  if (answer.status !== 200 || !text.startsWith('1\n'))
    throw new Error(`${answer.status}: ${text.slice(0, 200)}`);
}

async function files(server: BenchedServer, count: number): Promise<Row> {
  const samples = sound(FILE_SECONDS);
  const head = Buffer.alloc(WAV_HEADER_BYTES);
  head.set(wavHeader(RATE, samples.length));
  const file = Buffer.concat([head, bytesOf(samples)]);
  await oneFile(server.url, file); // warms everything up
  const { ms, cpuMs, delay } = await server.during(async () => {
    await Promise.all(Array.from({ length: count }, () => oneFile(server.url, file)));
  });
  return rowOf(`${count} files`, { seconds: count * FILE_SECONDS, ms, cpuMs, delay });
}

/** A socket that sends in real time. Resolves with its final texts. */
async function oneSocket(url: string, bytes: Buffer, pieceMs: number): Promise<number> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/audio/transcriptions/stream`);
  let finals = 0;
  socket.on('message', (data) => {
    const message = JSON.parse((data as Buffer).toString()) as { type: string; message?: string };
    if (message.type === 'error') throw new Error(message.message);
    if (message.type === 'final') finals++;
  });
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'config', partials: false }));
  const pieceBytes = (2 * RATE * pieceMs) / 1000;
  const from = performance.now();
  for (let at = 0, n = 0; at < bytes.length; at += pieceBytes, n++) {
    const dueMs = from + n * pieceMs - performance.now();
    if (dueMs > 0) await new Promise((resolve) => setTimeout(resolve, dueMs));
    socket.send(bytes.subarray(at, at + pieceBytes));
  }
  socket.send(JSON.stringify({ type: 'end' }));
  await once(socket, 'close');
  return finals;
}

async function sockets(server: BenchedServer, count: number, pieceMs = PIECE_MS): Promise<Row> {
  const bytes = bytesOf(sound(LIVE_SECONDS));
  const turns = Math.ceil((LIVE_SECONDS - 0.5) / 6);
  const { ms, cpuMs, delay } = await server.during(async () => {
    const all = Array.from({ length: count }, async (_, n) => {
      await new Promise((resolve) => setTimeout(resolve, (n * pieceMs) / count)); // not all at one moment
      return oneSocket(server.url, bytes, pieceMs);
    });
    for (const finals of await Promise.all(all))
      if (finals !== turns) throw new Error(`${finals} turns of ${turns} were told`);
  });
  return rowOf(`${count} sockets, ${pieceMs} ms`, { seconds: count * LIVE_SECONDS, ms, cpuMs, delay });
}

interface Figures {
  readonly seconds: number;
  readonly ms: number;
  readonly cpuMs: number;
  readonly delay: { readonly p50: number; readonly p99: number; readonly max: number };
}

function rowOf(load: string, { seconds, ms, cpuMs, delay }: Figures): Row {
  return {
    load,
    'CPU ms a second of sound': cpuMs / seconds,
    'x real time': seconds / (ms / 1000),
    'event loop p99 ms': delay.p99,
    'max ms': delay.max,
  };
}

/** CPU milliseconds of the recogniser alone for a second of sound. */
async function alone(recogniser: Qwen3Recogniser, use: 'file' | 'live'): Promise<Row> {
  const seconds = use === 'file' ? FILE_SECONDS : LIVE_SECONDS;
  const samples = sound(seconds);
  const ring = PcmRing.open(RATE, samples.length);
  const cpu = process.cpuUsage();
  const from = performance.now();
  const session = recogniser.open(
    { sampleRate: RATE, use, ...(use === 'file' ? { pieceSeconds: 20 } : { gated: true }) },
    { final: () => undefined },
  );
  session.push(ring);
  if (use === 'file') ring.write(samples);
  else {
    for (let at = 0; at < seconds; at += 6) {
      const [begin, end] = [(at + 0.5) * RATE, Math.min(at + 4.8, seconds) * RATE];
      ring.write(samples.subarray(at * RATE, begin));
      session.turn('begin');
      ring.write(samples.subarray(begin, end));
      session.turn('end');
      ring.write(samples.subarray(end, (at + 6) * RATE));
    }
  }
  await session.end();
  ring.close();
  const { user, system } = process.cpuUsage(cpu);
  const figures = { seconds, ms: performance.now() - from, cpuMs: (user + system) / 1000 };
  return rowOf(`the recogniser alone, ${use}`, { ...figures, delay: { p50: 0, p99: 0, max: 0 } });
}

console.log(
  `${new Date().toISOString().slice(0, 10)}, ${machine()}, ${isTiny ? 'tiny checkpoint' : MODEL}\n`,
);
const recogniser = await Qwen3Recogniser.open({
  native: {
    directory: MODEL,
    quantize: isTiny || quantize === 'none' ? 'none' : 'int8',
    threads: 2,
    cores: [],
  },
  maxSessions: 2,
  stallMs: 60_000,
});
await recogniser.load();
const rows: Row[] = [await alone(recogniser, 'file')];
if (isTiny) rows.push(await alone(recogniser, 'live'));
await recogniser.close();
const server = await BenchedServer.open({
  ASR_MODEL_DIR: MODEL,
  ENGINE: 'flite',
  SIP_ENABLED: '0',
  MAX_TRANSCRIPTIONS: '64',
  INFERENCE_THREADS: '2',
  ...(isTiny || quantize === 'none' ? {} : { QUANTIZE: quantize }),
});
for (const count of COUNTS) rows.push(await files(server, count));
if (isTiny) {
  for (const count of COUNTS) rows.push(await sockets(server, count));
  rows.push(await sockets(server, 64, 100));
}
await server.close();
console.log(table(rows));
