// An encoder worker: many lines in one thread, at a priority below the clock's.
//
// The pool tells it of lines and segments by message; sound goes from native
// rings to native playouts, so the main thread never sees any. Nothing is
// polled: rings, playouts and messages wake the lines.
import { parentPort } from 'node:worker_threads';
import { loadAddon } from '../addon.js';
import { ByteRing, PcmRing } from '../audio/pcm-ring.js';
import { asParleyError } from '../errors.js';
import { BytesSink } from './bytes-sink.js';
import { CODECS } from './codec.js';
import { openContainer } from './container-makers.js';
import { EncoderShelf } from './encoder-shelf.js';
import type { FrameSink } from './frame-sink.js';
import { HeldStart } from './held-start.js';
import { ReadySegment } from './kept-frames.js';
import type { FromWorker, LineSettings, SegmentSource, SinkMessage, ToWorker } from './line-messages.js';
import { LinePump, type LineReports } from './line-pump.js';
import { PlayoutSink } from './playout-sink.js';
import { PlayoutWriter } from './playout-writer.js';
import { PumpRota } from './pump-rota.js';
import { CHUNK_SAMPLES, SegmentSound } from './segment-sound.js';
import { warmUp } from './warm-up.js';

const NICENESS = 5; // below the event loop that answers doors, above batch work

interface PriorityAddon {
  lowerThreadPriority(nice: number): void;
}

interface Line {
  readonly pump: LinePump;
  readonly settings: LineSettings;
  /** Called once, when nothing of the line runs any more. */
  readonly dispose: () => void;
}

if (parentPort === null) throw new Error('encoder-worker.js runs in a worker thread');
const port = parentPort;
const lines = new Map<number, Line>();
const rota = new PumpRota();
const shelf = new EncoderShelf();
const scratch = new Float32Array(CHUNK_SAMPLES);

function tell(message: FromWorker): void {
  port.postMessage(message);
}

function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

function openLine(line: number, message: SinkMessage, settings: LineSettings): void {
  const { sink, dispose } = openSink(line, message, settings);
  const reports: LineReports = {
    started: (segment) => tell({ type: 'started', line, segment }),
    encoded: (segment) => tell({ type: 'encoded', line, segment }),
    kept: (index, kept) => tell({ type: 'kept', line, index, kept }),
    failed: (index, { code, message: text }) => tell({ type: 'failed', line, index, code, message: text }),
    ended: (workMs) => {
      close(line);
      tell({ type: 'ended', line, workMs });
    },
    lost: ({ code, message: text }) => {
      close(line);
      tell({ type: 'lost', line, code, message: text });
    },
  };
  const speed = message.kind === 'bytes' ? message.speed : 1;
  try {
    lines.set(line, { pump: new LinePump(sink, reports, rota.wake, now, speed), settings, dispose });
  } catch (error) {
    dispose();
    throw error;
  }
}

function openSink(
  line: number,
  sink: SinkMessage,
  { opus }: LineSettings,
): { sink: FrameSink; dispose: () => void } {
  if (sink.kind === 'bytes') {
    const container = openContainer(sink.container, sink.rate, { opus, shelf, serial: line });
    const ring = ByteRing.attach(sink.ring);
    const dispose = () => {
      container.close();
      ring.close();
    };
    return { sink: new BytesSink(ring, container), dispose };
  }
  const { playout, generation, track, codec, frameMs } = sink;
  const encoder = shelf.take(codec, frameMs, opus);
  const place = { generation, track, sampleRate: CODECS[codec].sampleRate };
  return {
    sink: new PlayoutSink(
      new HeldStart(new PlayoutWriter(playout)),
      place,
      encoder,
      CODECS[codec].silence(frameMs),
    ),
    dispose: () => shelf.giveBack(encoder, codec, frameMs, opus),
  };
}

function close(line: number): void {
  lines.get(line)?.dispose();
  lines.delete(line);
}

function addSegment(line: Line, index: number, source: SegmentSource): void {
  const { pauseBeforeMs = 0 } = source;
  if ('kept' in source) return line.pump.segment(new ReadySegment({ index, pauseBeforeMs }, source.kept));
  const { ring, rate, keep = false } = source;
  const segment = { index, rate, pauseBeforeMs, keep };
  line.pump.segment(new SegmentSound(PcmRing.attach(ring, rate), segment, line.settings.trim, scratch));
}

function handle(message: Exclude<ToWorker, { type: 'close' }>): void {
  if (message.type === 'open') return openLine(message.line, message.sink, message.settings);
  const line = lines.get(message.line);
  if (line === undefined) return; // it was lost while the message was on its way
  switch (message.type) {
    case 'segment':
      return addSegment(line, message.index, message.source);
    case 'rest':
      return line.pump.rest();
    case 'end':
      return line.pump.end();
    case 'abort':
      line.pump.stop();
      return close(message.line);
  }
}

port.on('message', (message: ToWorker) => {
  if (message.type === 'close') {
    for (const [number, line] of lines) {
      line.pump.stop();
      close(number);
    }
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
});

loadAddon<PriorityAddon>().lowerThreadPriority(NICENESS);
warmUp();
tell({ type: 'ready' });
