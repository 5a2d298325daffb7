// The schemas of the routes that list models and voices, and that make voices from a sample or a description.
import {
  BOOLEAN,
  BYTES,
  INTEGER,
  jsonAnswer,
  type JsonSchema,
  listOf,
  object,
  type RouteSchema,
  STRING,
  TAGS,
} from '../http/json-schema.js';
import {
  AUDIO_ANSWER,
  LANGUAGE_FIELD,
  REFERENCE_FIELDS,
  speechBody,
  type SpeechFieldLimits,
} from './speech-schema.js';

const MADE_VOICE = object(
  {
    object: { type: 'string', enum: ['audio.voice'] },
    id: STRING,
    name: STRING,
    created_at: { ...INTEGER, description: 'Unix seconds' },
    type: { type: 'string', enum: ['audio_sample', 'prompt'] },
    language: STRING,
    description: STRING,
    consent: STRING,
    ref_text: STRING,
    prompt: STRING,
  },
  ['language', 'description', 'consent', 'ref_text', 'prompt'],
);

const VOICE = object({
  id: STRING,
  name: STRING,
  engine: STRING,
  languages: listOf({ ...STRING, description: 'BCP 47 tag' }),
  description: STRING,
});

const MODEL = object({
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

const MAX_NOTE = 1000; // characters
const MAX_PROMPT = 4096; // as instructions

const NAME: JsonSchema = {
  type: 'string',
  minLength: 1,
  maxLength: 64,
  description: "letters, digits, spaces and ._()'-; none that a voice has already",
};
const CONSENT: JsonSchema = {
  type: 'string',
  maxLength: MAX_NOTE,
  description: "kept with the voice: where the speaker's agreement is found",
};
const DESCRIPTION: JsonSchema = { type: 'string', maxLength: MAX_NOTE };

/** Fields beside `audio_sample`. */
export const SAMPLE_FORM: JsonSchema = {
  type: 'object',
  required: ['name'],
  properties: {
    name: NAME,
    consent: CONSENT,
    ref_text: REFERENCE_FIELDS['ref_text'] ?? STRING,
    language: LANGUAGE_FIELD,
    speaker_description: DESCRIPTION,
    description: DESCRIPTION,
  },
};

const PROMPT_BODY: JsonSchema = {
  type: 'object',
  required: ['type', 'name', 'prompt'],
  examples: [{ type: 'prompt', name: 'harbour', prompt: 'An old sailor, calm and a little hoarse.' }],
  properties: {
    type: { type: 'string', enum: ['prompt'] },
    name: NAME,
    prompt: { type: 'string', minLength: 1, maxLength: MAX_PROMPT, description: 'what the voice is like' },
    language: LANGUAGE_FIELD,
    consent: CONSENT,
    description: DESCRIPTION,
  },
};

function withFile(form: JsonSchema, name: string): JsonSchema {
  const { properties = {}, required = [] } = form;
  return { ...form, properties: { ...properties, [name]: BYTES }, required: [...required, name] };
}

export const MAKE_VOICE_SCHEMA: RouteSchema = {
  summary: 'Make a voice',
  description:
    'From a sample of 1 to 60 s in WAV, MP3, Ogg Opus or FLAC, or from a description. 501 where no engine of the server can speak with such a voice.',
  tags: [TAGS.voices],
  body: { content: { 'application/json': { schema: PROMPT_BODY } } },
  otherBodies: { 'multipart/form-data': { schema: withFile(SAMPLE_FORM, 'audio_sample') } },
  response: { 200: jsonAnswer('the voice', MADE_VOICE) },
};

const VOICE_ID = object({ id: { ...STRING, description: 'id or name' } });

export const GET_VOICE_SCHEMA: RouteSchema = {
  summary: 'One voice that was made',
  tags: [TAGS.voices],
  params: VOICE_ID,
  response: { 200: jsonAnswer('the voice', MADE_VOICE) },
};

export const DELETE_VOICE_SCHEMA: RouteSchema = {
  summary: 'Let go of a voice that was made',
  tags: [TAGS.voices],
  params: VOICE_ID,
  response: {
    200: jsonAnswer('it is gone', object({ id: STRING, deleted: BOOLEAN, object: STRING, success: BOOLEAN })),
  },
};

/** The fields of speech, with `text` as another name of `input`, and no voice but the file's. */
export function cloneForm(limits: SpeechFieldLimits): JsonSchema {
  const {
    voice: _voice,
    ref_audio: _audio,
    task_type: _task,
    ...fields
  } = speechBody(limits).properties ?? {};
  const { input = STRING } = fields;
  return {
    type: 'object',
    properties: { ...fields, text: { ...input, description: 'another name of `input`' } },
  };
}

export function cloneSchema(limits: SpeechFieldLimits): RouteSchema {
  return {
    summary: 'Speak a text in the voice of a file that comes with it',
    tags: [TAGS.speech],
    otherBodies: { 'multipart/form-data': { schema: withFile(cloneForm(limits), 'ref_audio') } },
    response: { 200: AUDIO_ANSWER },
  };
}
