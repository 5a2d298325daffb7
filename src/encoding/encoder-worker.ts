// An encoder worker: many sessions in one thread, at a priority below the clock's.
//
// The pool sends it sessions and segments by message. Sound goes from native rings to native playouts, so the
// main thread never sees any. Nothing is polled: rings, playouts and messages wake the sessions.
import { parentPort, workerData } from 'node:worker_threads';
import { loadAddon } from '../addon.js';
import { ByteRing, PcmRing } from '../audio/pcm-ring.js';
import { Resampler } from '../audio/resampler.js';
import { TimeStretch } from '../audio/time-stretch.js';
import { type Codec, CODECS, samplesPerFrame } from '../codecs/codec.js';
import { openContainer } from '../codecs/container-makers.js';
import type { ContainerName, FileHeader } from '../codecs/container.js';
import { EncoderShelf, frameEncoder, ShelvedEncoder } from '../codecs/frame-encoder.js';
import { OPUS_SPEECH } from '../codecs/opus.js';
import { asParleyError, ParleyError } from '../errors.js';
import { PlayoutWriter } from '../media/playout.js';
import { BytesSink, type FrameSink, HeldStart, NoQueue, PlayoutSink } from './frame-sink.js';
import { HandoverQueue } from './handover-queue.js';
import { ReadySegment } from './kept-frames.js';
import { collectWithOthers } from './idle-memory.js';
import { KeptSound } from './kept-sound.js';
import {
  type FromWorker,
  type HandoverMessage,
  type EncoderSettings,
  MessageBatch,
  type SegmentSource,
  type EncoderSink,
  type ToWorker,
} from './encoder-messages.js';
import { EncoderPipeline, type PipelineListener, PipelineScheduler } from './encoder-pipeline.js';
import { CHUNK_SAMPLES, SegmentSound } from './segment-sound.js';
import { COUNTERS } from './worker-load.js';

const MAX_DEPTH = 8; // handovers in a row; each adds a codec's loss and its work
const ENGINE_RATES_HZ = [16_000, 22_050, 24_000]; // flite, espeak, qwen3
const HTTP_RATE_HZ = 24_000;
const FRAME_MS = 20;
const WARM_UP_FRAMES = 25; // enough for the compiler to optimise
const NICENESS = 5; // below the main event loop, above batch work

interface PriorityAddon {
  lowerThreadPriority(nice: number): void;
}

interface Session {
  readonly pipeline: EncoderPipeline;
  /** The start of the session's payload queue; undefined if its frames are no payloads of a call. */
  readonly start: HeldStart | undefined;
  /** The handovers behind the session, in order. */
  readonly handovers: HandoverQueue[];
  readonly settings: EncoderSettings;
  /** How many times it was tuned. */
  tunings: number;
  /** Called once, when nothing of the session runs any more. */
  readonly dispose: () => void;
}

if (parentPort === null) throw new Error('encoder-worker.js runs in a worker thread');
const port = parentPort;
const sessions = new Map<number, Session>();
/** Handovers in progress by number: entries are left, or a session still pushes into them. */
const handovers = new Map<number, HandoverQueue>();
/** See COUNTERS. */
const { counters } = workerData as { readonly counters: Int32Array };
const scheduler = new PipelineScheduler(now, (pipeline, waitedMs, workedMs) => {
  if (!pipeline.isTimed) return;
  Atomics.add(counters, COUNTERS.workedUs, Math.round(1000 * workedMs));
  const longest = Atomics.load(counters, COUNTERS.longestWaitMs);
  if (waitedMs >= longest + 1) Atomics.store(counters, COUNTERS.longestWaitMs, Math.floor(waitedMs));
});
const shelf = new EncoderShelf();
const scratch = new Float32Array(CHUNK_SAMPLES);

const batch = new MessageBatch<FromWorker>((messages) => port.postMessage(messages));

function post(message: FromWorker): void {
  batch.add(message);
}

function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

