// The sessions inside an encoder worker: EncoderPipeline turns the segments of one session into frames for
// its sink, PipelineScheduler gives the sessions of a worker their turns.
//
//   ring ─▶ SegmentSound ─▶ SegmentConcat ─▶ frame ─▶ FrameSink
//           trim            pause, stretch,           encode, hand over
//                           resample
//
// The sink is asked first, so nothing is read that it has no room for: a full
// playout leaves the ring full, and a full ring stops the engine. Marks are
// queued with the frame they follow and handed over right after it.
//
// A segment whose payloads are kept, or were kept before, stands apart: it
// begins and ends with a frame of its own, silence between it and its neighbours
// is whole frames, and its encoder starts clean. So its payloads are the same
// in every session.
import type { OpusTuning } from '../codecs/opus.js';
import { asParleyError, ParleyError } from '../errors.js';
import { DueMarks } from './marks.js';
import type { FrameSink } from './frame-sink.js';
import { type KeptFrames, ReadySegment, SegmentKeeper } from './kept-frames.js';
import type { SegmentEncoded, SegmentStarted } from './encoder-messages.js';
import { CHUNK_SAMPLES, SegmentConcat, SegmentSound } from './segment-sound.js';

export interface PipelineListener {
  started(segment: SegmentStarted): void;
  /** All of the segment is in the sink, but for a last frame that what follows fills up. */
  encoded(segment: SegmentEncoded): void;
  /** The payloads of a segment that was to be kept, all of them. */
  kept(index: number, kept: KeptFrames): void;
  /** The session goes on: what came before the failure stays. */
  failed(index: number, error: ParleyError): void;
  /** The sink has everything, after so many milliseconds of work. Nothing is reported after it. */
  ended(workMs: number): void;
  /** The session is over, everything it held is let go. Nothing is reported after it. */
  lost(error: ParleyError): void;
}

/** `more`: call again. `waiting`: the pipeline says when. `over`: never again. */
type Turn = 'more' | 'waiting' | 'over';

interface SegmentSizes {
  readonly index: number;
  readonly samplesIn: number;
  readonly trimmedStartMs: number;
}

export class EncoderPipeline {
  readonly #sink: FrameSink;
  readonly #listener: PipelineListener;
  readonly #now: () => number;
  readonly #wake: () => void;
  readonly #sound: SegmentConcat;
  /** Made for the first segment that is encoded. */
  #chunk: Float32Array | undefined;
  readonly #frame: Float32Array;
  readonly #keeper: SegmentKeeper;
  #filled = 0;
  #framesPut = 0;
  readonly #segments: (SegmentSound | ReadySegment)[] = [];
  #current: SegmentSound | undefined;
  #ready: ReadySegment | undefined;
  /** Frames of silence still to put before a segment apart; undefined where none is about to begin. */
  #gap: number | undefined;
  /** The segment before stood apart. */
  #apart = false;
  /** Frame of the current segment's first sample; negative while it has not sounded. */
  #firstFrame = -1;
  readonly #marks = new DueMarks();
  /** The text pauses: nothing is late while no segment is queued. */
  #resting = false;
  /** True if the sink knows of the pause and no frame was put since. */
  #rested = true;
  #ending: 'no' | 'asked' | 'flushed' | 'finished' = 'no';
  #over = false;
  #workMs = 0;
  /** Start time of the present turn. */
  #turnBegan = 0;
  /** Position of the current segment's first sample, in samples of the session. */
  #segmentStart = 0;

  /**
   * `wake` is called when a waiting pipeline may go on. `now` is the monotonic clock in milliseconds. `speed`
   * is the speed of the session relative to its segments.
   */
  constructor(
    sink: FrameSink,
    listener: PipelineListener,
    wake: (pipeline: EncoderPipeline) => void,
    now: () => number,
    speed = 1,
  ) {
    this.#sink = sink;
    this.#listener = listener;
    this.#now = now;
    this.#wake = () => wake(this);
    this.#sound = new SegmentConcat(sink.sampleRate, speed);
    this.#frame = new Float32Array(sink.frameSamples);
    const frameMs = (sink.frameSamples * 1000) / sink.sampleRate;
    this.#keeper = new SegmentKeeper(frameMs, (index, kept) => listener.kept(index, kept));
  }

  /** Its frames are payloads of a call, which have to be in time. */
  get isTimed(): boolean {
    return this.#sink.payloads !== undefined;
  }

  get framesPut(): number {
    return this.#framesPut;
  }

