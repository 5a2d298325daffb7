// Hands the unsent sound of a call over to the playout that replaced its own, in a worker. HandoverQueue
// stands between a session and the new playout, and its Transcoder converts the payloads:
//
//   unsent payloads of the old playout ────┐
//   payloads that the session still makes ─┴─▶ Transcoder ─▶ outbox ─▶ new playout
//
// The session keeps its codec. This queue transcodes its payloads, after those that the old playout had not
// sent. Marks keep their exact frames. Waiting entries are handed over in slices, so that other sessions get
// their turns. The outbox holds the output of at most one payload.
//
// If the playout is replaced again in the same utterance, the output of this queue goes into the next one.
// One queue with a transcoder that is replaced would need a seam in the middle of a sentence: the samples
// that the first transcoder holds belong to no payload of either codec.
import { toFloat32 } from '../audio/pcm16.js';
import { Resampler } from '../audio/resampler.js';
import { CODECS, samplesPerFrame } from '../codecs/codec.js';
import type { FrameEncoder } from '../codecs/frame-encoder.js';
import { type FrameDecoder, frameDecoder } from '../codecs/frame-decoder.js';
import { PlayoutWriter, TakenEntries, type TakenEntry } from '../media/playout.js';
import type { PayloadQueue } from './frame-sink.js';
import type { HandoverMessage, PayloadForm } from './encoder-messages.js';
import { asParleyError, type ParleyError } from '../errors.js';

/** Takes a finished payload; the bytes are valid until it returns. */
type PutPayload = (payload: Uint8Array) => void;

/**
 * Converts payloads to another codec or frame length:
 *
 *   payload ─▶ decode ─▶ resample ─▶ frame ─▶ encode ─▶ payload
 *
 * The input up to `flush` is one continuous sound: filters keep their state, so that there is no seam.
 * Positions count samples of the new rate since the beginning of that sound, and are known before the samples
 * have left the resampler.
 */
class Transcoder {
  readonly #decoder: FrameDecoder;
  readonly #encoder: FrameEncoder;
  readonly #frameMs: number;
  readonly #resampler: Resampler;
  readonly #input: Float32Array;
  readonly #resampled: Float32Array;
  readonly #frame: Float32Array;
  #filled = 0;
  /** Samples of the warm-up that are still to be left out. */
  #skip = 0;
  /** Samples that come of everything taken in this sound. */
  #due = 0;
  #framesPut = 0;

  /** `encoder` makes payloads of the form `to`. */
  constructor(from: PayloadForm, to: PayloadForm, encoder: FrameEncoder) {
    const codec = CODECS[from.codec];
    const inputs = samplesPerFrame(codec, from.frameMs);
    this.#decoder = frameDecoder(from.codec);
    this.#encoder = encoder;
    this.#frameMs = to.frameMs;
    this.#resampler = new Resampler(codec.sampleRate, CODECS[to.codec].sampleRate, inputs);
    this.#input = new Float32Array(inputs);
    this.#resampled = new Float32Array(Math.max(this.#resampler.maxOutput(inputs), this.#resampler.maxFlush));
    this.#frame = new Float32Array(encoder.frameSamples);
  }

  /**
   * Primes decoder and filter with a payload that the far end heard just before. Call it before any `take`.
   */
  warm(payload: Uint8Array): void {
    const count = this.#decode(payload);
    const before = this.#positions();
    const given = this.#resampler.process(this.#input, count, this.#resampled);
    this.#skip += this.#positions() - before - given;
  }

  take(payload: Uint8Array, put: PutPayload): void {
    const count = this.#decode(payload);
    const before = this.#positions();
    const given = this.#resampler.process(this.#input, count, this.#resampled);
    this.#due += this.#positions() - before;
    this.#pour(given, put);
  }

  /** Frames that have to be put until everything taken so far is in them. */
  get framesDue(): number {
    return Math.ceil(this.#due / this.#frame.length);
  }

  /** Frames put since the sound began. */
  get framesPut(): number {
    return this.#framesPut;
  }

  /** True if nothing is held. */
  get isEmpty(): boolean {
    return this.#due <= this.#framesPut * this.#frame.length;
  }

  /**
   * Puts the held samples, with silence up to the end of the last frame; returns the milliseconds of silence.
   * Ends the sound.
   */
  flush(put: PutPayload): number {
    this.#pour(this.#resampler.flush(this.#resampled), put);
    const silence = this.#filled === 0 ? 0 : this.#frame.length - this.#filled;
    if (silence > 0) {
      this.#frame.fill(0, this.#filled);
      this.#put(put);
    }
    this.#begin();
    return (silence * this.#frameMs) / this.#frame.length;
  }

  /** Prepares for another sound, of another talkspurt. */
  restart(): void {
    this.#resampler.reset();
    this.#begin();
    this.#decoder.reset();
    this.#encoder.reset();
  }

  #begin(): void {
    this.#filled = 0;
    this.#skip = 0;
    this.#due = 0;
    this.#framesPut = 0;
  }

  #positions(): number {
    return this.#resampler.outputsFor(this.#resampler.inputs);
  }

