// Voices that are made over HTTP, under OpenAI's addresses, and speech in the
// voice of a file that comes with the text.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { tagOfStated } from '../../speaking/language-plan.js';
import { ParleyError } from '../../errors.js';
import { stated } from '../../speaking/speech-request.js';
import { untilGone } from '../http/reply-connection.js';
import { fieldNamesOf, type ModelNames, readSpeechRequest, type SpeechBody } from './speech-request.js';
import {
  cloneForm,
  cloneSchema,
  DELETE_VOICE_SCHEMA,
  GET_VOICE_SCHEMA,
  MAKE_VOICE_SCHEMA,
  SAMPLE_FORM,
} from './voices-schema.js';
import { answerSpeech, type SpeechAnswerParts } from './speech-answer.js';
import type { SpeechLimits } from './speech-routes.js';
import { FormBody, readForm, takeForms } from '../http/multipart-form.js';
import { type MadeVoice, voiceAnswer, type VoiceSource } from './speech-source.js';
import type { NewVoice } from '../../voices/voice-store.js';

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