function openSession(session: number, message: EncoderSink, settings: EncoderSettings): void {
  const { sink, start, fileHeader, dispose } = openSink(session, message, settings);
  const listener: PipelineListener = {
    started: (segment) => post({ type: 'started', session, segment }),
    encoded: (segment) => post({ type: 'encoded', session, segment }),
    kept: (index, kept) =>
      post({ type: 'kept', session, index, kept, tunings: sessions.get(session)?.tunings ?? 0 }),
    failed: (index, { code, message: text }) => post({ type: 'failed', session, index, code, message: text }),
    ended: (workMs) => {
      const header = fileHeader?.();
      close(session);
      post({ type: 'ended', session, workMs, header });
    },
    lost: ({ code, message: text }) => {
      close(session);
      post({ type: 'lost', session, code, message: text });
    },
  };
  const speed = message.kind === 'bytes' ? message.speed : 1;
  try {
    const pipeline = new EncoderPipeline(sink, listener, scheduler.wake, now, speed);
    sessions.set(session, { pipeline, start, handovers: [], settings, tunings: 0, dispose });
  } catch (error) {
    dispose();
    throw error;
  }
}

interface OpenSink {
  readonly sink: FrameSink;
  readonly start?: HeldStart;
  /** Asked at the end of a container. */
  readonly fileHeader?: () => FileHeader | undefined;
  readonly dispose: () => void;
}

function openSink(session: number, sink: EncoderSink, { opus }: EncoderSettings): OpenSink {
  if (sink.kind === 'bytes') {
    const container = openContainer(sink.container, sink.rate, { opus, shelf, serial: session });
    const ring = ByteRing.attach(sink.ring);
    const dispose = () => {
      container.close();
      ring.close();
    };
    return { sink: new BytesSink(ring, container), fileHeader: () => container.fileHeader(), dispose };
  }
  const { codec, frameMs } = sink;
  const encoder = new ShelvedEncoder(shelf, CODECS[codec], frameMs, opus);
  const dispose = () => encoder.giveBack();
  const { sampleRate } = CODECS[codec];
  const silence = CODECS[codec].silence(frameMs);
  if (sink.kind === 'kept') {
    const place = { generation: 0, track: 0, sampleRate };
    return { sink: new PlayoutSink(new NoQueue(), place, encoder, silence), dispose };
  }
  const { playout, generation, track, movable = false } = sink;
  const start = new HeldStart(new PlayoutWriter(playout));
  const place = { generation, track, sampleRate, movable };
  return { sink: new PlayoutSink(start, place, encoder, silence), start, dispose };
}

function close(number: number): void {
  const session = sessions.get(number);
  session?.dispose();
  session?.handovers[0]?.released(); // once it is done it releases the one behind it
  sessions.delete(number);
}

/** Redirects the queued payloads of a playout, and everything its session still makes, to another playout. */
function openHandover(message: HandoverMessage): void {
  const { session: number, after, to, settings } = message;
  const session = after.map((one) => sessions.get(one)).find((one) => one !== undefined);
  const before =
    session?.handovers.at(-1) ?? after.map((one) => handovers.get(one)).find((one) => one !== undefined);
  if ((before?.depth ?? 0) === MAX_DEPTH) {
    throw new ParleyError('ENCODER_FAILED', `the call moved ${MAX_DEPTH} times during one utterance`);
  }
  const encoder = shelf.take(to.codec, to.frameMs, settings.opus);
  const reports = {
    handedOver: () => post({ type: 'ended', session: number, workMs: 0 }),
    failed: ({ code, message: text }: ParleyError) =>
      post({ type: 'lost', session: number, code, message: text }),
    padded: (track: number, frames: number, padMs: number) =>
      post({ type: 'padded', session: number, track, frames, padMs }),
    ended: () => {
      handovers.delete(number);
      shelf.giveBack(encoder, to.codec, to.frameMs, settings.opus);
    },
  };
  const queue = new HandoverQueue(message, encoder, reports, (before?.depth ?? 0) + 1);
  handovers.set(number, queue);
  session?.handovers.push(queue);
  (before ?? session?.start)?.redirect(queue);
  queue.start();
  if (before === undefined && session === undefined) queue.released();
  session?.pipeline.wake();
}

function addSegment(number: number, session: Session, index: number, source: SegmentSource): void {
  const { pauseBeforeMs = 0 } = source;
  if ('kept' in source) return session.pipeline.segment(keptSegment(index, pauseBeforeMs, source));
  const { ring, rate, keep = false, part, speed, gain, reportPauses = false } = source;
  const onPause = (startMs: number, endMs: number) =>
    post({ type: 'pause', session: number, pause: { index, startMs, endMs } });
  const pauses = reportPauses ? { onPause } : {};
  const segment = { index, rate, pauseBeforeMs, keep, part, speed, gain, ...pauses };
  session.pipeline.segment(
    new SegmentSound(PcmRing.attach(ring, rate), segment, session.settings.trim, scratch),
  );
}

