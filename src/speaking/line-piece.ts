// What a line is given to make sound of, one after another.
import type { PcmRing } from '../audio/pcm-ring.js';
import type { SpeechEnd, SpeechRequest } from '../engines/engine.js';
import type { ResolvedVoice } from '../engines/routing.js';
import type { Normalized } from '../text/normalize/spoken-text.js';
import type { RunPart } from './sentence-run.js';

/** What is asked of a piece besides its words. */
export interface Delivery {
  /** Times the voice's own pace, at its pitch. */
  readonly speed?: number;
  /** Times its loudness. */
  readonly gain?: number;
  /** Milliseconds of silence before it, instead of the usual pause. */
  readonly pauseBeforeMs?: number;
  /** Told when it begins to be heard. */
  readonly marksBefore?: readonly string[];
  /** Told when it was heard. */
  readonly marksAfter?: readonly string[];
}

/** A sentence as it was written, which is what is told of it, and the words for it. */
export interface WrittenSentence {
  readonly text: string;
  /** Absent where it is spoken as it is written. */
  readonly spoken?: Normalized | undefined;
  readonly delivery?: Delivery | undefined;
}

export interface SpokenSentence extends WrittenSentence {
  readonly voice: ResolvedVoice;
}

/** Sound that is not made of a text. */
export interface SoundPiece {
  /** Hz. */
  readonly sampleRate: number;
  /** Writes all of it, in order; as SpeechEngine.synthesize keeps the ring. */
  write(out: PcmRing, signal: AbortSignal, onRendered: SpeechRequest['onRendered']): Promise<SpeechEnd>;
  readonly delivery?: Delivery | undefined;
}

/** A part of a run is a sentence that one generation speaks together with others. */
export type LinePiece = SpokenSentence | SoundPiece | RunPart;

export type LinePieces = AsyncIterable<LinePiece> | Iterable<LinePiece>;

/** What an engine is given of it. */
export function wordsOf({ text, spoken }: WrittenSentence): string {
  return spoken?.text ?? text;
}
