// A ring of bytes as a sink: frames become a container's bytes.
import type { ErrorCode } from '../errors.js';
import type { Container } from '../codecs/container.js';
import type { Flushed, FrameSink } from './frame-sink.js';

/** The part of ByteRing that is written to. */
export interface ByteSink {
  write(bytes: Uint8Array): number;
  onWritable(callback: () => void): void;
  forget(callback: () => void): void;
  end(error: ErrorCode | ''): void;
}

const FIRST_CAPACITY = 2048; // bytes; a piece of 20 ms at 48 kHz fits

export class BytesSink implements FrameSink {
  readonly sampleRate: number;
  readonly frameSamples: number;
  readonly wholeFrames = false;
  readonly failsWhole = true;
  readonly holding = false;
  readonly #ring: ByteSink;
  readonly #container: Container;
  /** Copies: a container's bytes are valid until its next call only. */
  #bytes = new Uint8Array(FIRST_CAPACITY);
  // Of #bytes, what waits: from #at to #end.
  #at = 0;
  #end = 0;
  /** The header waits for the first sound, so that one read gets both. */
  #headed = false;
  #finishing = false;
  #over = false;

  /** The container is closed by whoever made it, after the sink's end. */
  constructor(ring: ByteSink, container: Container) {
    this.#ring = ring;
    this.#container = container;
    this.sampleRate = container.sampleRate;
    this.frameSamples = container.frameSamples;
  }

  put(frame: Float32Array, count: number): void {
    this.#append(this.#container.encode(frame, count));
  }

  mark(): void {}

  rest(): void {}

  isDry(): boolean {
    return false; // a file has no clock: its pauses are all made here
  }

  finish(): void {
    this.#finishing = true;
    this.#head();
    this.#append(this.#container.finish());
  }

  flush(): Flushed {
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

  #append(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#head();
    this.#copy(bytes);
  }

  #head(): void {
    if (this.#headed) return;
    this.#headed = true;
    this.#copy(this.#container.header);
  }

  #copy(bytes: Uint8Array): void {
    const end = this.#end + bytes.length;
    if (end > this.#bytes.length) {
      const larger = new Uint8Array(2 * end);
      larger.set(this.#bytes.subarray(0, this.#end));
      this.#bytes = larger;
    }
    this.#bytes.set(bytes, this.#end);
    this.#end = end;
  }

  #finish(code: ErrorCode | ''): void {
    if (this.#over) return;
    this.#over = true;
    this.#ring.end(code);
  }
}
