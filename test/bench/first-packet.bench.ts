// From a text on the data channel to its first packet on the wire, 200 texts,
// one after the other, in the midst of other calls that speak or alone.
//
//   npm run bench -- first-packet           200 texts per line
//   npm run bench -- first-packet --quick   30
//   npm run bench -- first-packet --model DIR... [--calls 8]   with the engine of each checkpoint
//
// With --model, calls in G.711 then speak at once for half a minute: none of them may run out of frames.
// With the instant engine what remains is Parley itself: text to payload
// queued. The wait for the wire comes on top: a stream sends every 20 ms, so it
// is anything between 0 and 20 ms whatever the server does.
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { PCMU } from '../../src/codecs/codec.js';
import { readConfig } from '../../src/config/config.js';
import { openEngines } from '../../src/engines/engine-setup.js';
import { fliteEngine } from '../../src/engines/flite/flite.js';
import type { SpeechEngine } from '../../src/engines/engine.js';
import { SILENT_LOG } from '../../src/log.js';
import { InstantEngine } from '../fakes/engines.js';
import { type Arrival, spreadOf, UdpReceiver } from './arrivals.js';
import { BenchCalls, SILENT_PACKET_BYTES, type BenchCall } from './bench-calls.js';
import { machine, table, type Row } from './table.js';

const TEXTS = process.argv.includes('--quick') ? 30 : 200;
const START_LIMIT_MS = 30_000; // a large model on processors takes seconds
const TOGETHER_MS = 30_000;
const STATED = parseArgs({
  strict: false,
  allowPositionals: true,
  options: { model: { type: 'string', multiple: true }, calls: { type: 'string', default: '8' } },
}).values;
const REST_MS = 120; // silence between two texts, so that the first packet of each is plain to see
const FRAME_MS = 20;

interface Started {
  readonly askedAtMs: number;
  readonly queuedMs: number;
  readonly firstPacketMs: number;
}

const now = (): number => Number(process.hrtime.bigint()) / 1e6;

async function speakOnce(call: BenchCall, text: string): Promise<Started> {
  const started = new Promise<Omit<Started, 'askedAtMs'>>((resolve, reject) => {
    call.onMessage = (message) => {
      if (message.type === 'utterance.started') resolve(message);
      if (message.type === 'utterance.failed' || message.type === 'error')
        reject(new Error(message.error.message));
    };
  });
  const askedAtMs = now();
  call.session.receive(JSON.stringify({ type: 'text', token: text, last: true }));
  const late = sleep(START_LIMIT_MS, undefined, { ref: false }).then(() => {
    throw new Error(`nothing was heard of "${text}"`);
  });
  const { queuedMs, firstPacketMs } = await Promise.race([started, late]);
  call.session.receive('{"type":"clear"}');
  return { askedAtMs, queuedMs, firstPacketMs };
}

/** Milliseconds from the text to the arrival of its first packet with sound. */
function wireMs(started: Started, packets: readonly Arrival[]): number {
  const first = packets.find(({ atMs, bytes }) => atMs >= started.askedAtMs && bytes > SILENT_PACKET_BYTES);
  return first === undefined ? NaN : first.atMs - started.askedAtMs;
}

async function line(name: string, engine: SpeechEngine, voice: string, others: number): Promise<Row> {
  const receiver = await UdpReceiver.open();
  const calls = new BenchCalls(engine, voice);
  const [call, ...speaking] = await calls.open(1 + others, receiver.port);
  if (call === undefined) throw new Error('no call');
  for (const other of speaking) {
    other.session.receive(JSON.stringify({ type: 'text', token: LONG_TEXT, last: true }));
  }
  await sleep(1000);
  const started: Started[] = [];
  for (let number = 0; number < TEXTS; number++) {
    started.push(await speakOnce(call, `This is text number ${number}, and it is short.`));
    // Spread over the period of the stream, so that every wait for the wire occurs.
    await sleep(REST_MS + ((number * 7) % FRAME_MS));
  }
  await calls.close();
  const { packets } = await receiver.close();
  const own = packets.filter(({ ssrc }) => ssrc === call.ssrc);
  const queued = spreadOf(started.map(({ queuedMs }) => queuedMs));
  const waits = spreadOf(started.map(({ queuedMs, firstPacketMs }) => firstPacketMs - queuedMs));
  const wire = spreadOf(started.map((one) => wireMs(one, own)));
  return {
    engine: name,
    'calls speaking': others,
    texts: started.length,
    'queued p50': queued.p50,
    'queued p99': queued.p99,
    'queued max': queued.max,
    'wait for the wire p50': waits.p50,
    'wait p99': waits.p99,
    'text to packet received p50': wire.p50,
    'received p99': wire.p99,
    'received max': wire.max,
  };
}

const LONG_TEXT = Array.from({ length: 150 }, (_, n) => `This is sentence number ${n} of a long text.`).join(
  ' ',
);

/** Calls in G.711 that begin to speak at the same time. */
async function together(name: string, engine: SpeechEngine, voice: string, count: number): Promise<Row> {
  const receiver = await UdpReceiver.open();
  const calls = new BenchCalls(engine, voice, { codec: PCMU });
  const opened = await calls.open(count, receiver.port);
  const firstMs: number[] = [];
  const failed: string[] = [];
  for (const [index, call] of opened.entries()) {
    call.onMessage = (message) => {
      if (message.type === 'utterance.started') firstMs.push(message.firstPacketMs);
      if (message.type === 'utterance.failed' || message.type === 'error') failed.push(message.error.message);
    };
    // Other words in each, so that no sentence is made twice.
    const token = LONG_TEXT.replaceAll('number', `number ${index} and`);
    call.session.receive(JSON.stringify({ type: 'text', token, last: true }));
  }
  await sleep(TOGETHER_MS);
  const underruns = opened.reduce((sum, { call }) => sum + call.stats().underruns, 0);
  await calls.close();
  await receiver.close();
  if (failed.length > 0) throw new Error(failed[0]);
  const first = spreadOf(firstMs);
  return {
    engine: name,
    calls: count,
    started: firstMs.length,
    underruns,
    'first packet p50': first.p50,
    max: first.max,
  };
}

/** Figures of the engine that the server would choose for this checkpoint. */
async function measureModel(directory: string): Promise<void> {
  const engines = await openEngines(readConfig({ ...process.env, MODEL_DIR: directory }), SILENT_LOG);
  const { engine, voice } = engines.resolve({});
  await engine.load();
  const name = `${engine.name}, ${basename(directory)}`;
  console.log(table([await line(name, engine, voice, 0)]));
  console.log(table([await together(name, engine, voice, Number(STATED.calls))]));
  await engines.close();
}

async function main(): Promise<void> {
  const { model } = STATED;
  if (Array.isArray(model)) {
    console.log(`${machine()}; times in ms\n`);
    for (const directory of model) await measureModel(String(directory));
    return;
  }
  const rows: Row[] = [];
  for (const others of [0, 50]) {
    const engine = new InstantEngine();
    rows.push(await line('instant', engine, 'instant', others));
    await engine.close();
  }
  const flite = fliteEngine({ maxWaiting: 100, renderTimeoutMs: 10_000 });
  await flite.load();
  const voice = (await flite.voices())[0]?.name ?? 'slt';
  rows.push(await line(`flite (${voice})`, flite, voice, 0));
  await flite.close();
  console.log(`${machine()}; times in ms\n`);
  console.log(table(rows));
}

await main();
