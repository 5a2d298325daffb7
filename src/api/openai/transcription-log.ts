// Facts about a request for a transcription, for its line in the log and for the metrics.
import type { TranscriptionEnd } from '../../transcribing/transcriber.js';
import type { TimesQuality, Transcript } from '../../transcribing/transcript.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set for requests that transcribe, once their fields are read. */
    transcriptionLog: TranscriptionLog | null;
  }
}

export interface TranscriptionLog {
  /** The format that was asked for. */
  readonly format: string;
  readonly isStream: boolean;
  language: string | undefined;
  times: TimesQuality | undefined;
  /** Set at the end. */
  end: TranscriptionEnd | undefined;
  /** The caller's words, under a name that the log hides. */
  text: string | undefined;
}

export function completeLog(
  facts: TranscriptionLog | null,
  transcript: Pick<Transcript, 'languages' | 'times' | 'text'>,
  end: TranscriptionEnd,
): void {
  if (facts === null) return;
  facts.language = transcript.languages[0] ?? facts.language;
  facts.times = transcript.times;
  facts.end = end;
  facts.text = transcript.text;
}
