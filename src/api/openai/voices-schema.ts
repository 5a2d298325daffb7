// Voices that are made over HTTP: from a sample, or from a description.
import {
  BOOLEAN,
  BYTES,
  jsonAnswer,
  type JsonSchema,
  object,
  type RouteSchema,
  STRING,
  TAGS,
} from '../http/json-schema.js';
import { MADE_VOICE } from './made-voice-schema.js';
import { LANGUAGE_FIELD, REFERENCE_FIELDS, type SpeechFieldLimits } from './speech-fields-schema.js';
import { AUDIO_ANSWER, speechBody } from './speech-schema.js';

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
