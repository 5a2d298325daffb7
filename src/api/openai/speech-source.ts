// The part of the speech service that the HTTP routes use.
import type { EngineCapabilities, Voice, VoiceReference } from '../../engines/engine.js';
import type { VoiceRequest } from '../../engines/routing.js';
import type { Speaker, SpeakerRequest } from '../../speaking/cached-speech.js';
import type { Sound, SoundSource } from '../../speaking/sound.js';
import type { SpeechRequest } from '../../speaking/speech-request.js';
import type { VoiceSample } from '../../voices/references.js';

/** The capabilities of the engine that would speak. */
export interface EngineAbilities extends Pick<
  EngineCapabilities,
  'clone' | 'design' | 'instruct' | 'sampling'
> {
  readonly engine: string;
}

export interface SpeechSource {
  /** A rendering that is there already. Throws what can be known of a voice and language. */
  find(request: SpeechRequest): Sound | undefined;
  /** Rejects with what can be known before the first byte. */
  openStream(request: SpeechRequest, signal: AbortSignal): Promise<SoundSource>;
  /** Throws what can be known of a voice and language. */
  abilities(request: VoiceRequest): EngineAbilities;
  /**
   * The engine's voice and the primary tag of the language that speak. The voice is undefined if it was made of a
   * sample or a description. Throws what can be known of a voice and language.
   */
  readonly spokenBy?: ((request: SpeakerRequest) => Speaker) | undefined;
  /** Rejects with CAPABILITY_MISSING if no engine can use one, AUDIO_INVALID and whatever else is wrong with it. */
  reference(sample: VoiceSample, signal: AbortSignal): Promise<VoiceReference>;
  /** Forgets every rendering and answers how many there were. */
  clear(): number;
  voices(): Promise<readonly Voice[]>;
}
