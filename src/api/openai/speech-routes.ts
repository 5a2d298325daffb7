// The speech endpoints of OpenAI's API: speech from text, and the lists of models and voices.
import type { FastifyInstance } from 'fastify';
import {
  fieldNamesOf,
  readSpeechRequest,
  SPEECH_MODELS,
  type SpeechBody,
  TRANSCRIPTION_MODELS,
} from '../speech/speech-request.js';
import { VOICES_SCHEMA } from './voice-routes.js';
import { INTEGER, jsonAnswer, listOf, object, type RouteSchema, STRING, TAGS } from '../http/json-schema.js';
import { bodyLimitOf, CLEAR_SCHEMA, speechSchema } from '../speech/speech-schema.js';
import { answerSpeech, type SpeakingParts } from '../speech/speech-answer.js';
import { elevenLabsModel } from '../elevenlabs/elevenlabs-voices.js';
import type { ServedWeights, Weights } from '../../config/served-weights.js';
import type { Voice } from '../../engines/engine.js';
import { type SpeechSource, voiceAnswer } from '../speech/speech-source.js';

const WEIGHTS = {
  description: 'published models behind this one; absent for others, whose licence the server does not know',
  ...listOf(
    object({
      name: { ...STRING, description: 'as parley pull takes it' },
      language: STRING,
      licence: STRING,
      credit: STRING,
      link: { ...STRING, description: 'address of the licence' },
      bytes: { ...INTEGER, description: 'size of the files' },
    }),
  ),
};

const MODEL = object(
  {
    id: STRING,
    object: { type: 'string', enum: ['model'] },
    created: { ...INTEGER, description: 'Unix seconds' },
    owned_by: STRING,
    task: { type: 'string', enum: ['text-to-speech', 'automatic-speech-recognition'] },
    sample_rate: { ...INTEGER, description: 'Hz where a request names none' },
    language: listOf(STRING),
    voices: listOf(object({ name: STRING, language: STRING })),
    weights: WEIGHTS,
  },
  ['sample_rate', 'voices', 'weights'],
);

const MODELS_SCHEMA: RouteSchema = {
  summary: 'The models',
  description: 'With the header `xi-api-key` the answer is the list of models that ElevenLabs has.',
  tags: [TAGS.voices],
  response: {
    200: jsonAnswer(
      'every model',
      object({ object: { type: 'string', enum: ['list'] }, data: listOf(MODEL) }),
    ),
  },
};

const AUDIO_MODELS_SCHEMA: RouteSchema = {
  summary: 'The models, in the form that Open WebUI reads',
  tags: [TAGS.voices],
  response: {
    200: jsonAnswer('every model', object({ models: listOf(object({ id: STRING, name: STRING })) })),
  },
};

const MODEL_SCHEMA: RouteSchema = {
  summary: 'One model',
  tags: [TAGS.voices],
  params: object({ id: STRING }),
  response: { 200: jsonAnswer('the model', MODEL) },
};

interface SpeechRouteParts extends SpeakingParts {
  /** Unix seconds that the model claims to be made at: when the server started. */
  readonly startedAt: number;
  /** Listed as a model; undefined if the server recognises no speech. */
  readonly recogniser?: ListedRecogniser | undefined;
  /** Undefined: none are listed. */
  readonly weights?: ServedWeights | undefined;
}

interface ListedRecogniser {
  readonly name: string;
  /** BCP 47 tags. */
  readonly languages: readonly string[];
}

const SAMPLE_RATE = 24_000; // Hz; of a request that names neither a rate nor a format with one of its own

export function addSpeechRoutes(app: FastifyInstance, parts: SpeechRouteParts): void {
  const { speech, voices: made, models, limits, startedAt, recogniser, weights } = parts;
  const options = { schema: speechSchema(limits), bodyLimit: bodyLimitOf(limits) };
  app.post<{ Body: SpeechBody }>('/v1/audio/speech', options, async (request, reply) => {
    const { body, client } = request;
    models.check(body.model);
    const speech = readSpeechRequest(body, client);
    await answerSpeech({ parts, speech, request, reply, names: fieldNamesOf(body) });
  });

  app.post('/cache/clear', { schema: CLEAR_SCHEMA }, () => ({ cleared: speech.clear() }));

  app.get<{ Querystring: { legacy?: string } }>(
    '/v1/audio/voices',
    { schema: VOICES_SCHEMA },
    async ({ query }) => {
      const voices = (await speech.voices()).map(voiceEntry);
      if (isSet(query.legacy)) return { voices: voices.map(({ id }) => id) };
      // Readers in the wild take `voices` or `data`; none of them minds the other.
      return { object: 'list', voices, data: voices, uploaded_voices: made.list().map(voiceAnswer) };
    },
  );

  app.get('/v1/audio/models', { schema: AUDIO_MODELS_SCHEMA }, () => ({
    models: [{ id: models.id, name: models.id }],
  }));

  const voiceModel = async () => ({
    ...(await model(speech, models.id, startedAt)),
    ...listed(weights?.voice),
  });
  const recogniserModel = ({ name, languages }: ListedRecogniser) => {
    const task = 'automatic-speech-recognition';
    const named = { id: name, object: 'model', created: startedAt, owned_by: 'parley' };
    return { ...named, task, language: languages, ...listed(weights?.recogniser) };
  };

  app.get('/v1/models', { schema: MODELS_SCHEMA }, async ({ headers }) => {
    // Only ElevenLabs' clients send this header, and they read a list of another form.
    if (headers['xi-api-key'] !== undefined) return [await elevenLabsModel(speech, models.id, limits)];
    const ears = recogniser === undefined ? [] : [recogniserModel(recogniser)];
    return { object: 'list', data: [await voiceModel(), ...ears] };
  });

  app.get<{ Params: { id: string } }>('/v1/models/:id', { schema: MODEL_SCHEMA }, async ({ params }) => {
    const { id } = params;
    // OpenAI's names stand for the models here, as in the requests that name them.
    if (recogniser !== undefined && (id === recogniser.name || TRANSCRIPTION_MODELS.test(id)))
      return { ...recogniserModel(recogniser), id };
    if (id !== models.id && !SPEECH_MODELS.test(id)) throw models.unknown(id);
    return { ...(await voiceModel()), id };
  });
}

function isSet(flag: string | undefined): boolean {
  return flag !== undefined && /^(?:true|1)$/i.test(flag);
}

function voiceEntry({ name, engine, languages, description, licence, refusal }: Voice) {
  return { id: name, name, engine, languages, description, licence, refusal };
}

async function model(speech: SpeechSource, id: string, created: number) {
  const voices = await speech.voices();
  return {
    id,
    object: 'model',
    created,
    owned_by: 'parley',
    task: 'text-to-speech',
    sample_rate: SAMPLE_RATE,
    language: [...new Set(voices.flatMap(({ languages }) => languages))],
    voices: voices.map(({ name, languages }) => ({ name, language: languages[0] ?? 'und' })),
  };
}

function listed(weights: readonly Weights[] = []): { readonly weights?: readonly Weights[] } {
  return weights.length === 0 ? {} : { weights };
}
