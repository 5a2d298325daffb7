// Encoder worker's cost of one second of speech in each format, and the added cost of another speed.
//
//   npm run bench -- containers
//
// Five seconds of a voice-like sound at 24 kHz, pushed through one session without
// threads; the median of several runs, each with its encoder opened and closed.
import type { ContainerName } from '../../src/codecs/container.js';
import { openContainer } from '../../src/codecs/container-makers.js';
import { EncoderShelf } from '../../src/codecs/frame-encoder.js';
import { BytesSink } from '../../src/encoding/frame-sink.js';
import { OPUS_SPEECH } from '../../src/codecs/opus.js';
import { voiceLike } from '../audio/tones.js';
import type { SampleSource } from '../../src/encoding/segment-sound.js';
import { TestSession } from '../encoding/encoder-fakes.js';
import { machine, table, type Row } from './table.js';

const ENGINE_HZ = 24_000;
const SECONDS = 5;
const RUNS = 7;

const CASES: readonly (readonly [name: ContainerName, rate: number, speed: number])[] = [
  ['pcm', 24_000, 1],
  ['wav', 48_000, 1],
  ['ulaw', 8000, 1],
  ['flac', 24_000, 1],
  ['flac', 48_000, 1],
  ['mp3', 24_000, 1],
  ['mp3', 44_100, 1],
  ['aac', 24_000, 1],
  ['aac', 44_100, 1],
  ['ogg', 24_000, 1],
  ['pcm', 24_000, 0.5],
  ['pcm', 24_000, 1.25],
  ['pcm', 24_000, 2],
  ['pcm', 24_000, 4],
];

const shelf = new EncoderShelf();
const sound = voiceLike(ENGINE_HZ, SECONDS);

/** The whole sound, there at once. */
class SoundRing implements SampleSource {
  #at = 0;

  read(into: Float32Array): number {
    const piece = sound.subarray(this.#at, this.#at + into.length);
    into.set(piece);
    this.#at += piece.length;
    return piece.length;
  }

  status() {
    return { readable: sound.length - this.#at, ended: true, error: '' };
  }

  onReadable(): void {}
  forget(): void {}
  abort(): void {}
}

/** Takes everything and counts it. */
class CountingRing {
  bytes = 0;
  firstAtMs = 0;

  write(bytes: Uint8Array): number {
    if (this.bytes === 0) this.firstAtMs = performance.now();
    this.bytes += bytes.length;
    return bytes.length;
  }

  onWritable(): void {}
  forget(): void {}
  end(): void {}
}

function run(name: ContainerName, rate: number, speed: number) {
  const ring = new CountingRing();
  const startedAtMs = performance.now();
  const container = openContainer(name, rate, { opus: OPUS_SPEECH, shelf, serial: 1 });
  const session = new TestSession(new BytesSink(ring, container), {}, speed);
  session.segment(new SoundRing(), ENGINE_HZ);
  session.pipeline.end();
  session.run();
  container.close();
  return {
    wholeMs: performance.now() - startedAtMs,
    firstMs: ring.firstAtMs - startedAtMs,
    bytes: ring.bytes,
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] as number;
}

function row([name, rate, speed]: (typeof CASES)[number]): Row {
  run(name, rate, speed); // warms up
  const runs = Array.from({ length: RUNS }, () => run(name, rate, speed));
  const seconds = SECONDS / speed;
  const microseconds = median(runs.map(({ wholeMs }) => (wholeMs * 1000) / seconds));
  return {
    format: name,
    Hz: rate,
    speed: String(speed),
    'µs a second of output': Math.round(microseconds),
    'times real time': Math.round(1e6 / microseconds),
    'kb/s': Math.round(((runs[0]?.bytes ?? 0) * 8) / 1000 / seconds),
    'open to first bytes, ms': median(runs.map(({ firstMs }) => firstMs)),
  };
}

console.log(`${machine()}; a voice at ${ENGINE_HZ} Hz\n`);
console.log(table(CASES.map(row)));
