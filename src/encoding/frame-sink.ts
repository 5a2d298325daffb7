// The sinks of a session's frames. PlayoutSink turns them into payloads and marks of a call's playout,
// BytesSink into the bytes of a container in a ring. Between a PlayoutSink and its playout, HeldStart holds
// back the start of a talkspurt.
//
// A sink holds what it could not hand over and offers it again at `flush`. The pipeline gives it nothing new
// before. There is no other flow control.
import type { Container } from '../codecs/container.js';
import type { FrameEncoder } from '../codecs/frame-encoder.js';
import type { OpusTuning } from '../codecs/opus.js';
import type { ErrorCode } from '../errors.js';
import { TRACK_ENDED } from './marks.js';

type Flushed = 'taken' | 'full' | 'gone';

/** Additional methods of a payload sink, for segments that share no frame with their neighbours. */
interface PayloadSink {
  /** Payload of the last frame; valid until the next frame is put. */
  readonly payload: Uint8Array | undefined;
  /** The next frame that is put depends on nothing before it. */
  restart(): void;
  /** Changes the encoder from the next frame on. */
  tune(tuning: OpusTuning): void;
  putSilence(): void;
  /** A frame that was encoded before. */
  putPayload(payload: Uint8Array): void;
}

export interface FrameSink {
  /** Absent if a frame is not a payload of its own. */
  readonly payloads?: PayloadSink;
  /** Hz of the samples it takes. */
  readonly sampleRate: number;
  readonly frameSamples: number;
  /** A last frame that is not full is padded with silence; otherwise it is put as short as it is. */
  readonly wholeFrames: boolean;
  /** A failed segment ends the session, because a file cannot report a gap afterwards. */
  readonly failsWhole: boolean;
  /**
   * True if the session survives the loss of its playout. The handover to another playout wakes the session.
   */
  readonly movable?: boolean;
  put(frame: Float32Array, count: number): void;
  mark(mark: number): void;
  /** True if it holds frames that the reader gets with later ones. */
  readonly holding: boolean;
  /** The input pauses: an empty sink is no underrun until the next frame. */
  pauseInput(): void;
  /** True if everything put was sent. */
  isEmpty(): boolean;
  /** No frame follows. */
  finish(): void;
  /** Hands over the waiting frames. `gone`: the reader no longer exists. */
  flush(): Flushed;
  /** Calls back once when flushing is worth another try. */
  onRoom(callback: () => void): void;
  /**
   * Ends the sink with an error, before its end was flushed. The reader gets the code if that is possible.
   */
  fail(code: ErrorCode): void;
  release(callback: () => void): void;
}

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
  // Unwritten bytes: #bytes from #at to #end.
  #at = 0;
  #end = 0;
  /** The header waits for the first frame, so that one read returns both. */
  #headed = false;
  #finishing = false;
  #over = false;

  /** The creator of the container closes it, after the sink has ended. */
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

  pauseInput(): void {}

  isEmpty(): boolean {
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

  tune(tuning: OpusTuning): void {
    this.#encoder.tune?.(tuning);
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

  pauseInput(): void {
    this.#resting = true;
  }

  get holding(): boolean {
    return this.#queue.holding === true;
  }

  isEmpty(): boolean {
    return this.#payload === undefined && this.#queue.isEmpty();
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
      const answer = this.#queue.pauseInput(this.#generation, this.#track);
      if (answer !== 1) return answer === 0 ? 'full' : 'gone';
      this.#resting = false;
    }
    return 'taken';
  }

  onRoom(callback: () => void): void {
    this.#queue.onRoom(callback);
  }

  /** Does nothing: the owner of the playout clears frames that were already pushed. */
  fail(): void {}

  release(callback: () => void): void {
    this.#queue.forget(callback);
  }
}

/** The part of PlayoutWriter that a session pushes to. Answers: 1 taken, 0 full, -1 stale or closed. */
export interface PayloadQueue {
  push(generation: number, track: number, payload: Uint8Array): number;
  mark(generation: number, track: number, mark: number, endOfTrack: boolean): number;
  pauseInput(generation: number, track: number): number;
  isEmpty(): boolean;
  /** True while it keeps payloads that it has not passed on. */
  readonly holding?: boolean;
  onRoom(callback: () => void): void;
  forget(callback: () => void): void;
}

const START_FRAMES = 3; // an engine's first piece is longer: 80 ms of a 12.5 Hz codec

/** A payload, or a mark that is not the track's end. */
type Held = Uint8Array | number;

/**
 * Holds back the start of a talkspurt. After a first frame on the wire the next one is due within 20 ms, and
 * a thread with a priority below the event loop's may be off the processor for longer. Three frames take less
 * than a millisecond to encode, so a talkspurt starts with 60 ms queued and no audible delay.
 */
export class HeldStart implements PayloadQueue {
  #queue: PayloadQueue;
  readonly #held: Held[] = [];
  #frames = 0;
  #holding = true;

  constructor(queue: PayloadQueue) {
    this.#queue = queue;
  }

  /** Sends held and later payloads to another queue. */
  redirect(queue: PayloadQueue): void {
    this.#queue = queue;
  }

  /** True while it holds payloads that the playout does not have yet. */
  get holding(): boolean {
    return this.#held.length > 0;
  }

  push(generation: number, track: number, payload: Uint8Array): number {
    if (this.#holding && this.#frames + 1 < START_FRAMES) {
      this.#frames++;
      this.#held.push(payload.slice()); // the encoder uses its memory again
      return 1;
    }
    const answer = this.#release(generation, track);
    return answer === 1 ? this.#queue.push(generation, track, payload) : answer;
  }

  mark(generation: number, track: number, mark: number, endOfTrack: boolean): number {
    if (this.#held.length > 0 && !endOfTrack) {
      this.#held.push(mark);
      return 1;
    }
    const answer = this.#release(generation, track);
    return answer === 1 ? this.#queue.mark(generation, track, mark, endOfTrack) : answer;
  }

  pauseInput(generation: number, track: number): number {
    const released = this.#release(generation, track);
    const answer = released === 1 ? this.#queue.pauseInput(generation, track) : released;
    if (answer === 1) {
      this.#holding = true;
      this.#frames = 0;
    }
    return answer;
  }

  isEmpty(): boolean {
    return this.#held.length === 0 && this.#queue.isEmpty();
  }

  onRoom(callback: () => void): void {
    this.#queue.onRoom(callback);
  }

  forget(callback: () => void): void {
    this.#queue.forget(callback);
  }

  /** 1 when nothing is held any more; otherwise the queue's answer, and the rest is tried again later. */
  #release(generation: number, track: number): number {
    for (let next = this.#held[0]; next !== undefined; next = this.#held[0]) {
      const answer =
        typeof next === 'number'
          ? this.#queue.mark(generation, track, next, false)
          : this.#queue.push(generation, track, next);
      if (answer !== 1) return answer;
      this.#held.shift();
    }
    this.#holding = false;
    return 1;
  }
}

/** Discards payloads that are made only to be kept. */
export class NoQueue implements PayloadQueue {
  push(): 1 {
    return 1;
  }

  mark(): 1 {
    return 1;
  }

  pauseInput(): 1 {
    return 1;
  }

  isEmpty(): boolean {
    return false;
  }

  onRoom(): void {}
  forget(): void {}
}
