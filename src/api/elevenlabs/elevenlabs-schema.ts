// ElevenLabs' HTTP API, as far as this server has it.
import { DEFAULT_OUTPUT_FORMAT, OUTPUT_FORMAT_NAMES } from './elevenlabs-request.js';
import {
  BOOLEAN,
  INTEGER,
  jsonAnswer,
  type JsonSchema,
  listOf,
  NUMBER,
  object,
  type RouteSchema,
  SPEECH_REFUSALS,
  STRING,
  TAGS,
} from '../http/json-schema.js';
import {
  AUDIO_TYPES,
  CACHE_FIELD,
  LANGUAGE_FIELD,
  speechOptionFields,
  MODEL_FIELD,
  type SpeechFieldLimits,
  SPEED_FIELD,
  textField,
} from '../speech/speech-schema.js';

const QUERY: JsonSchema = {
  type: 'object',
  properties: {
    output_format: {
      type: 'string',
      maxLength: 40,
      default: DEFAULT_OUTPUT_FORMAT,
      description: `${OUTPUT_FORMAT_NAMES}; bit rates are taken for what this server codes at`,
      'x-must-be': OUTPUT_FORMAT_NAMES,
    },
  },
};

function body(limits: SpeechFieldLimits): JsonSchema {
  const { seed = INTEGER } = speechOptionFields(limits);
  return {
    type: 'object',
    required: ['text'],
    properties: {
      text: textField(limits),
      model_id: MODEL_FIELD,
      language_code: LANGUAGE_FIELD,
      voice_settings: {
        type: 'object',
        properties: { speed: SPEED_FIELD },
        description: 'of which `speed` is heeded',
      },
      seed,
      apply_text_normalization: { type: 'string', enum: ['auto', 'on', 'off'] },
      cache: CACHE_FIELD,
    },
  };
}

const TIMES = object({
  characters: listOf(STRING),
  character_start_times_seconds: listOf(NUMBER),
  character_end_times_seconds: listOf(NUMBER),
});
const TIMED = object({ audio_base64: STRING, alignment: TIMES, normalized_alignment: TIMES });

function speaking(summary: string, limits: SpeechFieldLimits, answer: RouteSchema['response']): RouteSchema {
  const params = object({
    voice_id: {
      ...STRING,
      description:
        'the name of a voice, the id of one that was made here, or an id of ELEVENLABS_VOICES_FILE',
    },
  });
  return {
    summary,
    tags: [TAGS.speech],
    params,
    querystring: QUERY,
    body: body(limits),
    response: { ...answer, ...SPEECH_REFUSALS },
  };
}

export function textToSpeechSchema(limits: SpeechFieldLimits): RouteSchema {
  return speaking('Speak a text (ElevenLabs)', limits, {
    200: { description: 'the sound, sent while it is made', content: AUDIO_TYPES },
  });
}

export function timedSpeechSchema(limits: SpeechFieldLimits): RouteSchema {
  return speaking('Speak a text, with the time of each character (ElevenLabs)', limits, {
    200: jsonAnswer('the sound in base64, and when each character of the text is heard in it', TIMED),
  });
}

export function timedStreamSchema(limits: SpeechFieldLimits): RouteSchema {
  const description =
    'such an object a line, `alignment` null where no sentence ended; times count from the beginning of the sound';
  return speaking('Stream a text with the time of each character (ElevenLabs)', limits, {
    200: jsonAnswer(description, TIMED),
  });
}

const VOICE = object({
  voice_id: STRING,
  name: STRING,
  category: { type: 'string', enum: ['premade', 'cloned', 'generated'] },
  description: STRING,
  labels: object({ language: STRING, engine: STRING }),
});

export const ELEVENLABS_VOICES_SCHEMA: RouteSchema = {
  summary: 'The voices (ElevenLabs)',
  tags: [TAGS.voices],
  response: { 200: jsonAnswer('every voice', object({ voices: listOf(VOICE) })) },
};

export const ELEVENLABS_VOICE_SCHEMA: RouteSchema = {
  summary: 'One voice (ElevenLabs)',
  tags: [TAGS.voices],
  params: object({ voice_id: STRING }),
  response: { 200: jsonAnswer('the voice', VOICE) },
};

export const VOICE_SEARCH_SCHEMA: RouteSchema = {
  summary: 'The voices, searched and page by page (ElevenLabs)',
  tags: [TAGS.voices],
  querystring: {
    type: 'object',
    properties: {
      search: { type: 'string', maxLength: 200, description: 'in names, descriptions and languages' },
      page_size: {
        type: 'string',
        pattern: '^([1-9]\\d?|100)$',
        'x-must-be': 'a whole number from 1 to 100',
      },
      next_page_token: {
        type: 'string',
        pattern: '^\\d{1,6}$',
        'x-must-be': 'what an answer had under this name',
      },
    },
  },
  response: {
    200: jsonAnswer(
      'a page of them; all where no size is named',
      object({
        voices: listOf(VOICE),
        has_more: BOOLEAN,
        total_count: INTEGER,
        next_page_token: { type: ['string', 'null'] },
      }),
    ),
  },
};
