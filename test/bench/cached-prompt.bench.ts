// Cost per call of a cached prompt against a rendered one: processor time per second of speech, and the time
// to the first payload.
//
//   npm run bench -- cached-prompt           20 calls, 50 texts a line
//   npm run bench -- cached-prompt --quick   5 calls, 10 texts
//
// Calls speak in real time over the loopback interface, encrypted. The time of
// all threads of the process is counted; what the same calls take while they
// are silent (clock, encryption, sending) is measured before and taken off.
import { setTimeout as sleep } from 'node:timers/promises';
import { OPUS, PCMU, type Codec } from '../../src/codecs/codec.js';
import type { SpeechEngine } from '../../src/engines/engine.js';
import { fliteEngine } from '../../src/engines/flite/flite.js';
import { InstantEngine } from '../fakes/engines.js';
import { spreadOf, UdpReceiver } from './arrivals.js';
import { BenchCalls, type BenchCall } from './bench-calls.js';
import { machine, type Row, stolenSeconds, table } from './table.js';

const QUICK = process.argv.includes('--quick');
const CALLS = QUICK ? 5 : 20;
const TEXTS = QUICK ? 10 : 50;
const SILENT_MS = QUICK ? 2000 : 5000;
const REST_MS = 120;
const LIMIT_MS = 120_000;
const CACHE_BYTES = 32 * 1024 * 1024;
const PROMPT =
  'Welcome to the service line. For questions about your bill, press one. ' +
  'For technical help, press two. To speak to somebody, please hold the line.';
const SHORT = 'Please hold the line, we will be with you soon.';

interface Voiced {
  readonly name: string;
  readonly engine: SpeechEngine;
  readonly voice: string;
}

interface Cost {
  /** Milliseconds of processor time in one second of one call's speech. */
  readonly cpuMs: number;
  readonly speechSeconds: number;
  readonly queuedMs: readonly number[];
}

/** Resolves with what the event that is waited for says. */
function told(call: BenchCall, type: string): Promise<Readonly<Record<string, unknown>>> {
  const told = new Promise<Readonly<Record<string, unknown>>>((resolve, reject) => {
    call.onMessage = (message) => {
      if (message.type === type) resolve(message as unknown as Record<string, unknown>);
      if (message.type === 'utterance.failed' || message.type === 'error') {
        reject(new Error(message.error.message));
      }
    };
  });
  const late = sleep(LIMIT_MS, undefined, { ref: false }).then(() => {
    throw new Error(`no ${type} within ${LIMIT_MS} ms`);
  });
  return Promise.race([told, late]);
}

function speak(call: BenchCall, token: string, until: string): Promise<Readonly<Record<string, unknown>>> {
  const event = told(call, until);
  call.session.receive(JSON.stringify({ type: 'text', token, last: true }));
  return event;
}

/**
 * Milliseconds of processor time of every thread of the process while `work` goes on, and how long it took.
 */
async function timed<T>(work: Promise<T>): Promise<{ cpuMs: number; wallMs: number; result: T }> {
  const began = performance.now();
  const before = process.cpuUsage();
  const result = await work;
  const { user, system } = process.cpuUsage(before);
  return { cpuMs: (user + system) / 1000, wallMs: performance.now() - began, result };
}

async function costOf({ engine, voice }: Voiced, codec: Codec, kept: boolean): Promise<Cost> {
  const receiver = await UdpReceiver.open();
  const calls = new BenchCalls(engine, voice, { codec, frameCacheBytes: kept ? CACHE_BYTES : 0 });
  const open = await calls.open(CALLS, receiver.port);
  const [first] = open;
  if (first === undefined) throw new Error('no call');
  await speak(first, PROMPT, 'utterance.spoken'); // fills the cache, and warms up what renders
  await speak(first, SHORT, 'utterance.spoken');
  const silent = await timed(sleep(SILENT_MS));
  const spoken = await timed(Promise.all(open.map((call) => speak(call, PROMPT, 'utterance.spoken'))));
  const speechMs = spoken.result.reduce((sum, { durationMs }) => sum + Number(durationMs), 0);
  const own = spoken.cpuMs - (silent.cpuMs * spoken.wallMs) / silent.wallMs;
  const queuedMs: number[] = [];
  for (let text = 0; text < TEXTS; text++) {
    queuedMs.push(Number((await speak(first, SHORT, 'utterance.started'))['queuedMs']));
    first.session.receive('{"type":"clear"}');
    await sleep(REST_MS + ((text * 7) % 20));
  }
  const { misses } = calls.frames.figures;
  if (kept && misses > 5) throw new Error(`${misses} sentences were rendered, 5 are different ones`);
  await calls.close();
  await receiver.close();
  return { cpuMs: (own * 1000) / speechMs, speechSeconds: speechMs / 1000, queuedMs };
}

async function rowOf(voiced: Voiced, codec: Codec): Promise<Row> {
  const rendered = await costOf(voiced, codec, false);
  const cached = await costOf(voiced, codec, true);
  const first = { rendered: spreadOf(rendered.queuedMs), cached: spreadOf(cached.queuedMs) };
  return {
    engine: voiced.name,
    codec: codec.name,
    'seconds of speech': Math.round(cached.speechSeconds),
    'rendered, ms of CPU a second': rendered.cpuMs,
    'kept, ms of CPU a second': cached.cpuMs,
    'kept / rendered': `${((100 * cached.cpuMs) / rendered.cpuMs).toFixed(1)} %`,
    'queued p50, rendered': first.rendered.p50,
    'queued p50, kept': first.cached.p50,
    'queued p99, rendered': first.rendered.p99,
    'queued p99, kept': first.cached.p99,
  };
}

async function main(): Promise<void> {
  const stolenBefore = stolenSeconds();
  const began = performance.now();
  const flite = fliteEngine({ maxWaiting: 100, renderTimeoutMs: 10_000 });
  await flite.load();
  const voices: Voiced[] = [
    { name: 'instant', engine: new InstantEngine(), voice: 'instant' },
    { name: 'flite (slt)', engine: flite, voice: 'slt' },
  ];
  const rows: Row[] = [];
  for (const voiced of voices) {
    for (const codec of [OPUS, PCMU]) rows.push(await rowOf(voiced, codec));
  }
  for (const { engine } of voices) await engine.close();
  const share = (stolenSeconds() - stolenBefore) / ((performance.now() - began) / 1000);
  console.log(`${machine()}; ${CALLS} calls, times in ms; stolen ${(100 * share).toFixed(1)} %\n`);
  console.log(table(rows));
}

await main();
