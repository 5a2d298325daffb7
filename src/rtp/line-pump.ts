// One line inside an encoder worker: segments in, frames into the sink.
//
//   ring ─▶ SegmentSound ─▶ LineSound ─▶ frame ─▶ FrameSink
//           trim            pause, stretch,      encode, hand over
//                           resample
//
// The sink is asked first, so nothing is read that it has no room for: a full
// playout leaves the ring full, and a full ring stops the engine. Marks are
// queued with the frame they follow and handed over right after it.
import { asParleyError, ParleyError } from '../errors.js';
import type { FrameSink } from './frame-sink.js';
import type { SegmentEncoded, SegmentStarted } from './line-messages.js';
import { LineSound } from './line-sound.js';
import { segmentEnded, segmentStarted } from './marks.js';
import { CHUNK_SAMPLES, type SegmentSound } from './segment-sound.js';

export interface LineReports {
  started(segment: SegmentStarted): void;
  /** All of the segment is in the sink, but for a last frame that what follows fills up. */
  encoded(segment: SegmentEncoded): void;
  /** The line goes on: what came before the failure stays. */
  failed(index: number, error: ParleyError): void;
  /** The sink has everything, after so many milliseconds of work. Nothing is reported after it. */
  ended(workMs: number): void;
  /** The line is over, everything it held is let go. Nothing is reported after it. */
  lost(error: ParleyError): void;
}

/** `more`: call again. `waiting`: the pump says when. `over`: never again. */
export type Turn = 'more' | 'waiting' | 'over';

interface DueMark {
  /** The frame it follows; -1 for none. */
  readonly frame: number;
  readonly value: number;
  /** What a start mark is reported with. */
  readonly started: Omit<SegmentStarted, 'queuedAtMs'> | undefined;
}

export class LinePump {
  readonly #sink: FrameSink;
  readonly #reports: LineReports;
  readonly #now: () => number;
  readonly #wake: () => void;
  readonly #sound: LineSound;
  readonly #chunk = new Float32Array(CHUNK_SAMPLES);
  readonly #frame: Float32Array;
  #filled = 0;
  #framesPut = 0;
  readonly #segments: SegmentSound[] = [];
  #current: SegmentSound | undefined;
  /** Frame of the current segment's first sample; negative while it has not sounded. */
  #firstFrame = -1;
  readonly #marks: DueMark[] = [];
  /** Their start marks are on the way into the queue. */
  readonly #starting: Omit<SegmentStarted, 'queuedAtMs'>[] = [];
  /** The text pauses: nothing is late while no segment is queued. */
  #resting = false;
  /** The sink was told so, and nothing has sounded since. */
  #rested = true;
  #ending: 'no' | 'asked' | 'flushed' | 'finished' = 'no';
  #over = false;
  #workMs = 0;
  /** When the turn that runs now began. */
  #turnBegan = 0;
  /** Where the current segment's sound begins, in samples of the line. */
  #segmentStart = 0;

  /**
   * `wake` is called when a waiting pump may go on; `now` is the monotonic clock in milliseconds; `speed` is that
   * of the line's sound against its segments'.
   */
  constructor(
    sink: FrameSink,
    reports: LineReports,
    wake: (pump: LinePump) => void,
    now: () => number,
    speed = 1,
  ) {
    this.#sink = sink;
    this.#reports = reports;
    this.#now = now;
    this.#wake = () => wake(this);
    this.#sound = new LineSound(sink.sampleRate, speed);
    this.#frame = new Float32Array(sink.frameSamples);
  }

  get framesPut(): number {
    return this.#framesPut;
  }

