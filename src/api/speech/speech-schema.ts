// The schemas of requests for speech: the fields that all of them share, and POST /v1/audio/speech with the
// fields of OpenAI, of vLLM-Omni and of this server.
import { SPEEDS } from '../../audio/time-stretch.js';
import { AUDIO_FORMATS, SAMPLE_RATES_HZ } from '../../speaking/audio-format.js';
import type { ReadingLimits } from '../../speaking/text-reading.js';
import { TEXT_FORMATS } from '../../speaking/text-source.js';
import {
  type Answer,
  BYTES,
  type Content,
  INTEGER,
  jsonAnswer,
  type JsonSchema,
  NUMBER,
  object,
  type RouteSchema,
  SPEECH_REFUSALS,
  STRING,
  TAGS,
} from '../http/json-schema.js';

export interface SpeechFieldLimits {
  /** Characters of one text. */
  readonly maxTextLength: number;
  /** Codec frames of one sentence. */
  readonly maxNewTokens: number;
}

/** Limits of requests for speech. */
export interface SpeechLimits extends SpeechFieldLimits, ReadingLimits {
  /** Bytes of a sample of a voice; the body may hold one in base64. */
  readonly maxUploadBytes: number;
}

const BODY_BYTES = 1024 * 1024; // all fields except the sample

/** Bytes of a body of all fields. */
export function bodyLimitOf({ maxUploadBytes }: SpeechLimits): number {
  return BODY_BYTES + Math.ceil((maxUploadBytes * 4) / 3);
}

/** Schema of names: voices and models have at most 200 characters. */
const NAME: JsonSchema = { type: 'string', minLength: 1, maxLength: 200 };
const MAX_LANGUAGE = 35; // characters; the longest that BCP 47 asks to be ready for (section 4.4.1)
const MAX_INSTRUCTIONS = 4096; // as at OpenAI
const MAX_TRANSCRIPT = 4096; // characters; a sample lasts a few seconds
const LARGEST_WHOLE = Number.MAX_SAFE_INTEGER;

/** The text to speak. */
export function textField({ maxTextLength }: SpeechFieldLimits): JsonSchema {
  return { type: 'string', minLength: 1, maxLength: maxTextLength, description: 'the text to speak' };
}

export const MODEL_FIELD: JsonSchema = {
  ...NAME,
  description: 'any name is taken, unless the server is strict about models',
};

export const VOICE_FIELD: JsonSchema = {
  description:
    'a voice of `/v1/audio/voices`, one of OpenAI, or `{"id": …}` of either; the default voice where absent',
  anyOf: [NAME, { type: 'object', properties: { id: NAME }, required: ['id'] }],
  examples: ['alloy'],
};

const FORMAT_FIELD: JsonSchema = {
  type: 'string',
  enum: AUDIO_FORMATS.map(({ name }) => name),
  default: 'mp3',
};

export const SPEED_FIELD: JsonSchema = {
  type: 'number',
  minimum: SPEEDS[0],
  maximum: SPEEDS[1],
  default: 1,
  description: 'times the speed of the voice, at its pitch',
};

const RATE_FIELD: JsonSchema = {
  type: 'integer',
  minimum: SAMPLE_RATES_HZ[0],
  maximum: SAMPLE_RATES_HZ[1],
  description: 'Hz; the formats differ in which they have, and in which they take where none is named',
};

export const LANGUAGE_FIELD: JsonSchema = {
  type: 'string',
  maxLength: MAX_LANGUAGE,
  pattern: '^\\s*\\p{L}{2,20}([-_]\\w{1,8}|\\s[\\p{L}()]{2,20})*\\s*$',
  description: 'a BCP 47 tag, the English name of a language, or `auto`: what the text turns out to be',
  examples: ['en', 'English', 'auto'],
  'x-must-be': 'a tag such as "en" or "fr", a name such as "English", or "auto"',
};

export const INPUT_FORMAT_FIELD: JsonSchema = {
  type: 'string',
  enum: TEXT_FORMATS,
  default: 'auto',
  description: '`auto`: SSML where the text begins with `<speak`, else words as they stand',
};

/** Its entries are checked one by one, so that a refusal names the one that is wrong. */
export const LEXICON_FIELD: JsonSchema = {
  type: 'array',
  items: {
    type: 'object',
    properties: {
      word: STRING,
      say: STRING,
      case: { ...STRING, description: '`exact`, or `ignore`' },
      language: STRING,
    },
  },
  description: "how words of this text are said; asked before the server's own lexicon",
  examples: [[{ word: 'SQL', say: 'sequel', case: 'ignore' }]],
  'x-must-be': 'a list of entries such as {"word": "SQL", "say": "sequel"}',
};

export const CACHE_FIELD: JsonSchema = {
  type: 'boolean',
  default: true,
  description: 'false neither looks for an earlier rendering nor keeps this one',
};

/**
 * Fields that say how the text is spoken. X-Ignored-Fields names those that the engine of the voice does not
 * support.
 */
