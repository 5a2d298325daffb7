// The speech endpoints of an older server, as its users know them: samples as
// base64 events, and samples as they are. The body is that of /v1/audio/speech;
// the form of the answer is the address's, whatever the body says of it.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ParleyError } from '../../errors.js';
import { errorReply } from '../http/error-reply.js';
import { EventStream, type EventWords } from '../openai/event-stream.js';
import { legacyEventsSchema, legacySamplesSchema } from './legacy-schema.js';
import { answerSpeech, brokenOff } from '../openai/speech-answer.js';
import type { SpeechBody } from '../openai/speech-body.js';
import { readSpeechRequest, type SpeechWish } from '../openai/speech-request.js';
import { bodyLimitOf, type SpeakingParts } from '../openai/speech-routes.js';

interface Route {
  Body: SpeechBody;
}

const FILE_HEADERS = { 'content-disposition': 'attachment; filename="speech.pcm"' };

export function addLegacyRoutes(app: FastifyInstance, parts: SpeakingParts): void {
  const { limits, models } = parts;
  const bodyLimit = bodyLimitOf(limits);
  const read = (request: FastifyRequest<Route>) => {
    models.check(request.body.model);
    return samplesAsked(request.body);
  };

  const eventRoute = { schema: legacyEventsSchema(limits), bodyLimit };
  app.post<Route>('/v1/audio/speech/stream', eventRoute, async (request, reply) => {
    const broken = (error: unknown) => brokenOff(request, parts.log, error);
    const words = legacyWords(request.id, broken);
    const wish = read(request);
    await answerSpeech({ parts, wish, request, reply, form: (sound) => new EventStream(sound, words) });
  });

  const samples = async (request: FastifyRequest<Route>, reply: FastifyReply) =>
    answerSpeech({ parts, wish: read(request), request, reply, headers: FILE_HEADERS });
  const sampleRoute = { schema: legacySamplesSchema(limits), bodyLimit };
  app.post<Route>('/v1/audio/speech/stream/pcm', sampleRoute, samples);
  app.post<Route>('/v1/audio/speech/pcm', sampleRoute, samples);
}

function samplesAsked(body: SpeechBody): SpeechWish {
  return { ...readSpeechRequest({ ...withoutForm(body), response_format: 'pcm' }), delivery: 'stream' };
}

function withoutForm(body: SpeechBody): SpeechBody {
  const { response_format: _format, stream: _stream, stream_format: _form, ...rest } = body;
  return rest;
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
