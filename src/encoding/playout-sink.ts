// A call's playout as a sink: frames become payloads of the call's codec.
import type { FrameEncoder } from '../codecs/frame-encoder.js';
import type { Flushed, FrameSink, PayloadSink } from './frame-sink.js';
import { TRACK_ENDED } from './marks.js';

/** The part of PlayoutWriter that is pushed to: 1 taken, 0 full, -1 stale or closed. */
export interface PayloadQueue {
  push(generation: number, track: number, payload: Uint8Array): number;
  mark(generation: number, track: number, mark: number, endOfTrack: boolean): number;
  rest(generation: number, track: number): number;
  isDry(): boolean;
  /** What it took is not all handed on yet. */
  readonly holding?: boolean;
  onRoom(callback: () => void): void;
  forget(callback: () => void): void;
}

export class PlayoutSink implements FrameSink, PayloadSink {
  readonly payloads = this;
  readonly sampleRate: number;
  readonly frameSamples: number;
  readonly wholeFrames = true;
  readonly failsWhole = false;
  readonly movable: boolean;
  readonly #queue: PayloadQueue;
  readonly #generation: number;
  readonly #track: number;
  readonly #encoder: FrameEncoder;
  readonly #silence: Uint8Array;
  #payload: Uint8Array | undefined;
  #mark: number | undefined;
  #resting = false;

  constructor(
    queue: PayloadQueue,
    place: {
      readonly generation: number;
      readonly track: number;
      readonly sampleRate: number;
      readonly movable?: boolean;
    },
    encoder: FrameEncoder,
    silence: Uint8Array,
  ) {
    this.#queue = queue;
    this.#generation = place.generation;
    this.#track = place.track;
    this.movable = place.movable === true;
    this.sampleRate = place.sampleRate;
    this.frameSamples = encoder.frameSamples;
    this.#encoder = encoder;
    this.#silence = silence;
  }

  get payload(): Uint8Array | undefined {
    return this.#payload;
  }

  put(frame: Float32Array): void {
    this.#payload = this.#encoder.encode(frame);
  }

  restart(): void {
    this.#encoder.reset();
  }

  putSilence(): void {
    this.#payload = this.#silence;
  }

  putPayload(payload: Uint8Array): void {
    this.#payload = payload;
  }

  mark(mark: number): void {
    this.#mark = mark;
  }

  rest(): void {
    this.#resting = true;
  }

  get holding(): boolean {
    return this.#queue.holding === true;
  }

  isDry(): boolean {
    return this.#payload === undefined && this.#queue.isDry();
  }

  finish(): void {
    this.#mark = TRACK_ENDED;
  }

  flush(): Flushed {
    if (this.#payload !== undefined) {
      const answer = this.#queue.push(this.#generation, this.#track, this.#payload);
      if (answer !== 1) return answer === 0 ? 'full' : 'gone';
      this.#payload = undefined;
    }
    if (this.#mark !== undefined) {
      const end = this.#mark === TRACK_ENDED;
      const answer = this.#queue.mark(this.#generation, this.#track, this.#mark, end);
      if (answer !== 1) return answer === 0 ? 'full' : 'gone';
      this.#mark = undefined;
    }
    if (this.#resting) {
      const answer = this.#queue.rest(this.#generation, this.#track);
      if (answer !== 1) return answer === 0 ? 'full' : 'gone';
      this.#resting = false;
    }
    return 'taken';
  }

  onRoom(callback: () => void): void {
    this.#queue.onRoom(callback);
  }

  /** Whoever owns the playout clears it: what was pushed before is not the line's any more. */
  fail(): void {}

  release(callback: () => void): void {
    this.#queue.forget(callback);
  }
}