export function speechOptionFields({
  maxNewTokens,
}: SpeechFieldLimits): Readonly<Record<string, JsonSchema>> {
  const instructions: JsonSchema = {
    type: 'string',
    maxLength: MAX_INSTRUCTIONS,
    description: 'how to speak, in words; `"None"` and `""` are none',
  };
  return {
    instructions,
    instruct: { ...instructions, description: 'another name of `instructions`', deprecated: true },
    temperature: { type: 'number', minimum: 0, maximum: 2 },
    top_p: { type: 'number', minimum: 0, maximum: 1 },
    top_k: { type: 'integer', minimum: 0, maximum: LARGEST_WHOLE },
    seed: { type: 'integer', minimum: -LARGEST_WHOLE, maximum: LARGEST_WHOLE },
    max_new_tokens: {
      type: 'integer',
      minimum: 1,
      maximum: maxNewTokens,
      description: 'codec frames of one sentence (12.5 a second)',
    },
    normalize: { type: 'boolean', default: true, description: 'numbers and abbreviations are read out' },
    trim_silence: { type: 'boolean', default: true, description: 'the silence around each sentence is cut' },
  };
}

/** A voice that comes with the request. */
export const REFERENCE_FIELDS: Readonly<Record<string, JsonSchema>> = {
  task_type: {
    type: 'string',
    enum: ['CustomVoice', 'VoiceDesign', 'Base'],
    description:
      '`Base` speaks with the voice of `ref_audio`, `VoiceDesign` with one made from `instructions`; the other fields decide if it is absent',
  },
  ref_audio: {
    ...STRING,
    minLength: 1,
    description: 'a sample of the voice: a data URL, or an http(s) URL where the server allows them',
  },
  ref_text: { ...STRING, maxLength: MAX_TRANSCRIPT, description: 'what is said in the sample' },
  x_vector_only_mode: { type: 'boolean', description: 'only who speaks is taken from the sample, not how' },
};

export function speechBody(limits: SpeechFieldLimits): JsonSchema {
  return {
    type: 'object',
    required: ['input'],
    examples: [{ model: 'tts-1', input: 'Your order has shipped.', voice: 'alloy' }],
    properties: {
      model: MODEL_FIELD,
      input: textField(limits),
      input_format: INPUT_FORMAT_FIELD,
      lexicon: LEXICON_FIELD,
      voice: VOICE_FIELD,
      response_format: FORMAT_FIELD,
      speed: SPEED_FIELD,
      language: LANGUAGE_FIELD,
      sample_rate: RATE_FIELD,
      ...speechOptionFields(limits),
      ...REFERENCE_FIELDS,
      stream: {
        type: 'boolean',
        description: 'false: the whole sound at once, with its length; true without `stream_format`: events',
      },
      stream_format: { type: 'string', enum: ['audio', 'sse'], description: '`audio` is the sound itself' },
      non_streaming_mode: { type: 'boolean', description: 'true is another name of `"stream": false`' },
      initial_codec_chunk_frames: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
      cache: CACHE_FIELD,
    },
  };
}

const EVENTS = `\`speech.audio.delta\` with a piece of the sound in base64, then \`speech.audio.done\` with \`usage\`
(\`input_tokens\`: one for every four bytes of the text; \`output_tokens\`: one for every 80 ms of sound) and
\`timing\`; or \`error\`, where it breaks off`;

/** The content types of sound in every format. */
export const AUDIO_TYPES: Content = Object.fromEntries(
  AUDIO_FORMATS.map(({ contentType }) => [contentType, { schema: BYTES }]),
);

const MS = { ...NUMBER, description: 'milliseconds; of a stream, a trailer' };

/** Sound in any format, streamed or whole. */
export const AUDIO_ANSWER: Answer = {
  description: 'the sound',
  headers: {
    'X-Cache': { type: 'string', enum: ['hit', 'miss'], description: 'absent where the cache was not asked' },
    'X-Voice': {
      ...STRING,
      description: 'the voice that stands in for the one of OpenAI or Qwen that was named',
    },
    'X-Ignored-Fields': { ...STRING, description: 'fields of the request that its engine cannot heed' },
    'X-Latency-Queue-Ms': MS,
    'X-Latency-Load-Ms': MS,
    'X-Latency-Infer-Ms': MS,
    'X-Latency-Encode-Ms': MS,
    'X-Latency-Total-Ms': MS,
    'Server-Timing': STRING,
  },
  content: { ...AUDIO_TYPES, 'text/event-stream': { schema: { ...STRING, description: EVENTS } } },
};

export function speechSchema(limits: SpeechFieldLimits): RouteSchema {
  return {
    summary: 'Speak a text',
    tags: [TAGS.speech],
    body: speechBody(limits),
    response: { 200: AUDIO_ANSWER, ...SPEECH_REFUSALS },
  };
}

export const CLEAR_SCHEMA: RouteSchema = {
  summary: 'Forget every rendering',
  tags: [TAGS.server],
  response: { 200: jsonAnswer('how many there were', object({ cleared: INTEGER })) },
};
