// The main thread's handles of an encoder worker's work. EncoderSession takes the segments of one track in
// order and reports their progress by promises and one callback. Handover moves the queued sound of one
// playout into another.
//
//   open ──▶ ending ──▶ over          over: ended, aborted or lost
//     └────────────────▲
import { ByteRing, PcmRing } from '../audio/pcm-ring.js';
import type { FileHeader } from '../codecs/container.js';
import type { OpusSettings, OpusTuning } from '../codecs/opus.js';
import { ParleyError } from '../errors.js';
import type { KeptFrames } from './kept-frames.js';
import type {
  EncoderMessage,
  EncoderSink,
  EncoderCommand,
  SegmentEncoded,
  SegmentPause,
  SegmentSource,
} from './encoder-messages.js';

const MAX_SEGMENTS = 64; // waiting in one session; two are usual

interface Waiting {
  readonly source: SegmentSource;
  readonly resolve: (encoded: SegmentEncoded) => void;
  readonly reject: (error: ParleyError) => void;
}

/** Connection of a session to its worker. `over` is called once, when no more messages will be posted. */
export interface WorkerPort {
  post(message: EncoderCommand): void;
  over(): void;
}

export class EncoderSession {
  /** Called when the sink has taken the first frame of a segment; `queuedAtMs` is on the monotonic clock. */
  onSegmentStarted:
    ((index: number, firstFrame: number, trimmedStartMs: number, queuedAtMs: number) => void) | undefined;
  /** Called for each pause of a segment with `reportPauses`, before the segment is encoded whole. */
  onSegmentPause: ((pause: SegmentPause) => void) | undefined;
  /** Called with the payloads of a segment that was to be kept, once all of them are made. */
  onSegmentKept: ((index: number, kept: KeptFrames) => void) | undefined;
  /** Milliseconds of worker time used by the session; known at its end. */
  workMs = 0;
  /**
   * File header that replaces the streamed one, if they differ; known at the session's end. Containers only.
   */
  fileHeader: FileHeader | undefined;
  readonly number: number;
  readonly #sink: EncoderSink;
  readonly #port: WorkerPort;
  readonly #waiting = new Map<number, Waiting>();
  #opus: OpusSettings;
  #tunings = 0;
  #segments = 0;
  #ended: Promise<void> | undefined;
  #settleEnd: { resolve: () => void; reject: (error: ParleyError) => void } | undefined;
  #over = false;
  /** Error that ended the session; undefined after a normal end. */
  #failure: ParleyError | undefined;

  /** Made by the pool only. */
  constructor(number: number, sink: EncoderSink, opus: OpusSettings, port: WorkerPort) {
    this.number = number;
    this.#sink = sink;
    this.#opus = opus;
    this.#port = port;
  }

  /** Settings of its Opus encoder. */
  get opus(): OpusSettings {
    return this.#opus;
  }

