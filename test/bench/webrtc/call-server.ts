// The measured server of the bench webrtc, in a process of its own so that it has a core of its own. It
// speaks into every browser call by itself, so that a client needs no SCTP.
//
//   node --expose-gc call-server.js silent       nothing, except what a client asks for over its data channel
//   node --expose-gc call-server.js cached       sentences whose frames are cached
//   node --expose-gc call-server.js prepared     sound that is prepared as PCM and encoded live
//   node --expose-gc call-server.js synthesised  a text of its own for each call, synthesised live
import { readConfig } from '../../../src/config/config.js';
import { fliteEngine } from '../../../src/engines/flite/flite.js';
import type { SpeechEngine } from '../../../src/engines/engine.js';
import { Engines } from '../../../src/engines/routing.js';
import { PcmRing } from '../../../src/audio/pcm-ring.js';
import { startServer } from '../../../src/main.js';
import type { Log } from '../../../src/log.js';
import { createLog } from '../../../src/observe/log.js';
import { readAll } from '../../engines/read-ring.js';
import { spreadOf, type Spread } from '../arrivals.js';
import { SENTENCES } from './bench-text.js';
import { type ProcessFigures, ProcessMeter, type ToServer } from './process-meter.js';

const SPEECH = ['silent', 'cached', 'prepared', 'synthesised'] as const;
export type Speech = (typeof SPEECH)[number];

export interface ServerFigures extends ProcessFigures {
  readonly calls: number;
  /** Milliseconds after they were due that packets left, since `begin`. */
  readonly late: Spread;
  readonly packets: number;
  readonly underruns: number;
  readonly sendErrors: number;
  /** Ticks of streams that the clock left out because it was too late. They leave no gap in the sequence. */
  readonly skippedTicks: number;
  readonly clockPriority: string;
}

const TEXT = SENTENCES.join(' ');
const AHEAD = 2; // utterances that a call has at least
const RING_SAMPLES = 2 ** 20;
const REPETITIONS = 1000; // more than an hour

const [kind = 'silent'] = process.argv.slice(2);
const config = readConfig(process.env);
const flite = fliteEngine({ maxWaiting: 1000, renderTimeoutMs: 60_000 });
await flite.load();
const [voice] = await flite.voices();
if (voice === undefined) throw new Error('flite has no voice');
const sound = await rendered(flite, voice.name);
let texts = 0;
const log = watching(createLog({ level: config.log.level, logText: false }), (id) => begin(id));
const server = await startServer(config, { log, engines: await Engines.of([flite]) });
const meter = new ProcessMeter();
let before = server.plane.stats();

type Call = NonNullable<ReturnType<typeof server.switchboard.get>>;

async function rendered(engine: SpeechEngine, name: string) {
  const sampleRate = engine.sampleRate(name);
  const ring = PcmRing.open(sampleRate, RING_SAMPLES);
  const request = { text: TEXT, voice: name, language: 'en' };
  const [{ samples }] = await Promise.all([
    readAll(ring),
    engine.synthesize(request, ring, new AbortController().signal),
  ]);
  ring.close();
  const start = samples.findIndex((sample) => Math.abs(sample) > 0.01);
  return { samples: samples.slice(start), sampleRate };
}

/** A log that reports each opened call, whatever the level. */
function watching(inner: Log, opened: (id: string) => void): Log {
  const info = (fields: object, message: string): void => {
    const { call } = fields as { call?: string };
    // The switchboard has the call only after its constructor, which logs this.
    if (message === 'call opened' && call !== undefined) queueMicrotask(() => opened(call));
    inner.info(fields, message);
  };
  return Object.create(inner, { info: { value: info } }) as Log;
}

function begin(id: string): void {
  const call = server.switchboard.get(id);
  if (call === undefined || kind === 'silent') return;
  if (kind === 'prepared') call.play({ ...sound, times: REPETITIONS });
  else for (let queued = 0; queued < AHEAD; queued++) speak(call);
}

function speak(call: Call): void {
  const text =
    kind === 'cached' ? TEXT : `This is sentence number ${texts++} of many, and no other call has it.`;
  const again = ({ end }: { end: string }) => {
    if (end === 'spoken' && server.switchboard.get(call.id) !== undefined) speak(call);
  };
  call
    .speak(text)
    .ended.then(again)
    .catch((error: unknown) => {
      if ((error as { code?: string }).code !== 'CALL_CLOSED') throw error;
    });
}

function figures(): ServerFigures {
  const after = server.plane.stats();
  return {
    ...meter.figures(),
    calls: server.switchboard.size,
    late: spreadOf(server.plane.takeTrace().map(({ dueMs, sentMs }) => sentMs - dueMs)),
    packets: after.packets - before.packets,
    underruns: after.underruns - before.underruns,
    sendErrors: after.sendErrors - before.sendErrors,
    skippedTicks: after.skippedTicks - before.skippedTicks,
    clockPriority: after.priority,
  };
}

process.on('message', (message: ToServer) => {
  if (message.type === 'begin') {
    if (message.mostPackets > 0) server.plane.startTrace(message.mostPackets);
    server.plane.takeTrace();
    before = server.plane.stats();
    meter.begin();
  } else if (message.type === 'collect') {
    meter.collect();
  }
  process.send?.(message.type === 'figures' ? figures() : {});
});
process.once('disconnect', () => process.exit(0));
process.send?.({ url: server.url });
