// The schemas of POST /v1/audio/transcriptions and /v1/audio/translations: the fields of OpenAI, and those of
// this server for subtitles.
import { CUE_RULES } from '../../transcribing/cues.js';
import { CONTEXT_LIMITS } from '../../transcribing/transcriber.js';
import { fieldsSchema } from '../http/json-fields.js';
import {
  type Answer,
  BYTES,
  type Content,
  jsonAnswer,
  type JsonSchema,
  listOf,
  NUMBER,
  type RouteSchema,
  STRING,
  TAGS,
} from '../http/json-schema.js';
import { FILE_TYPES } from '../http/file-upload.js';
import { LANGUAGE_FIELD, MODEL_FIELD } from '../speech/speech-schema.js';
import { DIARIZED_FIELDS, SHORT_FIELDS, TRANSCRIPT_FORMATS, VERBOSE_FIELDS } from './transcription-forms.js';

const SUBTITLE_FIELDS: Readonly<Record<string, JsonSchema>> = {
  timestamps: {
    type: 'string',
    enum: ['accurate', 'fast'],
    description:
      '`accurate`: the forced aligner finds the time of each word. `fast`: each stretch of speech, as voice activity finds it, is shared out to its words by length. Default: accurate, if the server has an aligner; without one times are fast. `X-Timestamps` of the answer tells what was used',
  },
  max_line_chars: {
    type: 'integer',
    minimum: 10,
    maximum: 200,
    default: CUE_RULES.maxLineColumns,
    description: 'columns of a line of a subtitle; East Asian characters fill two',
  },
  min_cue_seconds: { type: 'number', minimum: 0.1, maximum: 10, default: CUE_RULES.minSeconds },
  max_cue_seconds: { type: 'number', minimum: 1, maximum: 30, default: CUE_RULES.maxSeconds },
  chars_per_second: {
    type: 'number',
    minimum: 5,
    maximum: 100,
    default: CUE_RULES.columnsPerSecond,
    description: 'reading speed: a subtitle stays at least so long, if the next one leaves the time',
  },
};

const COMMON_FIELDS: Readonly<Record<string, JsonSchema>> = {
  model: { ...MODEL_FIELD, description: 'any name is taken, unless the server is strict about models' },
  prompt: {
    type: 'string',
    maxLength: CONTEXT_LIMITS.prompt,
    description: 'background of what is said: a topic, names. It is no instruction',
  },
  keywords: {
    type: 'array',
    maxItems: CONTEXT_LIMITS.keywords,
    items: { type: 'string', maxLength: CONTEXT_LIMITS.keyword },
    description: 'words that may be said: names, terms',
  },
  response_format: { type: 'string', enum: [...TRANSCRIPT_FORMATS], default: 'json' },
  temperature: {
    type: 'number',
    minimum: 0,
    maximum: 1,
    description: 'ignored: the most probable text is taken',
  },
  ...SUBTITLE_FIELDS,
  include: {
    type: 'array',
    maxItems: 4,
    items: { type: 'string', enum: ['logprobs', 'progress'] },
    description: '`progress` adds `transcript.progress` events to a stream; `logprobs` is ignored',
  },
  stream: { type: 'boolean', default: false, description: 'the answer is a stream of events' },
};

export const TRANSCRIPTION_FORM: JsonSchema = {
  type: 'object',
  properties: {
    ...COMMON_FIELDS,
    language: {
      ...LANGUAGE_FIELD,
      description: 'language of the speech: a BCP 47 tag or its English name; found if absent or `auto`',
    },
    languages: {
      ...listOf(LANGUAGE_FIELD),
      maxItems: 20,
      description: 'one entry is another name of `language`',
    },
    smart_format: {
      type: 'boolean',
      description:
        'the text has figures: `4207` for "four two oh seven"; in English, French, German and Spanish. The words of `verbose_json` stay as they were heard. Default: ASR_SMART_FORMAT of the server',
    },
    speaker_labels: {
      type: 'array',
      minItems: 1,
      maxItems: 2,
      items: { type: 'string', pattern: '^[^\\p{Cc}]{1,40}$' },
      description:
        'names of the speakers of the left and the right channel, A and B by default. With it, `verbose_json`, `srt` and `vtt` name the speakers as well; `diarized_json` always does',
      'x-must-be': 'one or two names of at most 40 characters without line breaks',
    },
    timestamp_granularities: {
      type: 'array',
      maxItems: 2,
      items: { type: 'string', enum: ['word', 'segment'] },
      description:
        '`verbose_json`: which times it has; segment by default. `vtt`: `word` gives each word its own time. A stream: `segment` adds `transcript.text.segment` events',
    },
  },
};

