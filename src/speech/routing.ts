// From a wish (a voice, a language, both or neither) to an engine that can meet it.
import type { SpeechEngine, Voice } from './engine.js';

export interface VoiceWish {
  readonly voice?: string;
  /** BCP 47 tag. */
  readonly language?: string;
}

export interface ResolvedVoice {
  readonly engine: SpeechEngine;
  readonly voice: string;
  readonly language: string;
}

export interface SpeechRouting {
  /** Throws VOICE_UNKNOWN or LANGUAGE_UNAVAILABLE, naming what would help. */
  resolve(wish: VoiceWish): ResolvedVoice;
  voices(): Promise<readonly Voice[]>;
}
