// What a line is given to make sound of, one after another.
import type { PcmRing } from '../audio/pcm-ring.js';
import type { SpeechEnd } from '../speech/engine.js';
import type { ResolvedVoice } from '../speech/routing.js';
import type { RunPart } from './sentence-run.js';

export interface SpokenSentence {
  readonly text: string;
  readonly voice: ResolvedVoice;
}

/** Sound that is not made of a text. */
export interface SoundPiece {
  /** Hz. */
  readonly sampleRate: number;
  /** Writes all of it, in order; as SpeechEngine.synthesize keeps the ring. */
  write(out: PcmRing, signal: AbortSignal): Promise<SpeechEnd>;
}

/** A part of a run is a sentence that one generation speaks together with others. */
export type LinePiece = SpokenSentence | SoundPiece | RunPart;

export type LinePieces = AsyncIterable<LinePiece> | Iterable<LinePiece>;
