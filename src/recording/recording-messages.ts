// The messages between the main thread and the recording worker. Sound is not among them: the worker reads it
// from native rings by their handles.
import type { ErrorCode } from '../errors.js';
import type { RecordingChannels } from './recording-form.js';
import type { RecordingFormat } from './recording-name.js';

/** Why a recording is over. The last two leave an incomplete file. */
export type RecordingEnd = 'stopped' | 'call-ended' | 'too-long' | 'too-large' | 'disk-full' | 'failed';

/** The ends that the main thread decides. */
export type StopReason = Extract<RecordingEnd, 'stopped' | 'call-ended' | 'too-large'>;

export interface RecordingOrder {
  /** Path of the finished file. */
  readonly path: string;
  readonly format: RecordingFormat;
  /** Handle of a ring of interleaved frames: caller, this server; or of the caller alone. */
  readonly ring: number;
  readonly channels: RecordingChannels;
  readonly maxFrames: number;
  /** Identifies the stream of an Ogg file. */
  readonly serial: number;
}

/** The part of a WAV that its file keeps at the end, in milliseconds from the beginning of its sound. */
export interface KeptSound {
  readonly beginMs: number;
  /** Absent: to the end. */
  readonly endMs?: number;
}

export type ToRecorder =
  | ({ readonly type: 'open'; readonly id: number } & RecordingOrder)
  /** From `atMs` of the monotonic clock on, silence is written instead of the sound, or the sound again. */
  | { readonly type: 'mute'; readonly id: number; readonly muted: boolean; readonly atMs: number }
  /** The sound continues in another ring. */
  | { readonly type: 'follow'; readonly id: number; readonly ring: number }
  | { readonly type: 'stop'; readonly id: number; readonly end: StopReason; readonly kept?: KeptSound }
  /** Ends every recording, then the worker. */
  | { readonly type: 'close' };

export interface RecordingResult {
  readonly end: RecordingEnd;
  readonly frames: number;
  readonly bytes: number;
  /** Set for `disk-full` and `failed`. */
  readonly error?: { readonly code: ErrorCode; readonly message: string };
}

/** The size of a recording in progress. */
export interface RecordingSize {
  readonly id: number;
  readonly frames: number;
  readonly bytes: number;
}

export type FromRecorder =
  | { readonly type: 'opened'; readonly id: number }
  | { readonly type: 'grown'; readonly sizes: readonly RecordingSize[] }
  /** The ring ended because it was not read in time. Its rest was read; another ring is to follow. */
  | { readonly type: 'starved'; readonly id: number }
  /** Silence was written in the place of sound that no ring has. */
  | { readonly type: 'filled'; readonly id: number; readonly ms: number }
  | { readonly type: 'ended'; readonly id: number; readonly result: RecordingResult };
