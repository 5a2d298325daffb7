// Facts about a request for speech, for its line in the log and for the metrics. The route creates a
// SpeechLog and attaches it to the request. The code that sends the audio completes it.
import type { SpeakerRequest } from '../../speaking/cached-speech.js';
import type { SpeechRequest } from '../../speaking/speech-request.js';
import type { SpeechSource } from './speech-source.js';
import type { SoundOutcome } from '../../speaking/sound.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set for requests that speak; null until their route has read the body. */
    speechLog: SpeechLog | null;
    /** When the request's head arrived, on the clock of `performance.now()`. */
    startedAtMs: number;
    /** Error code of a failure, before the first byte of the answer or after it. */
    failure: string | null;
  }
}

/**
 * Stands for every voice that was made of a sample or a description: the number of label values stays
 * bounded.
 */
const CUSTOM = 'custom';

export class SpeechLog {
  /** The caller's words: only under this name, which the log hides. */
  readonly text: string;
  /** As requests name it. */
  readonly format: string;
  voice: string | undefined;
  language: string | undefined;
  /** The engine's own voice and language, for the metrics; absent until they are known. */
  spoken: { readonly voice: string; readonly language: string } | undefined;
  /**
   * The voice that stands in for the one of OpenAI or Qwen that the request names; undefined where none does.
   */
  standIn: string | undefined;
  /** Set once it is known; absent where the cache was not asked. */
  cache: 'hit' | 'miss' | undefined;
  /** Set at the end of the sound. */
  timing: SoundOutcome['timing'] | undefined;

  constructor({ text, voice, language }: Pick<SpeechRequest, 'text' | 'voice' | 'language'>, format: string) {
    this.text = text;
    this.format = format;
    this.voice = voice;
    this.language = language;
  }

  /** Fills in what the request left to the server. Throws what can be known of a voice and language. */
  resolve(speech: Pick<SpeechSource, 'spokenBy'>, request: SpeakerRequest): void {
    const spoken = speech.spokenBy?.(request);
    if (spoken === undefined) return;
    const { voice = CUSTOM, language, standsIn } = spoken;
    this.voice ??= voice;
    this.language ??= language;
    this.spoken = { voice, language };
    if (standsIn === true) this.standIn = voice;
  }
}
