// ElevenLabs' HTTP API, as far as this server has it.
import { AUDIO_FORMATS } from '../../call/audio-format.js';
import { BOOLEAN, BYTES, INTEGER, jsonAnswer, listOf, NUMBER, object, STRING } from './answers.js';
import { type Content, type JsonSchema, type RouteSchema, TAGS } from './json-schema.js';
import {
  CACHE_FIELD,
  LANGUAGE_FIELD,
  mannerFields,
  MODEL_FIELD,
  SPEED_FIELD,
  type SpeechFieldLimits,
  textField,
} from './speech-fields.js';

interface Form {
  readonly response_format: string;
  /** Hz. */
  readonly sample_rate: number;
}

export const DEFAULT_OUTPUT_FORMAT = 'mp3_44100_128';
const PCM_RATES = ['8000', '16000', '22050', '24000', '32000', '44100', '48000'];
// The last part is the bit rate that their server codes at; ours is its own.
const MP3_NAMES = ['22050_32', '24000_48', '44100_32', '44100_64', '44100_96', '44100_128', '44100_192'];
const OPUS_NAMES = ['48000_32', '48000_64', '48000_96', '48000_128', '48000_192'];

/** What each `output_format` is in the words of `/v1/audio/speech`. */
export const OUTPUT_FORMATS: ReadonlyMap<string, Form> = new Map([
  ...named('mp3', 'mp3', MP3_NAMES),
  ...named('pcm', 'pcm', PCM_RATES),
  ...named('wav', 'wav', PCM_RATES),
  ...named('opus', 'opus', OPUS_NAMES),
  ...named('ulaw', 'ulaw_8000', ['8000']),
  ...named('alaw', 'alaw_8000', ['8000']),
]);

function named(prefix: string, response_format: string, names: readonly string[]) {
  return names.map((name): [string, Form] => [
    `${prefix}_${name}`,
    { response_format, sample_rate: Number(name.split('_', 1)[0]) },
  ]);
}

const QUERY: JsonSchema = {
  type: 'object',
  properties: {
    output_format: {
      type: 'string',
      enum: [...OUTPUT_FORMATS.keys()],
      default: DEFAULT_OUTPUT_FORMAT,
      description: 'codec, rate, bit rate; bit rates are taken for what this server codes at',
    },
  },
};

function body(limits: SpeechFieldLimits): JsonSchema {
  const { seed = INTEGER } = mannerFields(limits);
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

const SOUND: Content = Object.fromEntries(
  AUDIO_FORMATS.map(({ contentType }) => [contentType, { schema: BYTES }]),
);

const TIMES = object({
  characters: listOf(STRING),
  character_start_times_seconds: listOf(NUMBER),
  character_end_times_seconds: listOf(NUMBER),
});
const TIMED = object({ audio_base64: STRING, alignment: TIMES, normalized_alignment: TIMES });

function speaking(summary: string, limits: SpeechFieldLimits, answer: RouteSchema['response']): RouteSchema {
  const params = object({
    voice_id: { ...STRING, description: 'the name of a voice, or the id of one that was made here' },
  });
  return { summary, tags: [TAGS.speech], params, querystring: QUERY, body: body(limits), response: answer };
}

export function textToSpeechSchema(limits: SpeechFieldLimits): RouteSchema {
  return speaking('Speak a text (ElevenLabs)', limits, {
    200: { description: 'the sound, sent while it is made', content: SOUND },
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
