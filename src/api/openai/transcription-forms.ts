// Writes transcripts in the formats of OpenAI's transcription endpoint.
import { deflateSync } from 'node:zlib';
import { languageName } from '../../engines/language-names.js';
import type { Cue } from '../../transcribing/cues.js';
import { CONTENT_TYPES, headOf, srtCue, vttCue } from '../../transcribing/subtitle-files.js';
import type { TimedStretch } from '../../transcribing/transcript.js';
import type { TranscriptFormat } from './transcription-request.js';

/** A transcript or its translation, as every format needs it. */
export interface WrittenTranscript {
  readonly task: 'transcribe' | 'translate';
  readonly text: string;
  /** BCP 47 tags, the most frequent first. */
  readonly languages: readonly string[];
  /** Length of the sound. */
  readonly seconds: number;
  readonly sentences: () => readonly TimedStretch[];
  readonly words: () => readonly TimedStretch[];
  readonly cues: () => readonly Cue[];
}

interface FormOptions {
  readonly format: TranscriptFormat;
  readonly words: boolean;
  readonly segments: boolean;
}

export function writeTranscript(
  transcript: WrittenTranscript,
  options: FormOptions,
): { readonly contentType: string; readonly body: string } {
  const { format, words } = options;
  switch (format) {
    case 'json':
      return asJson(shortForm(transcript));
    case 'verbose_json':
      return asJson(verboseForm(transcript, options));
    case 'text':
      return { contentType: 'text/plain; charset=utf-8', body: `${transcript.text}\n` };
    case 'srt': {
      const body = transcript.cues().map((cue, n) => srtCue(cue, n + 1));
      return { contentType: CONTENT_TYPES.srt, body: body.join('') };
    }
    case 'vtt': {
      const body = transcript.cues().map((cue) => vttCue(cue, words));
      return { contentType: CONTENT_TYPES.vtt, body: headOf('vtt') + body.join('') };
    }
  }
}

function asJson(value: object): { readonly contentType: string; readonly body: string } {
  return { contentType: 'application/json; charset=utf-8', body: JSON.stringify(value) };
}

/** Also the fields of `transcript.text.done`. */
export function shortForm({
  text,
  languages,
  seconds,
}: Omit<WrittenTranscript, 'sentences' | 'words' | 'cues'>) {
  return { text, languages: languages.map((code) => ({ code })), usage: usageOf(seconds) };
}

function verboseForm(transcript: WrittenTranscript, { words, segments }: FormOptions) {
  const { task, text, languages, seconds } = transcript;
  return {
    task,
    language: languages[0] === undefined ? 'unknown' : languageName(languages[0]).toLowerCase(),
    duration: rounded(seconds),
    text,
    ...(segments ? { segments: transcript.sentences().map(segmentOf) } : {}),
    ...(words ? { words: transcript.words().map(wordOf) } : {}),
    usage: usageOf(seconds),
  };
}

function usageOf(seconds: number) {
  return { type: 'duration', seconds: rounded(seconds) };
}

/** Whisper's figures of a segment that this model does not have are 0: readers insist on numbers. */
function segmentOf({ text, beginSeconds, endSeconds }: TimedStretch, id: number) {
  const bytes = Buffer.from(text);
  return {
    id,
    seek: 0,
    start: rounded(beginSeconds),
    end: rounded(endSeconds),
    text,
    tokens: [],
    temperature: 0,
    avg_logprob: 0,
    compression_ratio: rounded(bytes.length / deflateSync(bytes).length),
    no_speech_prob: 0,
  };
}

function wordOf({ text, beginSeconds, endSeconds }: TimedStretch) {
  return { word: text, start: rounded(beginSeconds), end: rounded(endSeconds) };
}

/** To milliseconds. */
export function rounded(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
