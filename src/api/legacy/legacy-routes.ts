// The speech endpoints of an older server, as its users know them: samples as
// base64 events, and samples as they are. The body is that of /v1/audio/speech;
// the form of the answer is the address's, whatever the body says of it.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ParleyError } from '../../errors.js';
import type { SoundSource } from '../../speaking/sound.js';
import { errorReply } from '../http/error-reply.js';
import { EventStream, type EventWords } from '../openai/event-stream.js';
import { legacyEventsSchema, legacySamplesSchema } from './legacy-schema.js';
import { answerSpeech, brokenOff } from '../openai/speech-answer.js';
import { fieldNamesOf, readSpeechRequest, type SpeechBody } from '../openai/speech-request.js';
import { bodyLimitOf, type SpeakingParts } from '../openai/speech-routes.js';

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