  #decode(payload: Uint8Array): number {
    const samples = this.#decoder.decode(payload);
    const count = Math.min(samples.length, this.#input.length);
    toFloat32(samples, count, this.#input);
    return count;
  }

  #pour(given: number, put: PutPayload): void {
    let at = Math.min(this.#skip, given);
    this.#skip -= at;
    while (at < given) {
      const count = Math.min(given - at, this.#frame.length - this.#filled);
      this.#frame.set(this.#resampled.subarray(at, at + count), this.#filled);
      at += count;
      this.#filled += count;
      if (this.#filled === this.#frame.length) this.#put(put);
    }
  }

  #put(put: PutPayload): void {
    put(this.#encoder.encode(this.#frame));
    this.#filled = 0;
    this.#framesPut++;
  }
}

const SLICE_FRAMES = 10; // less than 3 ms of Opus

type Out =
  | { readonly payload: Uint8Array }
  | { readonly mark: number; readonly end: boolean }
  | { readonly rest: true };

type Outgoing = Out & { readonly track: number };

interface HandoverReports {
  /** Everything taken from the old playout is in the new one. */
  handedOver(): void;
  padded(track: number, frames: number, padMs: number): void;
  /** A defect has ended it. */
  failed(error: ParleyError): void;
  /** The queue pushes no more. */
  ended(): void;
}

export class HandoverQueue implements PayloadQueue {
  /** Queues of this kind before it and itself. */
  readonly depth: number;
  #target: PayloadQueue;
  readonly #generation: number;
  readonly #entries: TakenEntries;
  readonly #transcoder: Transcoder;
  readonly #reports: HandoverReports;
  readonly #outbox: Outgoing[] = [];
  readonly #marks: { readonly mark: number; readonly due: number }[] = [];
  readonly #warm: TakenEntry[] = [];
  readonly #framesOf = new Map<number, number>();
  #track: number | undefined;
  /** The end of the session's track is taken and not handed over yet. */
  #ending = false;
  #handedOver = false;
  #scheduled = false;
  /** No session pushes any more. */
  #released = false;
  #over = false;
  readonly #drive = () => this.#work();
  readonly #put = (payload: Uint8Array) => this.#putPayload(payload);

  /** `encoder` makes payloads for the new playout. */
  constructor(
    { from, to, entries }: HandoverMessage,
    encoder: FrameEncoder,
    reports: HandoverReports,
    depth: number,
  ) {
    this.#target = new PlayoutWriter(to.playout);
    this.#generation = to.generation;
    this.#entries = new TakenEntries(entries);
    this.#transcoder = new Transcoder(from, to, encoder);
    this.#reports = reports;
    this.depth = depth;
  }

  /** Starts to hand over the waiting entries. */
  start(): void {
    this.#work();
  }

  /** Sends waiting and later output to another queue. */
  redirect(queue: PayloadQueue): void {
    this.#target.forget(this.#drive);
    this.#target = queue;
    this.#schedule();
  }

  /** Call this when no session pushes any more. The queue ends once everything is handed over. */
  released(): void {
    this.#released = true;
    this.#schedule();
  }

  /** Drops the waiting output. Idempotent. */
  stop(): void {
    if (this.#over) return;
    this.#over = true;
    this.#outbox.length = 0;
    this.#target.forget(this.#drive);
    this.#reports.ended();
    if (this.#target instanceof HandoverQueue) this.#target.released();
  }

  push(_generation: number, track: number, payload: Uint8Array): number {
    const answer = this.#ready();
    if (answer !== 1) return answer;
    this.#takePayload(track, payload);
    return this.#handOver();
  }

  mark(_generation: number, track: number, mark: number, endOfTrack: boolean): number {
    const answer = this.#ready();
    if (!endOfTrack) {
      if (answer !== 1) return answer;
      this.#takeMark(track, mark);
      return this.#handOver();
    }
    // The session is over once this is taken: then nothing may be left here.
    if (!this.#ending) {
      if (answer !== 1) return answer;
      this.#ending = true;
      this.#takeEnd(track, mark);
    }
    const handed = this.#drain();
    if (handed === 1) this.#ending = false;
    return handed;
  }

  pauseInput(_generation: number, track: number): number {
    const answer = this.#ready();
    if (answer !== 1) return answer;
    this.#takeRest(track);
    return this.#handOver();
  }

  isEmpty(): boolean {
    return (
      this.#handedOver && this.#outbox.length === 0 && this.#transcoder.isEmpty && this.#target.isEmpty()
    );
  }

  onRoom(callback: () => void): void {
    this.#target.onRoom(callback);
  }

  forget(callback: () => void): void {
    this.#target.forget(callback);
  }

  /** Returns 1 if a payload of the session may be taken: the entries of the old playout go first. */
  #ready(): number {
    const answer = this.#slice();
    return answer === 1 && !this.#handedOver ? 0 : answer;
  }

  /** Drains the outbox as there is room. Returns 1 in any case, because the payload is already taken. */
  #handOver(): 1 {
    if (this.#drain() !== 1) this.#await();
    return 1;
  }

  #schedule(): void {
    if (this.#scheduled || this.#over) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#work();
    });
  }

  /** Never throws: a defect ends this handover. */
  #work(): void {
    try {
      this.#advance();
    } catch (error) {
      this.stop();
      this.#reports.failed(asParleyError(error, 'ENCODER_FAILED'));
    }
  }

  #advance(): void {
    if (this.#over) return;
    const answer = this.#slice();
    if (answer === 1 && !this.#handedOver) return this.#schedule();
    if (answer === 0) return this.#await();
    // If the target is gone, entries of the old playout wait until they are redirected or stopped.
    if (this.#released && this.#handedOver) this.stop();
  }

  #await(): void {
    this.#target.forget(this.#drive);
    this.#target.onRoom(this.#drive);
  }

  /** Hands over some of the taken entries; 1 when the outbox is empty. */
  #slice(): number {
    let answer = this.#drain();
    for (let frames = 0; frames < SLICE_FRAMES && answer === 1; answer = this.#drain()) {
      const entry = this.#entries.next();
      if (entry === undefined) break;
      if (entry.kind === 'frame' || entry.kind === 'sent') frames++;
      this.#takeEntry(entry);
    }
    if (answer === 1 && this.#entries.isEmpty && !this.#handedOver) {
      this.#handedOver = true;
      this.#reports.handedOver();
    }
    return answer;
  }

  #takeEntry(entry: TakenEntry): void {
    const { kind, track, mark, payload } = entry;
    if (kind === 'sent') this.#warm.push(entry);
    else if (kind === 'frame') this.#takePayload(track, payload);
    else if (kind === 'rest') this.#takeRest(track);
    else if (kind === 'track-end') this.#takeEnd(track, mark);
    else this.#takeMark(track, mark);
  }

