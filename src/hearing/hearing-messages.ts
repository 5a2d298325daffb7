// The events of a call's ears, and the messages between the main thread and the hearing worker. They never
// contain sound.
import type { BargeInEvent, InterruptibleTrack } from './barge-in.js';
import type { HearingSettings, TurnModelFile } from '../config/hearing-config.js';
import type { SpeechChange } from './speech-detector.js';
import type { TurnEvent, TurnHint } from './turn-detector.js';

/** All times are of the monotonic clock, or of the sound for a ring. */
export type HearingEvent =
  /** The onset of speech; it lies before the decision. */
  | { readonly type: 'speech.started'; readonly atMs: number }
  | { readonly type: 'speech.stopped'; readonly atMs: number; readonly durationMs: number }
  | TurnEvent
  | BargeInEvent;

export function speechEvent(change: SpeechChange): HearingEvent {
  if (change.type === 'started') return { type: 'speech.started', atMs: change.atMs };
  return { type: 'speech.stopped', atMs: change.atMs, durationMs: change.durationMs };
}

/**
 * What will be known of the caller's words: nothing; texts of a turn that is not over, and its final text; or
 * also the whole text of each pause.
 */
export type ExpectedWords = 'none' | 'texts' | 'texts of pauses';

/** What the words of the present turn say. */
export interface HeardWords {
  readonly hint: TurnHint;
  /** Beginning of the pause whose whole text this is; undefined: more may have been said. */
  readonly pauseMs?: number;
  /** The words interrupt no voice. */
  readonly isNoInterruption: boolean;
  /** BCP 47 tag; undefined: the recogniser does not tell it. */
  readonly language?: string;
}

/** Handles of a call's socket and playout. */
export interface MediaHandles {
  readonly socket: number;
  readonly playout: number;
}

export type ToHearingWorker =
  | (StreamMessage<'listen'> & { readonly media: MediaHandles; readonly settings: HearingSettings })
  /** The sound of a ring, without a call. */
  | (StreamMessage<'listen-ring'> & {
      readonly ring: number;
      /** Hz; absent: 16,000. */
      readonly rate?: number;
      readonly settings: HearingSettings;
    })
  | (StreamMessage<'follow'> & { readonly media: MediaHandles })
  | (StreamMessage<'change'> & { readonly settings: HearingSettings })
  | (StreamMessage<'interruptible'> & { readonly tracks: readonly InterruptibleTrack[] })
  | (StreamMessage<'expect-words'> & { readonly expected: ExpectedWords })
  | (StreamMessage<'words'> & { readonly words: HeardWords })
  | (StreamMessage<'await'> & { readonly atMs: number })
  | (StreamMessage<'end-turn'> & { readonly atMs: number })
  | StreamMessage<'forget'>
  | { readonly type: 'close' };

interface StreamMessage<T extends string> {
  readonly type: T;
  readonly stream: number;
}

export interface AnalysedStream {
  readonly stream: number;
  /** Place in the sound. */
  readonly atMs: number;
  /** The ring has ended, and nothing more of it will be analysed. */
  readonly isOver: boolean;
}

export interface DetectorState {
  readonly detector: 'silero' | 'energy' | 'none';
  /** The reason for which a model is not used; absent if each that was asked for is. */
  readonly problem?: string;
  /** SHA-256 of the model file. */
  readonly sha256?: string;
  /** End-of-turn models that are used; absent without one. */
  readonly turnModels?: readonly string[];
}

export type FromHearingWorker =
  | { readonly type: 'ready'; readonly state: DetectorState }
  /**
   * The reason for which the end-of-turn model gave no answer; undefined: it answers again.
   * `turnModels`: those that are still used; undefined while they are loaded.
   */
  | {
      readonly type: 'end-of-turn';
      readonly problem: string | undefined;
      readonly turnModels: readonly string[] | undefined;
    }
  | {
      readonly type: 'event';
      readonly stream: number;
      readonly event: HearingEvent;
      /** End of the window that decided. */
      readonly decidedMs: number;
    }
  /** The sound of these streams' rings was analysed so far; their events came before. */
  | { readonly type: 'analysed'; readonly streams: readonly AnalysedStream[] }
  /** Nothing follows for this stream. */
  | { readonly type: 'forgotten'; readonly stream: number }
  /** A defect in the work of this stream has ended it: nothing follows. */
  | { readonly type: 'failed'; readonly stream: number; readonly message: string };

/** Places of the shared counters, which wrap around at 2^32. */
export const HEARING_COUNTERS = { workedUs: 0, windows: 1, gated: 2, runs: 3 } as const;
export const HEARING_COUNTER_BYTES = 16;

/** The main thread gives this to a worker at its start. */
export interface HearingWorkerData {
  /** Handle of the ears, which the main thread closes. */
  readonly ears: number;
  readonly vadModel: string | undefined;
  readonly endOfTurnModule: string | undefined;
  /** Models that follow turns, preferred ones first. */
  readonly turnModels: readonly TurnModelFile[];
  readonly counters: Int32Array;
}
