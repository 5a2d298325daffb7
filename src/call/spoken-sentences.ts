// A text, whole or in tokens, as sentences that sound: each is a rendering of
// its own, made while the one before it is being sent.
import type { SpeechOptions } from '../speech/engine.js';
import type { SoundSource } from '../speech/sound.js';
import type { AudioFormat } from './audio-format.js';

/** How a text is to be spoken. */
export interface SpeakingManner {
  readonly voice?: string;
  readonly language?: string;
  readonly container: AudioFormat['container'];
  /** Hz. */
  readonly sampleRate: number;
  readonly speed?: number;
  readonly options?: SpeechOptions;
  readonly trimSilence?: boolean;
  /** Silence before the first sentence, in milliseconds: the pause after what an earlier text said. */
  readonly leadMs?: number;
  /** Who shares the engine fairly with others. */
  readonly client: string;
  /** False neither looks in the cache nor leaves anything there. */
  readonly cache?: boolean;
}

export interface SpokenSentenceSound {
  /** From 0. */
  readonly index: number;
  readonly text: string;
  /** Its bytes: a whole container of its own, begun with the pause after the sentence before. */
  readonly sound: SoundSource;
}

/** What dialects are given to speak with. */
export interface SentenceSpeaker {
  /**
   * The sentences of a text in order, each as soon as its sound has begun. Throws what the text, its voice or its
   * engine is refused with, TIMEOUT when tokens stop coming, ABORTED with the signal. Leaving the loop stops the work.
   */
  speak(
    text: string | AsyncIterable<string>,
    manner: SpeakingManner,
    signal: AbortSignal,
  ): AsyncIterable<SpokenSentenceSound>;
}