export const TRANSLATION_FORM: JsonSchema = {
  type: 'object',
  properties: {
    ...COMMON_FIELDS,
    language: { ...LANGUAGE_FIELD, description: 'the language to translate into; English if absent' },
    source_language: {
      ...LANGUAGE_FIELD,
      description: 'language of the speech; found if absent or `auto`',
    },
  },
};

/** Fields of OpenAI that make no difference here. */
export const IGNORED_FIELDS = [
  'chunking_strategy',
  'known_speaker_names',
  'known_speaker_references',
] as const;

const TRANSCRIPT = {
  anyOf: [fieldsSchema(SHORT_FIELDS), fieldsSchema(VERBOSE_FIELDS), fieldsSchema(DIARIZED_FIELDS)],
} satisfies JsonSchema;

const EVENTS = `\`transcript.text.delta\` with the text as it goes on, \`transcript.text.segment\` with times and
\`transcript.progress\` where they were asked for, then \`transcript.text.done\` with all of the text and \`usage\`,
and \`subtitles\` in the format \`srt\` or \`vtt\`; of a translation, progress and the last;
or \`error\`, where it breaks off`;

const MS = { ...NUMBER, description: 'milliseconds' };

const ANSWER = {
  ...jsonAnswer('the transcript', TRANSCRIPT),
  headers: {
    'X-Timestamps': {
      type: 'string',
      enum: ['accurate', 'fast', 'mixed'],
      description: 'how times were found; mixed: the aligner failed at some stretches. Absent without times',
    },
    'X-Ignored-Fields': { ...STRING, description: 'fields of the request that make no difference' },
    'X-Audio-Seconds': { ...NUMBER, description: 'length of the sound' },
    'X-Latency-Queue-Ms': MS,
    'X-Latency-First-Text-Ms': {
      ...MS,
      description: 'milliseconds from the turn of the request to its first text',
    },
    'X-Latency-Infer-Ms': MS,
    'X-Latency-Total-Ms': MS,
    'Server-Timing': STRING,
  },
  content: {
    'application/json': { schema: TRANSCRIPT },
    'text/plain': { schema: STRING },
    'application/x-subrip': { schema: STRING },
    'text/vtt': { schema: STRING },
  },
} as const;

const STREAMED: Answer = {
  ...ANSWER,
  content: { ...ANSWER.content, 'text/event-stream': { schema: { ...STRING, description: EVENTS } } },
};

const REFUSALS = {
  408: { description: 'the upload stopped in the middle' },
  413: { description: 'the file is too large, or its sound too long' },
  415: { description: 'the file is of a kind that is not decoded here; the kinds are named' },
  501: { description: 'the server recognises no speech, or cannot do what was asked for' },
  503: { description: 'too much is waiting; `Retry-After` says when to come back' },
  504: { description: 'the sound waited for too long' },
} as const;

function bodiesOf(form: JsonSchema): Content {
  const { properties = {} } = form;
  const withFile = { ...form, properties: { file: BYTES, ...properties }, required: ['file'] };
  const files = FILE_TYPES.map((type) => [type, { schema: BYTES }] as const);
  return { 'multipart/form-data': { schema: withFile }, ...Object.fromEntries(files) };
}

const SOUNDS =
  'WAV, MP3, FLAC, Ogg Opus and WebM Opus; other kinds (m4a, AAC, Ogg Vorbis, the sound of videos) where the machine of the server has ffmpeg. ' +
  'If the body is the file itself, the fields are parameters of the URL, and it is transcribed while it arrives.';

export const TRANSCRIPTION_SCHEMA: RouteSchema = {
  summary: 'Transcribe a sound file',
  description: SOUNDS,
  tags: [TAGS.transcription],
  otherBodies: bodiesOf(TRANSCRIPTION_FORM),
  response: {
    200: STREAMED,
    ...REFUSALS,
  },
};

export const TRANSLATION_SCHEMA: RouteSchema = {
  summary: 'Transcribe a sound file and translate the text',
  description: `${SOUNDS} A chat model translates, which the operator configures.`,
  tags: [TAGS.transcription],
  otherBodies: bodiesOf(TRANSLATION_FORM),
  response: { 200: STREAMED, ...REFUSALS, 502: { description: 'the chat model gave no usable translation' } },
};
