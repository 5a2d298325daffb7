// What the main thread and an engine's worker thread say to one another. The
// sound itself goes from the worker into the native ring.
import type { SpeechOptions, WordTime } from './engine.js';

export interface SpeakJob {
  readonly id: number;
  readonly text: string;
  readonly voice: string;
  /** BCP 47 primary tag. */
  readonly language: string;
  /** The ring that takes the sound, and its rate in Hz. */
  readonly ring: number;
  readonly rate: number;
  readonly options?: SpeechOptions;
}

export type ToEngine = { readonly type: 'speak'; readonly job: SpeakJob } | { readonly type: 'close' };

/** A job ends with exactly one of `written`, `dropped` and `failed`. */
export type FromEngine =
  | { readonly type: 'loaded' }
  /** The sound waits for room in its ring, and the engine is free for the next job. */
  | {
      readonly type: 'rendered';
      readonly id: number;
      readonly samples: number;
      readonly words: readonly WordTime[];
    }
  | {
      readonly type: 'written';
      readonly id: number;
      readonly samples: number;
      readonly words: readonly WordTime[];
    }
  /** The reader aborted the ring. */
  | { readonly type: 'dropped'; readonly id: number }
  | { readonly type: 'failed'; readonly id: number; readonly message: string };
