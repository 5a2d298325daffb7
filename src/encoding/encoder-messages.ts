// The messages between the encoder pool and its workers. They never contain sound: it travels through native
// rings and playouts, which messages name by handle.
//
// The batch sends the messages of one turn of the event loop as one list, because a message costs more than
// its contents and a call has several at once.
import type { TrimOptions } from '../audio/trimmer.js';
import type { CodecName } from '../codecs/codec.js';
import type { ContainerName, FileHeader } from '../codecs/container.js';
import type { OpusSettings, OpusTuning } from '../codecs/opus.js';
import type { ErrorCode } from '../errors.js';
import type { KeptFrames } from './kept-frames.js';

/** Sound that is still to be encoded, or was encoded before: the latter for a playout only. */
export type SegmentSource = SoundSegment | KeptSegment;

interface SegmentPlace {
  /**
   * Silence between the sound before and this one; before the first sound of a session only that of its first
   * segment.
   */
  readonly pauseBeforeMs?: number;
}

interface SoundSegment extends SegmentPlace {
  /** A PcmRing; its opener closes it, once the segment is encoded or has failed. */
  readonly ring: number;
  /** Hz of the ring's samples. */
  readonly rate: number;
  /** Its payloads are to be kept: it shares no frame with its neighbours. For a playout only. */
  readonly keep?: boolean;
  /** The ring holds more than this segment. */
  readonly part?: RingPart;
  /**
   * Times the speed at which it was spoken, at its pitch; the session's own speed comes on top, within 0.25
   * to 4.
   */
  readonly speed?: number | undefined;
  /** Times its loudness. */
  readonly gain?: number | undefined;
  /** Its pauses are reported while it is encoded. */
  readonly reportPauses?: boolean;
}

/**
 * Consecutive segments of one ring, in one session or in several. The next is read when the one before is
 * encoded.
 */
export interface RingPart {
  /**
   * True for the first part. Leading silence is cut from the first part only, trailing silence from the last.
   */
  readonly first: boolean;
  /**
   * First sample of the next part, counted in the ring. If absent, it is unknown or the end of the ring; a
   * CutMessage may set it later.
   */
  readonly endAt?: number | undefined;
}

/** Sets or corrects the end of a part. Samples already read beyond it stay in the part. */
interface CutMessage {
  readonly type: 'cut';
  readonly session: number;
  readonly index: number;
  readonly endAt: number;
}

interface KeptSegment extends SegmentPlace {
  readonly kept: KeptFrames;
  /**
   * The payloads are decoded, encoded with the settings of the session, and kept again. For Opus only.
   * Absent: they are sent as they are.
   */
  readonly reencode?: true;
}

export interface SegmentEncoded {
  readonly index: number;
  /** The frame of the track that holds the segment's first sample. */
  readonly firstFrame: number;
  /** From that frame to the one with its last sample; neighbours may share a frame. 0 if nothing sounded. */
  readonly frames: number;
  /** Samples read from the ring, silence and all. */
  readonly samplesIn: number;
  /** Silence cut before the sound: what lies at `t` in the ring is heard at `t - trimmedStartMs`. */
  readonly trimmedStartMs: number;
  /** From the session's first sample to the segment's first, and to the one after its last. */
  readonly startMs: number;
  readonly endMs: number;
}

/** Codec and frame length of payloads. */
export interface PayloadForm {
  readonly codec: CodecName;
  readonly frameMs: number;
}

export type EncoderSink =
  | (PayloadForm & {
      readonly kind: 'playout';
      /**
       * Handle of the playout, and its generation at the time: after a clear the session ends with ABORTED.
       */
      readonly playout: number;
      readonly generation: number;
      readonly track: number;
      /** True if the session survives the loss of its playout: it waits for a handover, or for an abort. */
      readonly movable?: boolean;
    })
  /** The payloads go to `onSegmentKept` only. */
  | (PayloadForm & { readonly kind: 'kept' })
  /** A ByteRing of a container's bytes. The session ends it, with an error code after a failure. */
  | {
      readonly kind: 'bytes';
      readonly ring: number;
      readonly container: ContainerName;
      /** Hz; one that the container has. */
      readonly rate: number;
      /** 0.25 to 4 times the speed of the segments, at their pitch; 1 if absent. */
      readonly speed?: number;
    };

