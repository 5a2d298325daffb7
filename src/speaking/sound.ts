// A rendering: the bytes of a container, whole or on their way, and what is
// known of them once they are made.
import type { WordTime } from '../engines/engine.js';

/** Where a sentence lies in the sound that a listener hears, in milliseconds. */
export interface SentencePlace {
  /** As it was written. */
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  /** Their times count from the beginning of the whole sound. Empty where the engine tells none. */
  readonly words: readonly WordTime[];
  /** The words that were said for it, where they differ, and their times. */
  readonly spoken?: { readonly text: string; readonly words: readonly WordTime[] };
}

/** What making it took, in milliseconds, summed over its sentences; they overlap, so the sum may exceed the total. */
export interface SoundTiming {
  /** Waiting for the engine's attention. */
  readonly queueMs: number;
  /** Waiting for the engine to be loaded. */
  readonly loadMs: number;
  readonly inferMs: number;
  readonly encodeMs: number;
}

export interface SoundOutcome {
  readonly durationMs: number;
  readonly sentences: readonly SentencePlace[];
  readonly timing: SoundTiming;
  /** The beginning of the whole file: it takes the place of the first `replaced` bytes of the stream. Absent where both begin alike. */
  readonly header?: { readonly replaced: number; readonly bytes: Uint8Array };
}

/** Iterate once; leaving the loop or `cancel` stops the work. */
export interface SoundSource extends AsyncIterable<Uint8Array> {
  readonly contentType: string;
  /** Resolves, never rejects, at the end of the bytes; undefined where they broke off. */
  readonly outcome: Promise<SoundOutcome | undefined>;
  /** The sentences whose place is known so far, in order; absent where that is known at the end only. */
  placed?(): readonly SentencePlace[];
  cancel(): void;
}

export interface Sound {
  readonly contentType: string;
  readonly bytes: Uint8Array;
  readonly outcome: SoundOutcome;
}

/** Of what was made before: it took nothing. */
export const NO_TIME: SoundTiming = { queueMs: 0, loadMs: 0, inferMs: 0, encodeMs: 0 };
