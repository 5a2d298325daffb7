// What a request for speech tells of itself in its one line of the log, and in
// the metrics. A route that speaks makes one and hangs it on the request; what
// sends the sound fills in the rest.
import type { AudioOutcome } from './audio-replies.js';
import type { SpokenRequest } from './speech-source.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Of requests that speak; null until their route has read what they want. */
    speechLog: SpeechLog | null;
    /** When its head had come, on the clock of `performance.now()`. */
    startedAtMs: number;
    /** Code of what went wrong, before the first byte of its answer or after it. */
    failure: string | null;
  }
}

export class SpeechLog {
  /** The caller's words: only under this name, which the log hides. */
  readonly text: string;
  /** As requests name it. */
  readonly format: string;
  readonly voice: string | undefined;
  readonly language: string | undefined;
  /** Set once it is known; absent where the cache was not asked. */
  cache: 'hit' | 'miss' | undefined;
  /** Set at the end of the sound. */
  timing: AudioOutcome['timing'] | undefined;

  constructor({ text, voice, language }: Pick<SpokenRequest, 'text' | 'voice' | 'language'>, format: string) {
    this.text = text;
    this.format = format;
    this.voice = voice;
    this.language = language;
  }
}
