// What there is to choose from: models and voices.
import { INTEGER, jsonAnswer, listOf, object, type RouteSchema, STRING, TAGS } from '../http/json-schema.js';
import { MADE_VOICE } from './made-voice-schema.js';

export const VOICE = object({
  id: STRING,
  name: STRING,
  engine: STRING,
  languages: listOf({ ...STRING, description: 'BCP 47 tag' }),
  description: STRING,
});

export const MODEL = object({
  id: STRING,
  object: { type: 'string', enum: ['model'] },
  created: { ...INTEGER, description: 'Unix seconds' },
  owned_by: STRING,
  task: STRING,
  sample_rate: { ...INTEGER, description: 'Hz where a request names none' },
  language: listOf(STRING),
  voices: listOf(object({ name: STRING, language: STRING })),
});

const LIST = { type: 'string', enum: ['list'] } as const;

export const VOICES_SCHEMA: RouteSchema = {
  summary: 'The voices',
  description: 'With `legacy=true` the answer is `voices` alone, a list of names.',
  tags: [TAGS.voices],
  querystring: {
    type: 'object',
    properties: {
      legacy: {
        type: 'string',
        pattern: '^([Tt]rue|[Ff]alse|1|0)$',
        'x-must-be': 'true or false',
      },
    },
  },
  response: {
    200: jsonAnswer(
      'every voice, under the two names that clients read, and those made over HTTP once more',
      object({
        object: LIST,
        voices: listOf(VOICE),
        data: listOf(VOICE),
        uploaded_voices: listOf(MADE_VOICE),
      }),
    ),
  },
};

export const MODELS_SCHEMA: RouteSchema = {
  summary: 'The models',
  description: 'With the header `xi-api-key` the answer is the list of models that ElevenLabs has.',
  tags: [TAGS.voices],
  response: { 200: jsonAnswer('every model', object({ object: LIST, data: listOf(MODEL) })) },
};

export const AUDIO_MODELS_SCHEMA: RouteSchema = {
  summary: 'The models, in the form that Open WebUI reads',
  tags: [TAGS.voices],
  response: {
    200: jsonAnswer('every model', object({ models: listOf(object({ id: STRING, name: STRING })) })),
  },
};

export const MODEL_SCHEMA: RouteSchema = {
  summary: 'One model',
  tags: [TAGS.voices],
  params: object({ id: STRING }),
  response: { 200: jsonAnswer('the model', MODEL) },
};
