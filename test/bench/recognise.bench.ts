// Measures whether recognition stays as it is: memory over a long file, time to the final text over the turns
// of a long call, and memory of a server that has loaded nothing. The tiny checkpoint shows the cost of
// everything around the model; native/bench/recognition_bench.cc measures the model.
//
//   npm run bench -- recognise [hours of the file]
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { readWav } from '../../src/codecs/wav.js';
import { Qwen3Recogniser } from '../../src/engines/qwen3/qwen3-recogniser.js';
import type { RecognisedText } from '../../src/engines/recogniser.js';
import { GOLDEN } from '../engines/golden.js';
import { until } from '../fakes/until.js';
import { machine, type Row, table } from './table.js';

const HOURS = Number(process.argv[2] ?? '10');
const TURNS = 150; // of four seconds: ten minutes
const RATE = 16_000;
const MODEL = join(GOLDEN, 'tiny-asr-a');
const ALIGNER = join(GOLDEN, 'tiny-aligner');
const SETTLE_MS = 5000; // after the start of a server

function clip(name: string): Float32Array {
  const wav = readWav(readFileSync(join(GOLDEN, 'clips', `${name}.wav`)));
  const samples = new Float32Array(wav.frames);
  wav.read(0, 0, samples);
  return samples;
}

/** Seconds of speech, of the clips in turn. */
function speech(seconds: number): Float32Array {
  const clips = ['odd37', 'en91', 'yes03', 'edge101'].map(clip);
  const samples = new Float32Array(seconds * RATE);
  for (let at = 0, n = 0; at < samples.length; n++) {
    const next = clips[n % clips.length] ?? new Float32Array(1);
    samples.set(next.subarray(0, samples.length - at), at);
    at += next.length;
  }
  return samples;
}

function residentMb(pid: number | 'self' = 'self'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

async function longFile(recogniser: Qwen3Recogniser): Promise<readonly Row[]> {
  const hour = speech(60);
  const ring = PcmRing.open(RATE, 4 * RATE);
  let pieces = 0;
  const session = recogniser.open(
    { sampleRate: RATE, use: 'file', pieceSeconds: 60 },
    { final: () => pieces++ },
  );
  session.push(ring);
  const rows: Row[] = [];
  for (let hours = 1; hours <= HOURS; hours++) {
    const [from, cpu, before] = [performance.now(), process.cpuUsage(), pieces];
    for (let minute = 0; minute < 60; minute++) await ring.writeAll(hour);
    const { user, system } = process.cpuUsage(cpu);
    rows.push({
      hour: hours,
      pieces: pieces - before,
      'x real time': Math.round(3_600_000 / (performance.now() - from)),
      'CPU ms a second': (user + system) / 1000 / 3600,
      'resident MB': Math.round(residentMb()),
    });
  }
  ring.end();
  await session.ended;
  ring.close();
  return rows;
}

/** Turns as a caller speaks them, but as fast as they are recognised; each is checked. */
async function longCall(recogniser: Qwen3Recogniser): Promise<readonly Row[]> {
  const turn = speech(4);
  const silence = new Float32Array(RATE / 5);
  const ring = PcmRing.open(RATE, 10 * RATE);
  let told: (final: RecognisedText) => void = () => undefined;
  const session = recogniser.open(
    { sampleRate: RATE, use: 'live', partials: true },
    { final: (text) => told(text), partial: () => undefined },
  );
  session.push(ring);
  const times: number[] = [];
  const texts = new Set<string>();
  for (let n = 0; n < TURNS; n++) {
    await ring.writeAll(turn);
    await until(() => ring.status()?.readable === 0);
    const final = new Promise<RecognisedText>((resolve) => (told = resolve));
    await ring.writeAll(silence);
    const from = performance.now();
    session.turn('pause');
    session.turn('end');
    const { text, beginSeconds, endSeconds } = await final;
    times.push(performance.now() - from);
    texts.add(text);
    assert(Math.abs(beginSeconds - n * 4.2) < 0.001 && Math.abs(endSeconds - (n + 1) * 4.2) < 0.001);
  }
  assert.equal(texts.size, 1, 'each turn has the same text');
  await session.end();
  ring.close();
  const tenth = TURNS / 10;
  const at = (values: readonly number[], share: number) =>
    values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;
  const row = (turns: string, some: readonly number[]) => ({
    turns,
    p50: at(some, 0.5),
    p95: at(some, 0.95),
    worst: at(some, 0.999),
  });
  return [
    row('all', times),
    row('first tenth', times.slice(0, tenth)),
    row('last tenth', times.slice(-tenth)),
  ];
}

async function server(what: string, env: Readonly<Record<string, string>>): Promise<Row> {
  const main = join(import.meta.dirname, '../../src/main.js');
  const child = spawn(process.execPath, [main], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    for await (const line of createInterface({ input: child.stdout }))
      if (line.includes('parley listens')) break;
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    return { server: what, 'resident MB': Math.round(residentMb(child.pid)) };
  } finally {
    child.kill();
    await once(child, 'exit');
  }
}

console.log(`${new Date().toISOString().slice(0, 10)}, ${machine()}\n`);
const names = { ASR_MODEL_DIR: MODEL, ALIGNER_MODEL_DIR: ALIGNER };
console.log(
  table([
    await server('the embedded voice loaded', {}),
    await server('nothing loaded', { PRELOAD_MODEL: '0' }),
    await server('nothing loaded, recogniser and aligner named', { PRELOAD_MODEL: '0', ...names }),
  ]),
);
const recogniser = await Qwen3Recogniser.open({
  native: { directory: MODEL, quantize: 'none', threads: 2, cores: [] },
  maxSessions: 1,
  stallMs: 60_000,
});
await recogniser.load();
console.log(`\nFinal text of ${TURNS} turns of four seconds, ms after the end of the turn:\n`);
console.log(table(await longCall(recogniser)));
console.log('\nOne file:\n');
console.log(table(await longFile(recogniser)));
await recogniser.close();
