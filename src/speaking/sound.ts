// Describes renderings: the bytes of a container, whole or streaming, with the places of their sentences.
import type { WordTime } from '../engines/engine.js';

/** The place of a sentence in the sound that a listener hears, in milliseconds. */
export interface SentencePlace {
  /** The sentence as it was written. */
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  /** Their times count from the beginning of the whole sound. Empty if the engine reports none. */
  readonly words: readonly WordTime[];
  /** The words that were spoken for it, if they differ, and their times. */
  readonly spoken?: { readonly text: string; readonly words: readonly WordTime[] };
}

/** Milliseconds of work, summed over the sentences. These overlap, so a sum may exceed the total time. */
export interface SoundTiming {
  /** Time in the queue of the engine. */
  readonly queueMs: number;
  /** Time until the engine was loaded. */
  readonly loadMs: number;
  readonly inferMs: number;
  readonly encodeMs: number;
}

export interface SoundOutcome {
  readonly durationMs: number;
  readonly sentences: readonly SentencePlace[];
  readonly timing: SoundTiming;
  /**
   * The first bytes of the whole file, which replace the first `replaced` bytes of the stream. Absent if both
   * begin alike.
   */
  readonly header?: { readonly replaced: number; readonly bytes: Uint8Array } | undefined;
}

/** Iterate it once; the work stops when the loop ends or with `cancel`. */
export interface SoundSource extends AsyncIterable<Uint8Array> {
  readonly contentType: string;
  /** Resolves, never rejects, at the end of the bytes; undefined if they broke off. */
  readonly outcome: Promise<SoundOutcome | undefined>;
  /** `hit` if it was rendered before; absent if the cache was not asked. */
  readonly cache?: 'hit' | 'miss' | undefined;
  /** The sentences whose place is known so far, in order; absent if places are known only at the end. */
  placed?(): readonly SentencePlace[];
  cancel(): void;
}

export interface Sound {
  readonly contentType: string;
  readonly bytes: Uint8Array;
  readonly outcome: SoundOutcome;
}

/** Timing of a rendering that was stored: it took no work. */
export const NO_TIME: SoundTiming = { queueMs: 0, loadMs: 0, inferMs: 0, encodeMs: 0 };