  segment(segment: SegmentSound | ReadySegment): void {
    if (this.#over) return;
    this.#segments.push(segment);
    this.#resting = false;
    this.#wake();
  }

  /** Sets the end of a part of a ring. Ignored once the part has ended. */
  cut(index: number, endAt: number): void {
    const part = [this.#current, ...this.#segments].find((one) => one?.index === index);
    if (this.#over || !(part instanceof SegmentSound)) return;
    part.endAt(endAt);
    this.#wake();
  }

  /** Changes the encoder from the next frame on. The segment in progress is not kept. */
  tune(tuning: OpusTuning): void {
    if (this.#over) return;
    this.#sink.payloads?.tune(tuning);
    this.#keeper.drop();
  }

  /** No segment follows for now. */
  pauseInput(): void {
    if (this.#over) return;
    this.#resting = true;
    this.#wake();
  }

  end(): void {
    if (this.#over || this.#ending !== 'no') return;
    this.#ending = 'asked';
    this.#wake();
  }

  /** Schedules another turn: the reason for waiting may be gone. */
  wake(): void {
    if (!this.#over) this.#wake();
  }

  /** Gives everything up without a report. Idempotent. */
  stop(): void {
    this.#letGo(new ParleyError('ABORTED', 'the encoder session was aborted'));
  }

  /** Works until a frame count, a wait or the end is reached. Never throws. */
  turn(maxFrames: number): Turn {
    const framesBefore = this.#framesPut;
    this.#turnBegan = this.#now();
    try {
      while (!this.#over) {
        const flushed = this.#sink.flush();
        if (flushed === 'gone' && this.#sink.movable === true) return 'waiting';
        if (flushed === 'gone')
          throw new ParleyError('ABORTED', 'the sink of the encoder session was cleared or closed');
        if (flushed === 'full') {
          this.#sink.onRoom(this.#wake);
          return 'waiting';
        }
        if (!this.#sink.holding) this.#reportStarts();
        if (this.#releaseMark()) continue;
        if (this.#framesPut - framesBefore >= maxFrames) return 'more';
        if (this.#step() === 'waiting') return 'waiting';
      }
    } catch (error) {
      this.#lose(asParleyError(error, 'ENCODER_FAILED'));
    } finally {
      this.#workMs += this.#now() - this.#turnBegan;
    }
    return 'over';
  }

  /** Hands the sink the next mark whose frame it has. */
  #releaseMark(): boolean {
    const mark = this.#marks.next(this.#framesPut);
    if (mark === undefined) return false;
    this.#sink.mark(mark);
    return true;
  }

  #reportStarts(): void {
    for (const started of this.#marks.takeStarted()) {
      this.#listener.started({ ...started, queuedAtMs: this.#now() });
    }
  }

  /** The smallest piece of work there is. */
  #step(): 'moved' | 'waiting' {
    const room = this.#frame.length - this.#filled;
    this.#filled += this.#sound.read(this.#frame, room, this.#filled);
    if (this.#filled === this.#frame.length) {
      this.#putFrame(this.#filled);
      return 'moved';
    }
    if (this.#gap !== undefined) return this.#crossGap(this.#gap);
    if (this.#ready !== undefined) return this.#putReady(this.#ready);
    if (this.#current === undefined) return this.#nextSegment();
    return this.#readSegment(this.#current);
  }

  #putFrame(count: number): void {
    this.#sink.put(this.#frame, count);
    this.#framesPut++;
    this.#filled = 0;
    const payload = this.#sink.payloads?.payload;
    if (payload !== undefined) this.#keeper.frame(payload);
  }

  #payloads(): NonNullable<FrameSink['payloads']> {
    if (this.#sink.payloads !== undefined) return this.#sink.payloads;
    throw new ParleyError('WRONG_STATE', 'only a playout has payloads that can be kept');
  }

  #nextSegment(): 'moved' | 'waiting' {
    const next = this.#segments.shift();
    if (next === undefined) return this.#ending === 'no' ? this.#pause() : this.#finish();
    this.#firstFrame = -1;
    // After a rest that was heard as silence a pause would only be delay. What stands before all sound was
    // asked for.
    const restHeard = this.#rested && this.#framesPut > 0 && this.#sink.isEmpty();
    const pauseMs = restHeard ? 0 : next.pauseBeforeMs;
    const ready = next instanceof ReadySegment;
    const apart = ready || next.keep;
    if (apart || this.#apart) {
      this.#gap = this.#sound.beginApart(ready ? undefined : next, pauseMs, this.#frame.length);
    } else {
      this.#sound.begin(next, pauseMs);
    }
    this.#apart = apart;
    if (ready) this.#ready = next;
    else this.#current = next;
    return 'moved';
  }

  /** The frames before the gap are put; those of silence follow, and then the segment. */
  #crossGap(frames: number): 'moved' {
    const payloads = this.#payloads();
    if (frames > 0) {
      this.#gap = frames - 1;
      payloads.putSilence();
      this.#framesPut++;
      return 'moved';
    }
    this.#gap = undefined;
    if (this.#current !== undefined) payloads.restart();
    if (this.#current?.keep === true) this.#keeper.begin();
    return 'moved';
  }

  #putReady(segment: ReadySegment): 'moved' {
    const { index, kept } = segment;
    if (this.#firstFrame < 0 && kept.frames > 0) {
      this.#firstFrame = this.#framesPut;
      this.#segmentStart = this.#sound.end;
      this.#sound.skip(kept.frames, this.#frame.length, kept.samples);
      this.#marks.start({ index, firstFrame: this.#firstFrame, trimmedStartMs: kept.trimmedStartMs });
    }
    const payload = segment.next();
    if (payload === undefined) {
      this.#ready = undefined;
      const end = kept.frames > 0 ? this.#segmentStart + kept.samples : this.#sound.end;
      this.#ended({ ...kept, index }, end);
      return 'moved';
    }
    this.#rested = false;
    this.#payloads().putPayload(payload);
    this.#framesPut++;
    return 'moved';
  }

  /** At a pause of the input, hands over every sample so far; the last frame is padded. */
  #pause(): 'moved' | 'waiting' {
    if (!this.#resting || this.#rested || !this.#sink.wholeFrames) return 'waiting';
    if (this.#sound.pad(this.#frame.length)) return 'moved';
    this.#rested = true;
    this.#sink.pauseInput();
    return 'moved';
  }

  #readSegment(segment: SegmentSound): 'moved' | 'waiting' {
    try {
      const chunk = (this.#chunk ??= new Float32Array(CHUNK_SAMPLES));
      const count = segment.read(chunk);
      if (count > 0) this.#takeChunk(segment, chunk, count);
      else if (count < 0) this.#endSegment(segment);
      else segment.onReadable(this.#wake);
      return count === 0 ? this.#awaitSound(segment) : 'moved';
    } catch (error) {
      if (this.#sink.failsWhole) throw error;
      this.#current = undefined;
      this.#keeper.drop();
      segment.abort(this.#wake);
      this.#listener.failed(segment.index, asParleyError(error, 'ENCODER_FAILED'));
      return 'moved';
    }
  }

  /**
   * At a pause of the text, a part may wait without an underrun. Held samples stay until later ones fill the
   * frame.
   */
  #awaitSound({ isPart }: SegmentSound): 'moved' | 'waiting' {
    if (!isPart || !this.#resting || this.#rested || !this.#sink.wholeFrames) return 'waiting';
    this.#rested = true;
    this.#sink.pauseInput();
    return 'moved';
  }

  #takeChunk(segment: SegmentSound, chunk: Float32Array, count: number): void {
    if (this.#firstFrame < 0) {
      this.#segmentStart = this.#sound.end;
      this.#firstFrame = Math.floor(this.#sound.end / this.#frame.length);
      const { index, trimmedStartMs } = segment;
      this.#marks.start({ index, firstFrame: this.#firstFrame, trimmedStartMs });
    }
    this.#rested = false;
    this.#sound.take(chunk, count);
  }

  #endSegment(segment: SegmentSound): void {
    this.#current = undefined;
    segment.release(this.#wake);
    const { index, samplesIn, trimmedStartMs } = segment;
    const end = this.#sound.end;
    const frames = this.#ended(segment, end);
    if (!segment.keep) return;
    this.#sound.pad(this.#frame.length);
    const samples = frames > 0 ? end - this.#segmentStart : 0;
    this.#keeper.ended({ index, frames, samples, samplesIn, trimmedStartMs });
  }

  /** Marks and reports the end of a segment whose sound ends before the sample `end`; answers its frames. */
  #ended({ index, samplesIn, trimmedStartMs }: SegmentSizes, end: number): number {
    const lastFrame = Math.ceil(end / this.#frame.length) - 1;
    const sounded = this.#firstFrame >= 0;
    const firstFrame = sounded ? this.#firstFrame : lastFrame + 1;
    if (!sounded) this.#marks.start({ index, firstFrame, trimmedStartMs }, lastFrame);
    this.#marks.end(index, lastFrame);
    const frames = lastFrame + 1 - firstFrame;
    this.#listener.encoded({
      index,
      firstFrame,
      frames,
      samplesIn,
      trimmedStartMs,
      startMs: ((sounded ? this.#segmentStart : end) * 1000) / this.#sink.sampleRate,
      endMs: (end * 1000) / this.#sink.sampleRate,
    });
    return frames;
  }

  /** Ends the session one step a call: flushes held samples, puts the last frame, finishes the sink. */
  #finish(): 'moved' {
    if (this.#ending === 'asked') {
      this.#ending = 'flushed';
      this.#sound.finish();
    } else if (this.#filled > 0) {
      if (this.#sink.wholeFrames) this.#frame.fill(0, this.#filled);
      this.#putFrame(this.#sink.wholeFrames ? this.#frame.length : this.#filled);
    } else if (this.#ending === 'flushed') {
      this.#ending = 'finished';
      this.#sink.finish();
    } else {
      this.#over = true;
      this.#sink.release(this.#wake);
      this.#listener.ended(this.#workMs + this.#now() - this.#turnBegan);
    }
    return 'moved';
  }

  #lose(error: ParleyError): void {
    if (this.#over) return;
    this.#letGo(error);
    this.#listener.lost(error);
  }

  #letGo(error: ParleyError): void {
    if (this.#over) return;
    this.#over = true;
    this.#sink.fail(error.code);
    this.#sink.release(this.#wake);
    this.#current?.abort(this.#wake);
    for (const segment of this.#segments) segment.abort(this.#wake);
    this.#segments.length = 0;
  }
}

const TURN_FRAMES = 5; // 100 ms of sound
const STARTING_TURN_FRAMES = 2; // many that start together all have their first packet soon
const PASS_FRAMES = 40; // some 6 ms of Opus: how long an abort may wait
const CUSHION_FRAMES = 10; // 200 ms of sound

/** Called after each turn, with the time that the session waited for it and worked in it. */
type OnTurn = (pipeline: EncoderPipeline, waitedMs: number, workedMs: number) => void;

/**
 * Decides which session works next in an encoder worker. Sessions take turns of a few frames. A session that
 * has not given its call a cushion yet goes before those that have: its first packet is due, while the others
 * have hundreds of milliseconds queued. The event loop runs between two passes, so an abort takes effect
 * within one pass.
 */
export class PipelineScheduler {
  readonly #starting: EncoderPipeline[] = [];
  readonly #running: EncoderPipeline[] = [];
  /** The sessions that wait for a turn, and since when. */
  readonly #waiting = new Map<EncoderPipeline, number>();
  readonly #now: () => number;
  readonly #onTurn: OnTurn;
  #scheduled = false;

  /** `now` is the monotonic clock in milliseconds. */
  constructor(now: () => number, onTurn: OnTurn) {
    this.#now = now;
    this.#onTurn = onTurn;
  }

  /** The session may be able to work. */
  readonly wake = (pipeline: EncoderPipeline): void => {
    if (this.#waiting.has(pipeline)) return;
    this.#waiting.set(pipeline, this.#now());
    this.#queueOf(pipeline).push(pipeline);
    this.#schedule();
  };

  #queueOf(pipeline: EncoderPipeline): EncoderPipeline[] {
    return pipeline.framesPut < CUSHION_FRAMES ? this.#starting : this.#running;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#pass();
    });
  }

  #pass(): void {
    const again: EncoderPipeline[] = [];
    for (let frames = 0; frames < PASS_FRAMES;) {
      const turnFrames = this.#starting.length > 0 ? STARTING_TURN_FRAMES : TURN_FRAMES;
      const pipeline = this.#starting.shift() ?? this.#running.shift();
      if (pipeline === undefined) break;
      const beganMs = this.#now();
      const waitedMs = beganMs - (this.#waiting.get(pipeline) ?? beganMs);
      this.#waiting.delete(pipeline);
      const before = pipeline.framesPut;
      if (pipeline.turn(turnFrames) === 'more') again.push(pipeline);
      this.#onTurn(pipeline, waitedMs, this.#now() - beganMs);
      frames += Math.max(1, pipeline.framesPut - before);
    }
    for (const pipeline of again) this.wake(pipeline);
    if (this.#waiting.size > 0) this.#schedule();
  }
}
