// An encoder worker: many lines in one thread, at a priority below the clock's.
//
// The pool tells it of lines and segments by message; sound goes from native
// rings to native playouts, so the main thread never sees any. Nothing is
// polled: rings, playouts and messages wake the lines.
import { parentPort } from 'node:worker_threads';
import { loadAddon } from '../addon.js';
import { ByteRing, PcmRing } from '../audio/pcm-ring.js';
import { asParleyError, ParleyError } from '../errors.js';
import { BytesSink } from './bytes-sink.js';
import { CarriedQueue } from './carried-queue.js';
import { CODECS } from '../codecs/codec.js';
import type { FileHeader } from '../codecs/container.js';
import { openContainer } from '../codecs/container-makers.js';
import { EncoderShelf } from '../codecs/frame-encoder.js';
import { frameDecoder } from '../codecs/payload-decoder.js';
import type { FrameSink } from './frame-sink.js';
import { HeldStart } from './held-start.js';
import { ReadySegment } from './kept-frames.js';
import type {
  CarryMessage,
  FromWorker,
  LineSettings,
  SegmentSource,
  SinkMessage,
  ToWorker,
} from './line-messages.js';
import { LinePump, type LineReports } from './line-pump.js';
import { NoQueue } from './no-queue.js';
import { Outbox } from './outbox.js';
import { PlayoutSink } from './playout-sink.js';
import { PlayoutWriter } from '../media/playout-writer.js';
import { PumpRota } from './pump-rota.js';
import { CHUNK_SAMPLES, SegmentSound } from './segment-sound.js';
import { TakenEntries } from '../media/taken-queue.js';
import { SamePayloads, staysAsItIs, Transcoder } from './transcoder.js';
import { warmUp } from './warm-up.js';

const MAX_DEPTH = 8; // each one is a codec's loss more, and its work
const NICENESS = 5; // below the event loop that answers doors, above batch work

interface PriorityAddon {
  lowerThreadPriority(nice: number): void;
}

interface Line {
  readonly pump: LinePump;
  /** Where its frames go; absent where they are no payloads of a call. */
  readonly start: HeldStart | undefined;
  /** Behind it, in order. */
  readonly carried: CarriedQueue[];
  readonly settings: LineSettings;
  /** Called once, when nothing of the line runs any more. */
  readonly dispose: () => void;
}

if (parentPort === null) throw new Error('encoder-worker.js runs in a worker thread');
const port = parentPort;
const lines = new Map<number, Line>();
/** Those whose number is still used: what they were given is not handed over, or a line pushes into them. */
const carries = new Map<number, CarriedQueue>();
const rota = new PumpRota();
const shelf = new EncoderShelf();
const scratch = new Float32Array(CHUNK_SAMPLES);

const outbox = new Outbox<FromWorker>((messages) => port.postMessage(messages));

function tell(message: FromWorker): void {
  outbox.add(message);
}

function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

