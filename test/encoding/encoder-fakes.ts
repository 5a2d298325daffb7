// A session without threads or addon: rings and sinks in memory, turns by hand.
import { Resampler } from '../../src/audio/resampler.js';
import type { TrimOptions } from '../../src/audio/trimmer.js';
import type { ErrorCode } from '../../src/errors.js';
import {
  type ByteSink,
  BytesSink,
  type FrameSink,
  type PayloadQueue,
  PlayoutSink,
} from '../../src/encoding/frame-sink.js';
import { CODECS, type Codec } from '../../src/codecs/codec.js';
import type { Container, ContainerName } from '../../src/codecs/container.js';
import { openContainer } from '../../src/codecs/container-makers.js';
import { EncoderShelf, frameEncoder, type FrameEncoder } from '../../src/codecs/frame-encoder.js';
import { ReadySegment, type KeptFrames } from '../../src/encoding/kept-frames.js';
import type { RingPart } from '../../src/encoding/encoder-messages.js';
import { EncoderPipeline } from '../../src/encoding/encoder-pipeline.js';
import { OPUS_SPEECH } from '../../src/codecs/opus.js';
import { CHUNK_SAMPLES, SegmentSound, type SampleSource } from '../../src/encoding/segment-sound.js';

/** Sound that the trimmer leaves alone: every sample is loud. */
export function loud(samples: number, seed = 1): Float32Array {
  let state = seed;
  return Float32Array.from({ length: samples }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state < 0 ? -0.1 : 0.1) + (0.5 * state) / 2 ** 31;
  });
}

export class MemoryRing implements SampleSource {
  readonly waiting = new Set<() => void>();
  #samples: Float32Array = new Float32Array(0);
  #written = 0;
  ended = false;
  error = '';
  aborted = false;

  static of(samples: Float32Array): MemoryRing {
    const ring = new MemoryRing();
    ring.write(samples);
    ring.end();
    return ring;
  }

  get readable(): number {
    return this.#samples.length;
  }

  write(samples: Float32Array): void {
    this.#samples = joined(this.#samples, samples);
    this.#written += samples.length;
    this.#call();
  }

  end(error: ErrorCode | '' = ''): void {
    this.ended = true;
    this.error = error;
    this.#call();
  }

