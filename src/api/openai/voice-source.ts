// Voices that are made over HTTP, as far as HTTP needs to know of them.
export type MadeVoiceKind = 'audio_sample' | 'prompt';

export interface NewVoice {
  readonly name: string;
  readonly kind: MadeVoiceKind;
  /** BCP 47 tag that it speaks where a request names none. */
  readonly language?: string;
  readonly description?: string;
  /** Whatever was noted about the speaker's agreement. */
  readonly consent?: string;
  /** What is said in the sample. */
  readonly text?: string;
  /** What it is made from, of a prompt. */
  readonly prompt?: string;
}

export interface MadeVoice extends NewVoice {
  readonly id: string;
  /** Unix seconds. */
  readonly createdAt: number;
}

export interface VoiceSource {
  list(): readonly MadeVoice[];
  find(idOrName: string): MadeVoice | undefined;
  /**
   * Rejects with CAPABILITY_MISSING where no engine can speak with such a voice, EXISTS, VOICE_LIMIT, and whatever is
   * wrong with the sample.
   */
  make(voice: NewVoice, sample: Uint8Array | undefined, signal: AbortSignal): Promise<MadeVoice>;
  /** False when there is no such voice. */
  remove(idOrName: string): Promise<boolean>;
  /** Throws CAPABILITY_MISSING where no engine can speak with a sample. */
  checkAble(kind: 'sample' | 'prompt', language: string | undefined, field: string): void;
}

/** As OpenAI answers it, and what else is known. */
export function voiceAnswer({ id, name, createdAt, kind, ...rest }: MadeVoice) {
  const { language, description, consent, text, prompt } = rest;
  return {
    object: 'audio.voice',
    id,
    name,
    created_at: createdAt,
    type: kind,
    ...(language === undefined ? {} : { language }),
    ...(description === undefined ? {} : { description }),
    ...(consent === undefined ? {} : { consent }),
    ...(text === undefined ? {} : { ref_text: text }),
    ...(prompt === undefined ? {} : { prompt }),
  };
}