function openLine(line: number, message: SinkMessage, settings: LineSettings): void {
  const { sink, start, fileHeader, dispose } = openSink(line, message, settings);
  const reports: LineReports = {
    started: (segment) => tell({ type: 'started', line, segment }),
    encoded: (segment) => tell({ type: 'encoded', line, segment }),
    kept: (index, kept) => tell({ type: 'kept', line, index, kept }),
    failed: (index, { code, message: text }) => tell({ type: 'failed', line, index, code, message: text }),
    ended: (workMs) => {
      const header = fileHeader?.();
      close(line);
      tell({ type: 'ended', line, workMs, ...(header === undefined ? {} : { header }) });
    },
    lost: ({ code, message: text }) => {
      close(line);
      tell({ type: 'lost', line, code, message: text });
    },
  };
  const speed = message.kind === 'bytes' ? message.speed : 1;
  try {
    const pump = new LinePump(sink, reports, rota.wake, now, speed);
    lines.set(line, { pump, start, carried: [], settings, dispose });
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

function openSink(line: number, sink: SinkMessage, { opus }: LineSettings): OpenSink {
  if (sink.kind === 'bytes') {
    const container = openContainer(sink.container, sink.rate, { opus, shelf, serial: line });
    const ring = ByteRing.attach(sink.ring);
    const dispose = () => {
      container.close();
      ring.close();
    };
    return { sink: new BytesSink(ring, container), fileHeader: () => container.fileHeader(), dispose };
  }
  const { codec, frameMs } = sink;
  const encoder = shelf.take(codec, frameMs, opus);
  const dispose = () => shelf.giveBack(encoder, codec, frameMs, opus);
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
  const line = lines.get(number);
  line?.dispose();
  line?.carried[0]?.released(); // and when that is done, those behind it
  lines.delete(number);
}

/** What a playout had queued, and what its line makes from now on, goes to another one. */
function carry({ line: number, after, from, to, entries, settings: { opus } }: CarryMessage): void {
  const line = after.map((one) => lines.get(one)).find((one) => one !== undefined);
  const before =
    line?.carried.at(-1) ?? after.map((one) => carries.get(one)).find((one) => one !== undefined);
  if ((before?.depth ?? 0) === MAX_DEPTH) {
    throw new ParleyError('ENCODER_FAILED', `what is spoken was moved ${MAX_DEPTH} times before its end`);
  }
  const encoder = shelf.take(to.codec, to.frameMs, opus);
  const recoder = staysAsItIs(from, to)
    ? new SamePayloads()
    : new Transcoder(from, to, frameDecoder(from.codec), encoder);
  const reports = {
    carried: () => tell({ type: 'ended', line: number, workMs: 0 }),
    padded: (track: number, frames: number, padMs: number) =>
      tell({ type: 'padded', line: number, track, frames, padMs }),
    ended: () => {
      carries.delete(number);
      shelf.giveBack(encoder, to.codec, to.frameMs, opus);
    },
  };
  const target = new PlayoutWriter(to.playout);
  const depth = (before?.depth ?? 0) + 1;
  const queue = new CarriedQueue(target, to.generation, new TakenEntries(entries), recoder, reports, depth);
  carries.set(number, queue);
  line?.carried.push(queue);
  (before ?? line?.start)?.goOnInto(queue);
  queue.start();
  if (before === undefined && line === undefined) queue.released();
  line?.pump.wake();
}

function addSegment(line: Line, index: number, source: SegmentSource): void {
  const { pauseBeforeMs = 0 } = source;
  if ('kept' in source) return line.pump.segment(new ReadySegment({ index, pauseBeforeMs }, source.kept));
  const { ring, rate, keep = false, part, speed, gain } = source;
  const segment = { index, rate, pauseBeforeMs, keep, part, speed, gain };
  line.pump.segment(new SegmentSound(PcmRing.attach(ring, rate), segment, line.settings.trim, scratch));
}

function handle(message: Exclude<ToWorker, { type: 'close' }>): void {
  if (message.type === 'open') return openLine(message.line, message.sink, message.settings);
  if (message.type === 'carry') return carry(message);
  if (message.type === 'abort') carries.get(message.line)?.stop();
  const line = lines.get(message.line);
  if (line === undefined) return; // it was lost while the message was on its way
  switch (message.type) {
    case 'segment':
      return addSegment(line, message.index, message.source);
    case 'cut':
      return line.pump.cut(message.index, message.endAt);
    case 'rest':
      return line.pump.rest();
    case 'end':
      return line.pump.end();
    case 'abort':
      line.pump.stop();
      return close(message.line);
  }
}

function take(message: ToWorker): void {
  if (message.type === 'close') {
    for (const [number, line] of lines) {
      line.pump.stop();
      close(number);
    }
    for (const queue of carries.values()) queue.stop();
    outbox.flush();
    port.close();
    return;
  }
  try {
    handle(message);
  } catch (error) {
    lines.get(message.line)?.pump.stop();
    close(message.line);
    const { code, message: text } = asParleyError(error, 'ENCODER_FAILED');
    tell({ type: 'lost', line: message.line, code, message: text });
  }
}

port.on('message', (messages: readonly ToWorker[]) => {
  for (const message of messages) take(message);
});

loadAddon<PriorityAddon>().lowerThreadPriority(NICENESS);
warmUp();
tell({ type: 'ready' });
