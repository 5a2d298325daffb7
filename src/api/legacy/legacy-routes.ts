// The speech endpoints of an older server: samples as base64 events, and samples as they are. The body is
// that of /v1/audio/speech; the address alone decides the form of the answer.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ParleyError } from '../../errors.js';
import type { SoundSource } from '../../speaking/sound.js';
import { errorReply } from '../http/error-reply.js';
import {
  type Answer,
  BYTES,
  type JsonSchema,
  type RouteSchema,
  SPEECH_REFUSALS,
  STRING,
  TAGS,
} from '../http/json-schema.js';
import { EventStream, type EventWords } from '../speech/sound-forms.js';
import { answerSpeech, brokenOff, type SpeakingParts } from '../speech/speech-answer.js';
import { fieldNamesOf, readSpeechRequest, type SpeechBody } from '../speech/speech-request.js';
import { bodyLimitOf, speechBody, type SpeechFieldLimits } from '../speech/speech-schema.js';

// These fields of a body are not read.
const FORM_FIELDS = ['response_format', 'stream', 'stream_format', 'non_streaming_mode'];

function samplesBody(limits: SpeechFieldLimits): JsonSchema {
  const { properties = {}, ...rest } = speechBody(limits);
  const fields = Object.entries(properties).filter(([name]) => !FORM_FIELDS.includes(name));
  return { ...rest, properties: Object.fromEntries(fields) };
}

const NATURE: NonNullable<Answer['headers']> = {
  'X-PCM-Sample-Rate': { ...STRING, description: 'Hz' },
  'X-PCM-Bit-Depth': { type: 'string', enum: ['16'] },
  'X-PCM-Channels': { type: 'string', enum: ['1'] },
};

function legacyEventsSchema(limits: SpeechFieldLimits): RouteSchema {
  const description = '`data: <base64 of 16-bit samples>` …, then `data: [DONE]`, or `data: [ERROR] <why>`';
  return {
    summary: 'Speak a text as events of raw samples',
    tags: [TAGS.speech],
    body: samplesBody(limits),
    response: {
      200: { description, headers: NATURE, content: { 'text/event-stream': { schema: STRING } } },
      ...SPEECH_REFUSALS,
    },
  };
}

function legacySamplesSchema(limits: SpeechFieldLimits): RouteSchema {
  const description = '16-bit little-endian samples of one channel, sent while they are made';
  const headers = { ...NATURE, 'Content-Disposition': STRING };
  return {
    summary: 'Speak a text as raw samples',
    tags: [TAGS.speech],
    body: samplesBody(limits),
    response: {
      200: { description, headers, content: { 'audio/pcm': { schema: BYTES } } },
      ...SPEECH_REFUSALS,
    },
  };
}

interface Route {
  Body: SpeechBody;
}

const FILE_HEADERS = { 'content-disposition': 'attachment; filename="speech.pcm"' };

export function addLegacyRoutes(app: FastifyInstance, parts: SpeakingParts): void {
  const { limits, models } = parts;
  const bodyLimit = bodyLimitOf(limits);
  const read = (request: FastifyRequest<Route>) => {
    const { body, client } = request;
    models.check(body.model);
    const speech = readSpeechRequest({ ...withoutForm(body), response_format: 'pcm' }, client);
    return { speech, names: fieldNamesOf(body) };
  };

  const eventRoute = { schema: legacyEventsSchema(limits), bodyLimit };
  app.post<Route>('/v1/audio/speech/stream', eventRoute, async (request, reply) => {
    const broken = (error: unknown) => brokenOff(request, parts.log, error);
    const words = legacyWords(request.id, broken);
    const form = (sound: SoundSource) => new EventStream(sound, words);
    await answerSpeech({ parts, ...read(request), request, reply, form });
  });

  const samples = async (request: FastifyRequest<Route>, reply: FastifyReply) =>
    answerSpeech({ parts, ...read(request), request, reply, headers: FILE_HEADERS });
  const sampleRoute = { schema: legacySamplesSchema(limits), bodyLimit };
  app.post<Route>('/v1/audio/speech/stream/pcm', sampleRoute, samples);
  app.post<Route>('/v1/audio/speech/pcm', sampleRoute, samples);
}

function withoutForm(body: SpeechBody): SpeechBody {
  const { response_format: _format, stream: _stream, stream_format: _form, ...rest } = body;
  const { non_streaming_mode: _whole, ...fields } = rest;
  return fields;
}

/** Every event is one line of data: base64, or a word in brackets. */
function legacyWords(requestId: string, broken: (error: ParleyError) => void): EventWords {
  return {
    chunk: (bytes) => event(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')),
    done: () => event('[DONE]'),
    failed: (error) => {
      broken(error);
      return event(`[ERROR] ${errorReply(error, requestId).body.error.message}`);
    },
  };
}

function event(data: string): string {
  return `data: ${data.replace(/\s+/g, ' ')}\n\n`;
}
