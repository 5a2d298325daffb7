// A ring of bytes as a sink: frames become 16-bit PCM, behind a WAV header where
// one is asked for.
import { toBytesS16le } from '../audio/pcm16.js';
import { WAV_HEADER_BYTES, wavHeader } from '../audio/wav.js';
import type { ErrorCode } from '../errors.js';
import type { Flushed, FrameSink } from './frame-sink.js';

/** The part of ByteRing that is written to. */
export interface ByteSink {
  write(bytes: Uint8Array): number;
  onWritable(callback: () => void): void;
  forget(callback: () => void): void;
  end(error: ErrorCode | ''): void;
}

const FRAMES_PER_SECOND = 50; // 20 ms a piece: soon there, and few calls

export class BytesSink implements FrameSink {
  readonly sampleRate: number;
  readonly frameSamples: number;
  readonly wholeFrames = false;
  readonly failsWhole = true;
  readonly holding = false;
  readonly #ring: ByteSink;
  readonly #bytes: Uint8Array;
  // Of #bytes, what waits: from #at to #end.
  #at = 0;
  #end = 0;
  /** The header waits for the first sound, so that one read gets both. */
  #holding = false;
  #finishing = false;
  #over = false;

  constructor(ring: ByteSink, container: 'wav' | 'pcm', rate: number) {
    this.#ring = ring;
    this.sampleRate = rate;
    this.frameSamples = Math.round(rate / FRAMES_PER_SECOND);
    this.#bytes = new Uint8Array(WAV_HEADER_BYTES + 2 * this.frameSamples);
    if (container === 'wav') {
      this.#bytes.set(wavHeader(rate));
      this.#end = WAV_HEADER_BYTES;
      this.#holding = true;
    }
  }

  put(frame: Float32Array, count: number): void {
    this.#holding = false;
    this.#end += toBytesS16le(frame, count, this.#bytes, this.#end);
  }

  mark(): void {}

  rest(): void {}

  isDry(): boolean {
    return false; // a file has no clock: its pauses are all made here
  }

  finish(): void {
    this.#holding = false;
    this.#finishing = true;
  }

  flush(): Flushed {
    if (this.#holding) return 'taken';
    if (this.#at < this.#end) {
      const taken = this.#ring.write(this.#bytes.subarray(this.#at, this.#end));
      if (taken < 0) return 'gone';
      this.#at += taken;
      if (this.#at < this.#end) return 'full';
    }
    this.#at = 0;
    this.#end = 0;
    if (this.#finishing) this.#finish('');
    return 'taken';
  }

  onRoom(callback: () => void): void {
    this.#ring.onWritable(callback);
  }

  fail(code: ErrorCode): void {
    this.#finish(code);
  }

  release(callback: () => void): void {
    this.#ring.forget(callback);
  }

  #finish(code: ErrorCode | ''): void {
    if (this.#over) return;
    this.#over = true;
    this.#ring.end(code);
  }
}