function keptSegment(
  index: number,
  pauseBeforeMs: number,
  { kept, reencode }: Extract<SegmentSource, { readonly kept: unknown }>,
): ReadySegment | SegmentSound {
  if (reencode !== true) return new ReadySegment({ index, pauseBeforeMs }, kept);
  const segment = { index, rate: CODECS.opus.sampleRate, pauseBeforeMs, keep: true, made: kept };
  return new SegmentSound(new KeptSound(kept), segment, { thresholdDb: -Infinity }, scratch);
}

function handle(message: Exclude<ToWorker, { type: 'close' }>): void {
  if (message.type === 'open') return openSession(message.session, message.sink, message.settings);
  if (message.type === 'handover') return openHandover(message);
  if (message.type === 'abort') handovers.get(message.session)?.stop();
  const session = sessions.get(message.session);
  if (session === undefined) return; // it was lost while the message was on its way
  switch (message.type) {
    case 'segment':
      return addSegment(message.session, session, message.index, message.source);
    case 'cut':
      return session.pipeline.cut(message.index, message.endAt);
    case 'tune':
      session.tunings++;
      return session.pipeline.tune(message.tuning);
    case 'rest':
      return session.pipeline.pauseInput();
    case 'end':
      return session.pipeline.end();
    case 'abort':
      session.pipeline.stop();
      return close(message.session);
  }
}

function take(message: ToWorker): void {
  if (message.type === 'close') {
    for (const [number, session] of sessions) {
      session.pipeline.stop();
      close(number);
    }
    for (const queue of handovers.values()) queue.stop();
    batch.flush();
    port.close();
    return;
  }
  try {
    handle(message);
  } catch (error) {
    sessions.get(message.session)?.pipeline.stop();
    close(message.session);
    const { code, message: text } = asParleyError(error, 'ENCODER_FAILED');
    post({ type: 'lost', session: message.session, code, message: text });
  }
}

/**
 * Runs the code of a first call, so that it is loaded and compiled before one comes. That saves the call some
 * 100 ms.
 */
function warmUp(): void {
  const sound = Float32Array.from({ length: CHUNK_SAMPLES }, (_, n) => 0.3 * Math.sin(n * n));
  for (const codec of Object.values(CODECS)) {
    for (const rate of ENGINE_RATES_HZ) warmResampler(sound, rate, codec.sampleRate);
    warmEncoder(codec);
  }
  for (const name of ['mp3', 'aac', 'flac'] as const) warmContainer(name);
  warmStretch(sound);
}

function warmResampler(sound: Float32Array, from: number, to: number): void {
  const resampler = new Resampler(from, to);
  const output = new Float32Array(resampler.maxOutput(CHUNK_SAMPLES));
  for (let frame = 0; frame < WARM_UP_FRAMES; frame++) resampler.process(sound, CHUNK_SAMPLES, output);
}

/** MP3, the default format over HTTP, and AAC have a program to load. */
function warmContainer(name: ContainerName): void {
  const container = openContainer(name, HTTP_RATE_HZ, {
    opus: OPUS_SPEECH,
    shelf: new EncoderShelf(),
    serial: 0,
  });
  const frame = Float32Array.from({ length: container.frameSamples }, (_, n) => 0.3 * Math.sin(n / 9));
  for (let count = 0; count < WARM_UP_FRAMES; count++) container.encode(frame, frame.length);
  container.finish();
  container.close();
}

function warmStretch(sound: Float32Array): void {
  const slower = new TimeStretch(HTTP_RATE_HZ, 0.8);
  const output = new Float32Array(slower.maxOutput(CHUNK_SAMPLES));
  for (let frame = 0; frame < WARM_UP_FRAMES; frame++) slower.process(sound, CHUNK_SAMPLES, output);
}

function warmEncoder(codec: Codec): void {
  const encoder = frameEncoder(codec, FRAME_MS, OPUS_SPEECH);
  const frame = Float32Array.from(
    { length: samplesPerFrame(codec, FRAME_MS) },
    (_, n) => 0.3 * Math.sin(n / 9),
  );
  for (let count = 0; count < WARM_UP_FRAMES; count++) encoder.encode(frame);
}

port.on('message', (messages: readonly ToWorker[]) => {
  for (const message of messages) take(message);
});

collectWithOthers();
loadAddon<PriorityAddon>().lowerThreadPriority(NICENESS);
warmUp();
post({ type: 'ready' });
