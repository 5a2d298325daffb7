// Writes transcripts in the formats of OpenAI's transcription endpoint.
import { deflateSync } from 'node:zlib';
import { languageName } from '../../engines/language-names.js';
import type { Cue } from '../../transcribing/cues.js';
import { CONTENT_TYPES, headOf, srtCue, vttCue } from '../../transcribing/subtitle-files.js';
import type { TimedStretch } from '../../transcribing/transcript.js';
import { fieldsJson, fieldsSchema, type JsonField } from '../http/json-fields.js';
import { listOf, NUMBER, object, STRING } from '../http/json-schema.js';

/** A transcript by speakers. */
export const BY_SPEAKER = 'diarized_json';

export const TRANSCRIPT_FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt', BY_SPEAKER] as const;

export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number];

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
      return asJson(fieldsJson(SHORT_FIELDS, transcript));
    case 'verbose_json':
      return asJson(fieldsJson(VERBOSE_FIELDS, { transcript, options }));
    case BY_SPEAKER:
      return asJson(fieldsJson(DIARIZED_FIELDS, transcript));
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

type Totals = Omit<WrittenTranscript, 'sentences' | 'words' | 'cues'>;

const SECONDS = { ...NUMBER, description: 'seconds from the beginning of the sound' };

const USAGE: readonly JsonField<Totals>[] = [
  ['type', { type: 'string', enum: ['duration'] }, () => 'duration'],
  ['seconds', NUMBER, ({ seconds }) => rounded(seconds)],
];

/** The fields of `json`. */
export const SHORT_FIELDS: readonly JsonField<Totals>[] = [
  ['text', STRING, ({ text }) => text],
  ['languages', listOf(object({ code: STRING })), ({ languages }) => languages.map((code) => ({ code }))],
  ['usage', fieldsSchema(USAGE), (transcript) => fieldsJson(USAGE, transcript)],
];

/** Whisper's figures of a segment that this model does not have are 0: readers insist on numbers. */
const SEGMENT: readonly JsonField<TimedStretch & { readonly id: number }>[] = [
  ['id', NUMBER, ({ id }) => id],
  ['seek', NUMBER, () => 0],
  ['start', SECONDS, ({ beginSeconds }) => rounded(beginSeconds)],
  ['end', SECONDS, ({ endSeconds }) => rounded(endSeconds)],
  ['text', STRING, ({ text }) => text],
  ['tokens', listOf(NUMBER), () => []],
  ['temperature', NUMBER, () => 0],
  ['avg_logprob', NUMBER, () => 0],
  ['compression_ratio', NUMBER, ({ text }) => compressionRatio(text)],
  ['no_speech_prob', NUMBER, () => 0],
  ['speaker?', STRING, ({ speaker }) => speaker],
];

const WORD: readonly JsonField<TimedStretch>[] = [
  ['word', STRING, ({ text }) => text],
  ['start', SECONDS, ({ beginSeconds }) => rounded(beginSeconds)],
  ['end', SECONDS, ({ endSeconds }) => rounded(endSeconds)],
  ['speaker?', STRING, ({ speaker }) => speaker],
];

const SPEAKER_SEGMENT: readonly JsonField<TimedStretch & { readonly id: number }>[] = [
  ['type', { type: 'string', enum: ['transcript.text.segment'] }, () => 'transcript.text.segment'],
  ['id', STRING, ({ id }) => `seg_${String(id).padStart(3, '0')}`],
  ['start', SECONDS, ({ beginSeconds }) => rounded(beginSeconds)],
  ['end', SECONDS, ({ endSeconds }) => rounded(endSeconds)],
  ['text', STRING, ({ text }) => text],
  ['speaker', STRING, ({ speaker }) => speaker],
];

/** The fields of `diarized_json`. */
export const DIARIZED_FIELDS: readonly JsonField<WrittenTranscript>[] = [
  ['task', { type: 'string', enum: ['transcribe'] }, ({ task }) => task],
  ['duration', NUMBER, ({ seconds }) => rounded(seconds)],
  ['text', STRING, ({ text }) => text],
  [
    'segments',
    listOf(fieldsSchema(SPEAKER_SEGMENT)),
    ({ sentences }) =>
      sentences().map((sentence, n) => fieldsJson(SPEAKER_SEGMENT, { ...sentence, id: n + 1 })),
  ],
  ['usage', fieldsSchema(USAGE), (transcript) => fieldsJson(USAGE, transcript)],
];

interface Verbose {
  readonly transcript: WrittenTranscript;
  readonly options: Pick<FormOptions, 'words' | 'segments'>;
}

/** The fields of `verbose_json`. */
export const VERBOSE_FIELDS: readonly JsonField<Verbose>[] = [
  ['task', STRING, ({ transcript }) => transcript.task],
  [
    'language',
    { ...STRING, description: 'its English name in lower case' },
    ({ transcript: { languages } }) =>
      languages[0] === undefined ? 'unknown' : languageName(languages[0]).toLowerCase(),
  ],
  ['duration', NUMBER, ({ transcript }) => rounded(transcript.seconds)],
  ['text', STRING, ({ transcript }) => transcript.text],
  [
    'segments?',
    listOf(fieldsSchema(SEGMENT)),
    ({ transcript, options }) =>
      options.segments
        ? transcript.sentences().map((sentence, id) => fieldsJson(SEGMENT, { ...sentence, id }))
        : undefined,
  ],
  [
    'words?',
    listOf(fieldsSchema(WORD)),
    ({ transcript, options }) =>
      options.words ? transcript.words().map((word) => fieldsJson(WORD, word)) : undefined,
  ],
  ['usage', fieldsSchema(USAGE), ({ transcript }) => fieldsJson(USAGE, transcript)],
];

function compressionRatio(text: string): number {
  const bytes = Buffer.from(text);
  return rounded(bytes.length / deflateSync(bytes).length);
}

/** To milliseconds. */
export function rounded(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
