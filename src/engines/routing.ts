// From a wish (a voice, a language, both or neither) to an engine that can meet it.
import type { SpeechEngine, Voice, VoiceReference } from './engine.js';

export interface VoiceWish {
  readonly voice?: string;
  /** BCP 47 tag. */
  readonly language?: string;
  /** A voice that comes with the request: only an engine that can clone or design it is meant. */
  readonly reference?: VoiceReference;
}

export interface ResolvedVoice {
  readonly engine: SpeechEngine;
  /** Empty where the engine has none of its own and speaks with the reference. */
  readonly voice: string;
  readonly language: string;
  readonly reference?: VoiceReference;
  /** It stands in for the voice of OpenAI or Qwen that the wish names. */
  readonly standsIn?: true;
}

export type ReferenceKind = VoiceReference['kind'];

/** A voice made over HTTP, which any engine that can speaks with. */
export interface CustomVoice {
  readonly id: string;
  readonly name: string;
  /** BCP 47 tag that it speaks where a wish names none. */
  readonly language?: string;
  readonly description: string;
  readonly reference: VoiceReference;
}

/** Those that there are at the moment. */
export interface CustomVoices {
  /** By id or name. */
  named(idOrName: string): CustomVoice | undefined;
  customVoices(): readonly CustomVoice[];
}

/** What engines can do with voices that are none of their own. */
export interface VoiceAbilities {
  /** Throws CAPABILITY_MISSING where no engine speaks with such a voice, LANGUAGE_UNAVAILABLE where none of them speaks this. */
  checkAble(kind: ReferenceKind, language: string | undefined, field: string): void;
  /** A voice of an engine, or of OpenAI, bears this name. */
  isNamed(name: string): boolean;
}

export interface SpeechRouting {
  /** Throws VOICE_UNKNOWN, LANGUAGE_UNAVAILABLE or CAPABILITY_MISSING, naming what would help. */
  resolve(wish: VoiceWish): ResolvedVoice;
  voices(): Promise<readonly Voice[]>;
}
