// POST /v1/audio/speech: OpenAI's fields, vLLM-Omni's, and some of our own.
import { AUDIO_FORMATS } from '../../speaking/audio-format.js';
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
import {
  CACHE_FIELD,
  FORMAT_FIELD,
  INPUT_FORMAT_FIELD,
  LANGUAGE_FIELD,
  LEXICON_FIELD,
  mannerFields,
  MODEL_FIELD,
  RATE_FIELD,
  REFERENCE_FIELDS,
  SPEED_FIELD,
  type SpeechFieldLimits,
  textField,
  VOICE_FIELD,
} from './speech-fields-schema.js';

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
      ...mannerFields(limits),
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

const AUDIO_TYPES: Content = Object.fromEntries(
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