  /**
   * Changes error correction and bit rate from the next frame that is encoded. A segment that is being
   * encoded is no longer kept, because its payloads would have two settings.
   */
  correct(settings: Omit<OpusTuning, 'complexity'>): void {
    if (this.#over) return;
    this.#tunings++;
    this.#opus = { ...this.#opus, ...settings };
    const tuning = { complexity: this.#opus.complexity, ...settings };
    this.#port.post({ type: 'tune', session: this.number, tuning });
  }

  /**
   * Queues a segment. Resolves when its ring has ended (or its kept payloads are taken) and the sink has all
   * of it, except a last frame that is filled by the next segment, the end, or a pause of the input. Rejects
   * with the error of its ring, ABORTED or ENCODER_FAILED. The opener of the ring closes it after that.
   */
  segment(source: SegmentSource): Promise<SegmentEncoded> {
    const refusal = this.#refusal();
    if (refusal !== undefined) return Promise.reject(refusal);
    const index = this.#segments++;
    const encoded = new Promise<SegmentEncoded>((resolve, reject) => {
      this.#waiting.set(index, { source, resolve, reject });
    });
    encoded.catch(() => undefined); // an abort need not be awaited
    this.#port.post({ type: 'segment', session: this.number, index, source });
    return encoded;
  }

  /**
   * Sets the end of a segment that shares its ring, in samples of the ring. `index` is the segment's number
   * in the session. Ignored once the segment is encoded.
   */
  cut(index: number, endAt: number): void {
    if (!this.#over && this.#waiting.has(index)) {
      this.#port.post({ type: 'cut', session: this.number, index, endAt });
    }
  }

  /**
   * Pauses the input: no segment follows for now. The last samples of the queued segments are handed over,
   * and an empty playout counts as no underrun. The next segment ends the pause.
   */
  pauseInput(): void {
    if (!this.#over && this.#ended === undefined) {
      this.#port.post({ type: 'rest', session: this.number });
    }
  }

  /** Ends the session: no segment follows. Resolves when the sink has everything. */
  end(): Promise<void> {
    this.#ended ??= this.#end();
    return this.#ended;
  }

  /** Drops the session and the rings of segments that are not encoded yet. Idempotent. */
  abort(): void {
    if (this.#over) return;
    this.#port.post({ type: 'abort', session: this.number });
    this.#finish(new ParleyError('ABORTED', 'the encoder session was aborted'));
  }

  /** Takes a message of the worker about this session; called by the pool. */
  onMessage(message: EncoderMessage): void {
    if (this.#over) return;
    switch (message.type) {
      case 'started': {
        const { index, firstFrame, trimmedStartMs, queuedAtMs } = message.segment;
        this.onSegmentStarted?.(index, firstFrame, trimmedStartMs, queuedAtMs);
        return;
      }
      case 'pause':
        this.onSegmentPause?.(message.pause);
        return;
      case 'encoded':
        this.#take(message.segment.index)?.resolve(message.segment);
        return;
      case 'kept':
        // Payloads that were made before a change are not those of the present settings.
        if (message.tunings === this.#tunings) this.onSegmentKept?.(message.index, message.kept);
        return;
      case 'failed':
        this.#take(message.index)?.reject(new ParleyError(message.code, message.message));
        return;
      case 'padded':
        return;
      case 'ended':
        this.workMs = message.workMs;
        this.fileHeader = message.header;
        return this.#finish(undefined);
      case 'lost':
        return this.lost(new ParleyError(message.code, message.message));
    }
  }

  /**
   * The worker is gone, or gave the session up; called by the pool. A session that is over only ends its byte
   * ring.
   */
  lost(error: ParleyError): void {
    if (this.#over) return this.#endByteRing();
    this.#finish(error);
    this.#endByteRing();
  }

  /** Ends the byte ring with the failure, in case the worker could not. */
  #endByteRing(): void {
    if (this.#sink.kind !== 'bytes' || this.#failure === undefined) return;
    ByteRing.attach(this.#sink.ring).end(this.#failure.code);
  }

  #refusal(): ParleyError | undefined {
    if (this.#failure !== undefined) return this.#failure;
    if (this.#ended !== undefined)
      return new ParleyError('WRONG_STATE', 'the input of the encoder session has ended');
    if (this.#waiting.size < MAX_SEGMENTS) return undefined;
    return new ParleyError('QUEUE_FULL', `${MAX_SEGMENTS} segments wait in this encoder session already`);
  }

  #end(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const ended = new Promise<void>((resolve, reject) => (this.#settleEnd = { resolve, reject }));
    ended.catch(() => undefined);
    this.#port.post({ type: 'end', session: this.number });
    return ended;
  }

  #take(index: number): Waiting | undefined {
    const waiting = this.#waiting.get(index);
    this.#waiting.delete(index);
    return waiting;
  }

  #finish(error: ParleyError | undefined): void {
    this.#over = true;
    this.#failure = error;
    for (const { source, reject } of this.#waiting.values()) {
      // The worker may be dead, and the engine must not wait for a reader that never comes.
      if ('ring' in source) PcmRing.attach(source.ring, source.rate).abort();
      reject(error ?? new ParleyError('ABORTED', 'the encoder session ended without the segment'));
    }
    this.#waiting.clear();
    if (error === undefined) this.#settleEnd?.resolve();
    else this.#settleEnd?.reject(error);
    this.#port.over();
  }
}

/**
 * Moves the unsent payloads of a playout to the one that replaced it. The worker does the work
 * (handover-queue.ts).
 */
export class Handover {
  readonly number: number;
  /** Resolves when the new playout has everything. Rejects with ENCODER_FAILED, or ABORTED. */
  readonly done: Promise<void>;
  /** Called when frame number `frames` of a track in the new playout ends with `padMs` of added silence. */
  onPadded: ((track: number, frames: number, padMs: number) => void) | undefined;
  readonly #port: WorkerPort;
  #over = false;
  #settle!: { resolve: () => void; reject: (error: ParleyError) => void };

  /** Made by the pool only. */
  constructor(number: number, port: WorkerPort) {
    this.number = number;
    this.#port = port;
    this.done = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    this.done.catch(() => undefined); // an interrupting caller need not await it
  }

  /** Drops the payloads that were not handed over. Idempotent. */
  abort(): void {
    if (this.#over) return;
    this.#port.post({ type: 'abort', session: this.number });
    this.lost(new ParleyError('ABORTED', 'the queue was cleared on its way into another playout'));
  }

  /** Takes a message of the worker about this handover; called by the pool. */
  onMessage(message: EncoderMessage): void {
    switch (message.type) {
      case 'padded':
        return this.onPadded?.(message.track, message.frames, message.padMs);
      case 'ended':
        this.#settle.resolve();
        return this.#finish();
      case 'lost':
        return this.lost(new ParleyError(message.code, message.message));
      default:
    }
  }

  /** The worker is gone; called by the pool. */
  lost(error: ParleyError): void {
    this.#settle.reject(error);
    this.#finish();
  }

  #finish(): void {
    this.#over = true;
    this.#port.over();
  }
}
