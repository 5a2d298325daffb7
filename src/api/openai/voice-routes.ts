// Serves the voices that are made over HTTP, under OpenAI's addresses, and speech in the voice of a file that
// comes with the text. It also has the schema of the list of voices.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ParleyError } from '../../errors.js';
import { tagOfStated } from '../../speaking/language-plan.js';
import { stated } from '../../stated.js';
import type { NewVoice } from '../../voices/voice-store.js';
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
import { FormBody, readForm, takeForms } from '../http/multipart-form.js';
import { untilGone } from '../http/reply-connection.js';
import { answerSpeech, type SpeechAnswerParts } from '../speech/speech-answer.js';
import {
  fieldNamesOf,
  type ModelNames,
  readSpeechRequest,
  type SpeechBody,
} from '../speech/speech-request.js';
import {
  AUDIO_ANSWER,
  LANGUAGE_FIELD,
  REFERENCE_FIELDS,
  speechBody,
  type SpeechFieldLimits,
  type SpeechLimits,
} from '../speech/speech-schema.js';
import { type MadeVoice, voiceAnswer, type VoiceSource } from '../speech/speech-source.js';

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

const VOICE = object(
  {
    id: STRING,
    name: STRING,
    engine: STRING,
    languages: listOf({ ...STRING, description: 'BCP 47 tag' }),
    description: STRING,
    licence: { ...STRING, description: 'of the recording that the voice was made from' },
    refusal: { ...STRING, description: 'why the voice does not speak on this server' },
  },
  ['licence', 'refusal'],
);

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
const SAMPLE_FORM: JsonSchema = {
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

const MAKE_VOICE_SCHEMA: RouteSchema = {
  summary: 'Make a voice',
  description:
    'From a sample of 1 to 60 s in WAV, MP3, FLAC, Ogg Opus or WebM Opus, or from a description. 501 where no engine of the server can speak with such a voice.',
  tags: [TAGS.voices],
  body: { content: { 'application/json': { schema: PROMPT_BODY } } },
  otherBodies: { 'multipart/form-data': { schema: withFile(SAMPLE_FORM, 'audio_sample') } },
  response: { 200: jsonAnswer('the voice', MADE_VOICE) },
};

const VOICE_ID = object({ id: { ...STRING, description: 'id or name' } });

const GET_VOICE_SCHEMA: RouteSchema = {
  summary: 'One voice that was made',
  tags: [TAGS.voices],
  params: VOICE_ID,
  response: { 200: jsonAnswer('the voice', MADE_VOICE) },
};

const DELETE_VOICE_SCHEMA: RouteSchema = {
  summary: 'Let go of a voice that was made',
  tags: [TAGS.voices],
  params: VOICE_ID,
  response: {
    200: jsonAnswer('it is gone', object({ id: STRING, deleted: BOOLEAN, object: STRING, success: BOOLEAN })),
  },
};

/** The fields of speech, with `text` as another name of `input`, and no voice but the file's. */
function cloneForm(limits: SpeechFieldLimits): JsonSchema {
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

function cloneSchema(limits: SpeechFieldLimits): RouteSchema {
  return {
    summary: 'Speak a text in the voice of a file that comes with it',
    tags: [TAGS.speech],
    otherBodies: { 'multipart/form-data': { schema: withFile(cloneForm(limits), 'ref_audio') } },
    response: { 200: AUDIO_ANSWER },
  };
}

interface VoiceRouteParts extends SpeechAnswerParts {
  readonly voices: VoiceSource;
  readonly limits: SpeechLimits;
  readonly models: ModelNames;
}

const VOICES = '/v1/audio/voices';
const FIELD_BYTES = 1024 * 1024; // all fields except the file
const SAMPLE_NAMES = ['audio_sample'];
const CLONE_NAMES = ['ref_audio', 'file', 'audio', 'reference_audio'];

type OneVoice = { Params: { id: string } };

/** Registers on a scope of its own: forms are no other routes' business. */
export function addVoiceRoutes(app: FastifyInstance, parts: VoiceRouteParts): void {
  const { voices, limits } = parts;
  takeForms(app);
  const bodyLimit = limits.maxUploadBytes + FIELD_BYTES;

  app.post(VOICES, { schema: MAKE_VOICE_SCHEMA, bodyLimit }, async (request, reply) => {
    const isForm = request.body instanceof FormBody;
    if (request.body === undefined) {
      throw new ParleyError(
        'UNSUPPORTED_MEDIA_TYPE',
        'the body must be multipart/form-data or application/json',
      );
    }
    const made = isForm
      ? await fromSample(request, parts, untilGone(reply))
      : await fromPrompt(request, voices, untilGone(reply));
    return voiceAnswer(made);
  });

  app.get<OneVoice>(`${VOICES}/:id`, { schema: GET_VOICE_SCHEMA }, ({ params }, reply) => {
    const voice = voices.find(params.id);
    if (voice === undefined) throw unknown();
    return reply.send(voiceAnswer(voice));
  });

  app.delete<OneVoice>(`${VOICES}/:id`, { schema: DELETE_VOICE_SCHEMA }, async ({ params }) => {
    const id = voices.find(params.id)?.id;
    if (id === undefined || !(await voices.remove(id))) throw unknown();
    return { id, deleted: true, object: 'audio.voice.deleted', success: true };
  });

  addCloneRoute(app, parts, bodyLimit);
}

function addCloneRoute(app: FastifyInstance, parts: VoiceRouteParts, bodyLimit: number): void {
  const { voices, limits, models } = parts;
  const form = cloneForm(limits);
  const files = { names: CLONE_NAMES, maxBytes: limits.maxUploadBytes };
  const options = { schema: cloneSchema(limits), bodyLimit };
  app.post('/v1/audio/speech/clone', options, async (request, reply) => {
    voices.checkAble('sample', undefined, 'ref_audio');
    const { fields, file } = readForm(request, form, files);
    if (file === undefined) throw missing('ref_audio');
    const { text, ...body } = fields as unknown as SpeechBody & { readonly text?: string };
    models.check(body.model);
    const input = body.input ?? text;
    if (input === undefined)
      throw new ParleyError('INVALID_FIELD', '"input" must be a text', { field: 'input' });
    const { ref_text: said, x_vector_only_mode: xVectorOnly } = body;
    const sample = { source: file, ...stated({ text: said, xVectorOnly }) };
    const speech = { ...readSpeechRequest({ ...body, input }, request.client), sample };
    await answerSpeech({ parts, speech, request, reply, names: fieldNamesOf({ ...body, input }) });
  });
}

async function fromSample(
  request: FastifyRequest,
  parts: VoiceRouteParts,
  signal: AbortSignal,
): Promise<MadeVoice> {
  const { voices, limits } = parts;
  voices.checkAble('sample', undefined, 'audio_sample'); // before anything of the form is looked at
  const files = { names: SAMPLE_NAMES, maxBytes: limits.maxUploadBytes };
  const { fields, file } = readForm(request, SAMPLE_FORM, files);
  if (file === undefined) throw missing('audio_sample');
  const { ref_text: text, speaker_description: description = fields['description'] } = fields;
  const said = text === undefined ? {} : { text };
  const voice = { ...noted(fields), ...said, kind: 'audio_sample' as const, description };
  return voices.make(withoutGaps(voice), file, signal);
}

function fromPrompt(request: FastifyRequest, voices: VoiceSource, signal: AbortSignal): Promise<MadeVoice> {
  const fields = request.body as Readonly<Record<string, unknown>>;
  const { prompt, description } = fields;
  const voice = { ...noted(fields), kind: 'prompt' as const, prompt, description };
  return voices.make(withoutGaps(voice), undefined, signal);
}

function noted({ name, consent, language }: Readonly<Record<string, unknown>>) {
  return { name, consent, language: typeof language === 'string' ? tagOfStated(language) : undefined };
}

// Drops undefined fields; the schema has validated the value.
function withoutGaps(voice: object): NewVoice {
  return Object.fromEntries(
    Object.entries(voice).filter(([, value]) => value !== undefined),
  ) as unknown as NewVoice;
}

function missing(field: string): ParleyError {
  return new ParleyError('INVALID_FIELD', `"${field}" must be a file with a sample of the voice`, { field });
}

function unknown(): ParleyError {
  return new ParleyError('NOT_FOUND', 'there is no voice of this id or name that was made here');
}