export interface EncoderSettings {
  readonly opus: OpusSettings;
  readonly trim: TrimOptions;
}

/** Another playout replaced one: queued payloads, and those that follow, are transcoded for it. */
export interface HandoverMessage {
  readonly type: 'handover';
  /** Number of the handover, from the same count as the sessions. */
  readonly session: number;
  /** Sessions or handovers whose payloads may follow; the worker uses the first that still exists, if any. */
  readonly after: readonly number[];
  readonly from: PayloadForm;
  readonly to: PayloadForm & { readonly playout: number; readonly generation: number };
  /** Format: see TakenEntries. */
  readonly entries: Uint8Array;
  readonly settings: EncoderSettings;
}

export type ToWorker =
  | HandoverMessage
  | {
      readonly type: 'open';
      readonly session: number;
      readonly sink: EncoderSink;
      readonly settings: EncoderSettings;
    }
  | EncoderCommand
  | { readonly type: 'close' };

/** Messages about an open session. */
export type EncoderCommand =
  | CutMessage
  | {
      readonly type: 'segment';
      readonly session: number;
      readonly index: number;
      readonly source: SegmentSource;
    }
  /** Changes the encoder from the next frame on. */
  | { readonly type: 'tune'; readonly session: number; readonly tuning: OpusTuning }
  | { readonly type: 'rest'; readonly session: number }
  | { readonly type: 'end'; readonly session: number }
  | { readonly type: 'abort'; readonly session: number };

export interface SegmentStarted {
  readonly index: number;
  readonly firstFrame: number;
  readonly trimmedStartMs: number;
  /** Time at which the sink took the segment's first frame, in milliseconds of the monotonic clock. */
  readonly queuedAtMs: number;
}

/** A silence within the sound of a segment, or at its beginning or end. */
export interface SegmentPause {
  readonly index: number;
  /** Milliseconds from the segment's first sample that is heard, at the speed at which it was spoken. */
  readonly startMs: number;
  readonly endMs: number;
}

/** About one session. After `ended` or `lost` nothing more is said of it. */
export type EncoderMessage =
  | { readonly type: 'started'; readonly session: number; readonly segment: SegmentStarted }
  /** All pauses of a segment are reported before it is encoded. */
  | { readonly type: 'pause'; readonly session: number; readonly pause: SegmentPause }
  | { readonly type: 'encoded'; readonly session: number; readonly segment: SegmentEncoded }
  /** `tunings`: how many times the session had been tuned when the segment was encoded. */
  | {
      readonly type: 'kept';
      readonly session: number;
      readonly index: number;
      readonly kept: KeptFrames;
      readonly tunings: number;
    }
  | {
      readonly type: 'failed';
      readonly session: number;
      readonly index: number;
      readonly code: ErrorCode;
      readonly message: string;
    }
  | {
      readonly type: 'ended';
      readonly session: number;
      /** Milliseconds of the worker's time that the session took. */
      readonly workMs: number;
      /** File header that replaces the streamed one, if they differ. Containers only. */
      readonly header?: FileHeader | undefined;
    }
  /**
   * Padding of a handover: of the track's first `frames` frames in the new playout, the last ends with
   * silence.
   */
  | {
      readonly type: 'padded';
      readonly session: number;
      readonly track: number;
      readonly frames: number;
      readonly padMs: number;
    }
  | { readonly type: 'lost'; readonly session: number; readonly code: ErrorCode; readonly message: string };

export type FromWorker = { readonly type: 'ready' } | EncoderMessage;

/**
 * Gathers the messages of one turn of the event loop and of the microtasks after it into one list, in order.
 */
export class MessageBatch<T> {
  readonly #post: (messages: readonly T[]) => void;
  #messages: T[] = [];

  constructor(post: (messages: readonly T[]) => void) {
    this.#post = post;
  }

  add(message: T): void {
    // A tick that is asked for in a microtask comes after all of them.
    if (this.#messages.push(message) === 1) process.nextTick(() => this.flush());
  }

  /** Sends the waiting messages now. */
  flush(): void {
    const messages = this.#messages;
    this.#messages = [];
    if (messages.length > 0) this.#post(messages);
  }

  /** Discards the waiting messages: the receiver is gone. */
  drop(): void {
    this.#messages = [];
  }
}