  segment(segment: SegmentSound): void {
    if (this.#over) return;
    this.#segments.push(segment);
    this.#resting = false;
    this.#wake();
  }

  /** No segment follows for now. */
  rest(): void {
    if (this.#over) return;
    this.#resting = true;
    this.#wake();
  }

  end(): void {
    if (this.#over || this.#ending !== 'no') return;
    this.#ending = 'asked';
    this.#wake();
  }

  /** Gives everything up without a report. Idempotent. */
  stop(): void {
    this.#letGo(new ParleyError('ABORTED', 'the line was aborted'));
  }

  /** Works until a frame count, a wait or the end is reached. Never throws. */
  turn(maxFrames: number): Turn {
    const framesBefore = this.#framesPut;
    this.#turnBegan = this.#now();
    try {
      while (!this.#over) {
        const flushed = this.#sink.flush();
        if (flushed === 'gone')
          throw new ParleyError('ABORTED', 'the sink of the line was cleared or closed');
        if (flushed === 'full') {
          this.#sink.onRoom(this.#wake);
          return 'waiting';
        }
        if (this.#starting.length > 0 && !this.#sink.holding) this.#reportStarts();
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
    const due = this.#marks[0];
    if (due === undefined || due.frame >= this.#framesPut) return false;
    this.#marks.shift();
    if (due.started !== undefined) this.#starting.push(due.started);
    this.#sink.mark(due.value);
    return true;
  }

  #reportStarts(): void {
    const queuedAtMs = this.#now();
    for (const started of this.#starting) this.#reports.started({ ...started, queuedAtMs });
    this.#starting.length = 0;
  }

  /** The smallest piece of work there is. */
  #step(): 'moved' | 'waiting' {
    const room = this.#frame.length - this.#filled;
    this.#filled += this.#sound.read(this.#frame, room, this.#filled);
    if (this.#filled === this.#frame.length) {
      this.#putFrame(this.#filled);
      return 'moved';
    }
    if (this.#current === undefined) return this.#nextSegment();
    return this.#readSegment(this.#current);
  }

  #putFrame(count: number): void {
    this.#sink.put(this.#frame, count);
    this.#framesPut++;
    this.#filled = 0;
  }

  #nextSegment(): 'moved' | 'waiting' {
    const next = this.#segments.shift();
    if (next === undefined) return this.#ending === 'no' ? this.#pause() : this.#finish();
    this.#current = next;
    this.#firstFrame = -1;
    // After a rest that was heard as silence a pause would only be delay.
    const heardSilence = this.#rested && this.#sink.isDry();
    this.#sound.begin(next.rate, heardSilence ? 0 : next.pauseBeforeMs);
    return 'moved';
  }

  /** Where the text itself pauses, what was made of it is handed over to the last sample. */
  #pause(): 'moved' | 'waiting' {
    if (!this.#resting || this.#rested || !this.#sink.wholeFrames) return 'waiting';
    if (this.#sound.pad(this.#frame.length)) return 'moved';
    this.#rested = true;
    this.#sink.rest();
    return 'moved';
  }

  #readSegment(segment: SegmentSound): 'moved' | 'waiting' {
    try {
      const count = segment.read(this.#chunk);
      if (count > 0) this.#takeChunk(segment, count);
      else if (count < 0) this.#endSegment(segment);
      else segment.onReadable(this.#wake);
      return count === 0 ? 'waiting' : 'moved';
    } catch (error) {
      if (this.#sink.failsWhole) throw error;
      this.#current = undefined;
      segment.abort(this.#wake);
      this.#reports.failed(segment.index, asParleyError(error, 'ENCODER_FAILED'));
      return 'moved';
    }
  }

  #takeChunk(segment: SegmentSound, count: number): void {
    if (this.#firstFrame < 0) {
      this.#segmentStart = this.#sound.end;
      this.#firstFrame = Math.floor(this.#sound.end / this.#frame.length);
      this.#markStart(segment, this.#firstFrame, this.#firstFrame);
    }
    this.#rested = false;
    this.#sound.take(this.#chunk, count);
  }

  #endSegment(segment: SegmentSound): void {
    const lastFrame = Math.ceil(this.#sound.end / this.#frame.length) - 1;
    const { index, samplesIn, trimmedStartMs } = segment;
    const sounded = this.#firstFrame >= 0;
    const firstFrame = sounded ? this.#firstFrame : lastFrame + 1;
    if (!sounded) this.#markStart(segment, firstFrame, lastFrame);
    this.#marks.push({ frame: lastFrame, value: segmentEnded(index), started: undefined });
    this.#current = undefined;
    segment.release(this.#wake);
    this.#reports.encoded({
      index,
      firstFrame,
      frames: lastFrame + 1 - firstFrame,
      samplesIn,
      trimmedStartMs,
      startMs: ((sounded ? this.#segmentStart : this.#sound.end) * 1000) / this.#sink.sampleRate,
      endMs: (this.#sound.end * 1000) / this.#sink.sampleRate,
    });
  }

  #markStart(segment: SegmentSound, firstFrame: number, frame: number): void {
    const { index, trimmedStartMs } = segment;
    this.#marks.push({ frame, value: segmentStarted(index), started: { index, firstFrame, trimmedStartMs } });
  }

  /** What is held, then the last frame, then the sink's own end, one a step. */
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
      this.#reports.ended(this.#workMs + this.#now() - this.#turnBegan);
    }
    return 'moved';
  }

  #lose(error: ParleyError): void {
    if (this.#over) return;
    this.#letGo(error);
    this.#reports.lost(error);
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
