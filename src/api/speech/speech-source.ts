// The contracts that the HTTP routes need: a speech service, and voices that clients make.
import type { EngineCapabilities, Voice, VoiceReference } from '../../engines/engine.js';
import type { VoiceRequest } from '../../engines/routing.js';
import type { Speaker, SpeakerRequest } from '../../speaking/cached-speech.js';
import type { Sound, SoundSource } from '../../speaking/sound.js';
import type { SpeechRequest } from '../../speaking/speech-request.js';
import type { VoiceSample } from '../../voices/references.js';
import type { NewVoice, StoredVoice } from '../../voices/voice-store.js';

/** The capabilities of the engine that would speak. */
export interface EngineAbilities extends Pick<
  EngineCapabilities,
  'clone' | 'design' | 'instruct' | 'sampling' | 'hints'
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
   * The engine's voice and the primary tag of the language that speak. The voice is undefined if it was made
   * of a sample or a description. Throws what can be known of a voice and language.
   */
  readonly spokenBy?: ((request: SpeakerRequest) => Speaker) | undefined;
  /**
   * Rejects with CAPABILITY_MISSING if no engine can use one, AUDIO_INVALID and whatever else is wrong with
   * it.
   */
  reference(sample: VoiceSample, signal: AbortSignal): Promise<VoiceReference>;
  /** Forgets every rendering and answers how many there were. */
  clear(): number;
  voices(): Promise<readonly Voice[]>;
}

/** A voice that was made over HTTP. */
export type MadeVoice = Omit<StoredVoice, 'content'>;

export interface VoiceSource {
  list(): readonly MadeVoice[];
  find(idOrName: string): MadeVoice | undefined;
  /**
   * Rejects with CAPABILITY_MISSING where no engine can speak with such a voice, EXISTS, VOICE_LIMIT, and
   * whatever is wrong with the sample.
   */
  make(voice: NewVoice, sample: Uint8Array | undefined, signal: AbortSignal): Promise<MadeVoice>;
  /** False when there is no such voice. */
  remove(idOrName: string): Promise<boolean>;
  /** Throws CAPABILITY_MISSING where no engine can speak with a sample. */
  checkAble(kind: 'sample' | 'prompt', language: string | undefined, field: string): void;
}

/** As OpenAI answers it, and what else is known. */
export function voiceAnswer({ id, name, createdAt, kind, ...rest }: MadeVoice) {
  const { language, description, consent, text: ref_text, prompt } = rest;
  const details = { language, description, consent, ref_text, prompt };
  return { object: 'audio.voice', id, name, created_at: createdAt, type: kind, ...details };
}