  #takePayload(track: number, payload: Uint8Array): void {
    this.#turnTo(track);
    this.#transcoder.take(payload, this.#put);
    this.#releaseMarks();
  }

  #takeMark(track: number, mark: number): void {
    this.#turnTo(track);
    this.#marks.push({ mark, due: this.#transcoder.framesDue });
    this.#releaseMarks();
  }

  #takeRest(track: number): void {
    this.#turnTo(track);
    this.#flush();
    this.#outbox.push({ track, rest: true });
  }

  #takeEnd(track: number, mark: number): void {
    this.#turnTo(track);
    this.#flush();
    this.#outbox.push({ track, mark, end: true });
    this.#transcoder.restart();
    this.#warm.length = 0;
    this.#framesOf.delete(track);
    this.#track = undefined;
  }

  /**
   * Begins the payloads of another track. If a part of that track was sent before the move, its last payloads
   * prime the transcoder.
   */
  #turnTo(track: number): void {
    if (this.#track === track) return;
    if (this.#track !== undefined) {
      this.#flush();
      this.#transcoder.restart();
    }
    this.#track = track;
    const isBegun = this.#warm.at(-1)?.track === track;
    for (const sent of this.#warm.splice(0)) {
      if (isBegun && sent.track === track) this.#transcoder.warm(sent.payload);
    }
  }

  #flush(): void {
    const padMs = this.#transcoder.flush(this.#put);
    const track = this.#track;
    if (padMs > 0 && track !== undefined) {
      this.#reports.padded(track, this.#framesOf.get(track) ?? 0, padMs);
    }
    this.#releaseMarks(Infinity);
  }

  #releaseMarks(framesPut = this.#transcoder.framesPut): void {
    const track = this.#track;
    for (let next = this.#marks[0]; next !== undefined && next.due <= framesPut; next = this.#marks[0]) {
      this.#marks.shift();
      if (track !== undefined) this.#outbox.push({ track, mark: next.mark, end: false });
    }
  }

  #putPayload(payload: Uint8Array): void {
    const track = this.#track;
    if (track === undefined) return;
    const frames = (this.#framesOf.get(track) ?? 0) + 1;
    this.#framesOf.set(track, frames);
    // Marks that follow an earlier frame go before this one.
    this.#releaseMarks(this.#transcoder.framesPut);
    this.#outbox.push({ track, payload: payload.slice() }); // the encoder uses its memory again
  }

  /** 1 when everything is handed over, else the answer of the queue. */
  #drain(): number {
    for (let next = this.#outbox[0]; next !== undefined; next = this.#outbox[0]) {
      const answer = this.#offer(next);
      if (answer !== 1) return answer;
      this.#outbox.shift();
    }
    return 1;
  }

  #offer(next: Outgoing): number {
    const { track } = next;
    if ('payload' in next) return this.#target.push(this.#generation, track, next.payload);
    if ('rest' in next) return this.#target.pauseInput(this.#generation, track);
    return this.#target.mark(this.#generation, track, next.mark, next.end);
  }
}
