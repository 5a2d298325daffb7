// The speech service, as far as HTTP needs it.
import type { VoiceSample } from '../../speaking/cached-speech.js';
import type { SpeechStreamRequest } from '../../speaking/speech-stream.js';
import type { AudioOutcome, AudioStream } from './audio-replies.js';

/** What the lists tell of a voice. */
export interface ListedVoice {
  readonly name: string;
  readonly engine: string;
  readonly languages: readonly string[];
  readonly description: string;
  /** Of one that was made over HTTP: what else it is named by, and what it was made from. */
  readonly made?: { readonly id: string; readonly kind: 'sample' | 'prompt' };
}

export type SpeechOptions = NonNullable<SpeechStreamRequest['options']>;

/** A voice of the request's own, ready to be spoken with. */
export type VoiceReference = NonNullable<SpeechStreamRequest['reference']>;

export interface SpokenRequest {
  readonly text: string;
  readonly voice?: string;
  readonly language?: string;
  readonly container: SpeechStreamRequest['container'];
  /** Hz. */
  readonly sampleRate: number;
  readonly speed: number;
  readonly client?: string;
  readonly cache?: boolean;
  readonly options?: SpeechOptions;
  readonly reference?: VoiceReference;
  /** False: silence around sentences stays. */
  readonly trimSilence?: boolean;
  /** False: the engine is given the text as it is written. */
  readonly normalize?: boolean;
  /** The text is SSML. */
  readonly markup?: boolean;
  /** How words of the text are said. */
  readonly lexicon?: NonNullable<SpeechStreamRequest['lexicon']>;
}

/** What decides which engine speaks; the text does where no language is stated. */
export type VoiceChoice = Pick<SpokenRequest, 'voice' | 'language' | 'reference'> &
  Partial<Pick<SpokenRequest, 'text' | 'markup'>>;

/** What that engine can do. */
export interface EngineAbilities {
  readonly engine: string;
  readonly clone: boolean;
  readonly design: boolean;
  readonly instruct: boolean;
  readonly sampling: boolean;
}

/** A rendering that is there whole. */
export interface FoundSound {
  readonly contentType: string;
  readonly bytes: Uint8Array;
  readonly outcome: AudioOutcome;
}

export interface SpokenBy {
  readonly voice?: string;
  readonly language: string;
  /** The voice stands in for the one of OpenAI or Qwen that the request names. */
  readonly standsIn?: true;
}

export interface SpeechSource {
  /** A rendering that is there already. Throws what can be known of a voice and language. */
  find(request: SpokenRequest): FoundSound | undefined;
  /** Rejects with what can be known before the first byte. */
  openStream(request: SpokenRequest, signal: AbortSignal): Promise<AudioStream>;
  /** Throws what can be known of a voice and language. */
  abilities(choice: VoiceChoice): EngineAbilities;
  /**
   * The engine's voice and the primary tag of the language that speak. No voice where that was made of a sample or a
   * description. Throws what can be known of a voice and language.
   */
  readonly spokenBy?: ((choice: VoiceChoice) => SpokenBy) | undefined;
  /** Rejects with CAPABILITY_MISSING where no engine can use one, AUDIO_INVALID and whatever else is wrong with it. */
  reference(sample: VoiceSample, signal: AbortSignal): Promise<VoiceReference>;
  /** Forgets every rendering and answers how many there were. */
  clear(): number;
  voices(): Promise<readonly ListedVoice[]>;
}