  read(into: Float32Array): number {
    if (this.aborted) return -1;
    const count = Math.min(into.length, this.#samples.length);
    into.set(this.#samples.subarray(0, count));
    this.#samples = this.#samples.slice(count);
    return count;
  }

  status() {
    return { readable: this.readable, written: this.#written, ended: this.ended, error: this.error };
  }

  onReadable(callback: () => void): void {
    this.waiting.add(callback);
  }

  forget(callback: () => void): void {
    this.waiting.delete(callback);
  }

  abort(): void {
    this.aborted = true;
    this.#call();
  }

  #call(): void {
    const callbacks = [...this.waiting];
    this.waiting.clear();
    for (const callback of callbacks) callback();
  }
}

/** Items pushed to the playout, in order: payloads as bytes, marks as numbers. */
export class RecordingQueue implements PayloadQueue {
  readonly log: (readonly number[] | number)[] = [];
  readonly ends: number[] = [];
  /** Lengths of the log at which the session paused its input. */
  readonly rests: number[] = [];
  dry = false;
  readonly waiting = new Set<() => void>();
  room: number;
  gone = false;

  constructor(room = Infinity) {
    this.room = room;
  }

  push(_generation: number, _track: number, payload: Uint8Array): number {
    if (this.gone) return -1;
    if (this.room <= 0) return 0;
    this.room--;
    this.log.push([...payload]);
    return 1;
  }

  mark(_generation: number, _track: number, mark: number, endOfTrack: boolean): number {
    if (this.gone) return -1;
    if (endOfTrack) this.ends.push(this.log.length);
    this.log.push(mark);
    return 1;
  }

  isEmpty(): boolean {
    return this.dry;
  }

  pauseInput(): number {
    if (this.gone) return -1;
    this.rests.push(this.log.length);
    return 1;
  }

  onRoom(callback: () => void): void {
    this.waiting.add(callback);
  }

  forget(callback: () => void): void {
    this.waiting.delete(callback);
  }

  give(room: number): void {
    this.room += room;
    const callbacks = [...this.waiting];
    this.waiting.clear();
    for (const callback of callbacks) callback();
  }

  get payloads(): readonly (readonly number[])[] {
    return this.log.filter((entry) => typeof entry !== 'number');
  }

  /** The log with each run of payloads as its length in a string: readable in an assertion. */
  get shape(): (string | number)[] {
    const shape: (string | number)[] = [];
    let run = 0;
    for (const entry of [...this.log, -1]) {
      if (typeof entry !== 'number') {
        run++;
        continue;
      }
      if (run > 0) shape.push(`${run} frames`);
      run = 0;
      if (entry !== -1) shape.push(entry);
    }
    return shape;
  }
}

export class RecordingBytes implements ByteSink {
  readonly bytes: number[] = [];
  readonly waiting = new Set<() => void>();
  room: number;
  gone = false;
  ended: string | undefined;

  constructor(room = Infinity) {
    this.room = room;
  }

  write(bytes: Uint8Array): number {
    if (this.gone) return -1;
    const count = Math.min(this.room, bytes.length);
    this.room -= count;
    this.bytes.push(...bytes.subarray(0, count));
    return count;
  }

  onWritable(callback: () => void): void {
    this.waiting.add(callback);
  }

  forget(callback: () => void): void {
    this.waiting.delete(callback);
  }

  give(room: number): void {
    this.room += room;
    const callbacks = [...this.waiting];
    this.waiting.clear();
    for (const callback of callbacks) callback();
  }

  end(error: ErrorCode | ''): void {
    this.ended ??= error;
  }
}

export class TestSession {
  readonly reports: unknown[] = [];
  /** The payloads of segments that were to be kept, by the segments' numbers. */
  readonly kept = new Map<number, KeptFrames>();
  readonly pipeline: EncoderPipeline;
  readonly #trim: TrimOptions;
  #woken = false;
  #count = 0;

  constructor(sink: FrameSink, trim: TrimOptions = {}, speed = 1) {
    this.#trim = trim;
    this.pipeline = new EncoderPipeline(
      sink,
      {
        started: ({ index, firstFrame, trimmedStartMs }) =>
          this.reports.push({ started: index, firstFrame, trimmedStartMs }),
        encoded: (segment) => this.reports.push({ encoded: segment }),
        kept: (index, kept) => void this.kept.set(index, kept),
        failed: (index, { code }) => this.reports.push({ failed: index, code }),
        ended: () => this.reports.push('ended'),
        lost: ({ code }) => this.reports.push({ lost: code }),
      },
      () => (this.#woken = true),
      () => 0,
      speed,
    );
  }

  segment(
    source: SampleSource,
    rate: number,
    pauseBeforeMs = 0,
    keep = false,
    part?: RingPart,
    options: { readonly speed?: number; readonly gain?: number } = {},
  ): void {
    const place = { index: this.#count++, rate, pauseBeforeMs, keep, part, ...options };
    this.pipeline.segment(new SegmentSound(source, place, this.#trim, new Float32Array(CHUNK_SAMPLES)));
  }

  ready(kept: KeptFrames, pauseBeforeMs = 0): void {
    this.pipeline.segment(new ReadySegment({ index: this.#count++, pauseBeforeMs }, kept));
  }

  /** Turns until the session waits or is over; then the last answer. */
  run(maxFrames = 5): ReturnType<EncoderPipeline['turn']> {
    let turn: ReturnType<EncoderPipeline['turn']>;
    do {
      this.#woken = false;
      turn = this.pipeline.turn(maxFrames);
    } while (turn === 'more' || (turn === 'waiting' && this.#woken));
    return turn;
  }

  get woken(): boolean {
    return this.#woken;
  }
}

export function playoutSession(
  codec: Codec,
  queue: PayloadQueue,
  trim?: TrimOptions,
  encoder = encoderOf(codec),
): TestSession {
  const place = { generation: 1, track: 7, sampleRate: codec.sampleRate };
  return new TestSession(new PlayoutSink(queue, place, encoder, codec.silence(20)), trim);
}

export function bytesSession(
  ring: ByteSink,
  name: ContainerName,
  rate: number,
  trim?: TrimOptions,
  speed = 1,
): TestSession {
  return new TestSession(new BytesSink(ring, containerOf(name, rate)), trim, speed);
}

export function containerOf(name: ContainerName, rate: number): Container {
  return openContainer(name, rate, { opus: OPUS_SPEECH, shelf: new EncoderShelf(), serial: 1 });
}

export function encoderOf(codec: Codec, frameMs = 20): FrameEncoder {
  return frameEncoder(CODECS[codec.name], frameMs, OPUS_SPEECH);
}

/** The whole conversion in one piece. */
export function resampled(input: Float32Array, from: number, to: number): Float32Array {
  const resampler = new Resampler(from, to, Math.max(1, input.length));
  const output = new Float32Array(resampler.maxOutput(input.length) + resampler.maxFlush);
  const count = resampler.process(input, input.length, output);
  return output.slice(0, count + resampler.flush(output, count));
}

/** Payloads of a whole sound, the last frame padded with silence. */
export function encodedWhole(sound: Float32Array, encoder: FrameEncoder): number[][] {
  const payloads: number[][] = [];
  for (let at = 0; at < sound.length; at += encoder.frameSamples) {
    const frame = new Float32Array(encoder.frameSamples);
    frame.set(sound.subarray(at, at + encoder.frameSamples));
    payloads.push([...encoder.encode(frame)]);
  }
  return payloads;
}

export function joined(...parts: readonly Float32Array[]): Float32Array {
  const whole = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
