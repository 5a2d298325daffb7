// The speech endpoints of an older server, as its users know them: samples as
// base64 events, and samples as they are. The body is that of /v1/audio/speech;
// the form of the answer is the address's, whatever the body says of it.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ParleyError } from '../errors.js';
import type { Log } from '../observe/log.js';
import { errorReply } from './error-reply.js';
import { EventStream, type EventWords } from './event-stream.js';
import { readSpeechRequest } from './speech-request.js';
import { rawHeaders } from './speech-routes.js';
import {
  renamedFields,
  sendSpoken,
  spokenRequest,
  type SpokenReply,
  type SpokenReplyParts,
} from './spoken-reply.js';

const LIVE_HEADERS = { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' };
const FILE_HEADERS = { ...LIVE_HEADERS, 'content-disposition': 'attachment; filename="speech.pcm"' };

export function addLegacyRoutes(app: FastifyInstance, parts: SpokenReplyParts): void {
  const answer = async (request: FastifyRequest, reply: FastifyReply, how: Omit<SpokenReply, 'asked'>) => {
    const wish = readSpeechRequest(samplesAsked(request.body));
    const headers = { ...rawHeaders(wish.format, wish.sampleRate), ...how.headers };
    try {
      await sendSpoken(parts, request, reply, {
        ...how,
        headers,
        asked: spokenRequest(wish, request.client),
      });
    } catch (error) {
      throw renamedFields(error, { text: 'input' });
    }
  };

  app.post('/v1/audio/speech/stream', (request, reply) =>
    answer(request, reply, {
      headers: LIVE_HEADERS,
      form: (sound) => new EventStream(sound, legacyWords(request.id, parts.log)),
    }),
  );

  for (const url of ['/v1/audio/speech/stream/pcm', '/v1/audio/speech/pcm']) {
    app.post(url, (request, reply) =>
      answer(request, reply, { headers: { ...FILE_HEADERS, 'content-type': 'audio/pcm' } }),
    );
  }
}

/** The body with the form of these addresses in the place of its own; one that is no object is refused by its reader. */
function samplesAsked(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  return { ...body, response_format: 'pcm', stream_format: null, stream: null };
}

/** Every event is one line of data: base64, or a word in brackets. */
function legacyWords(requestId: string, log: Log): EventWords {
  return {
    chunk: (bytes) => event(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')),
    done: () => event('[DONE]'),
    failed: (error: ParleyError) => {
      log.warn({ requestId, err: error }, 'speech broken off');
      return event(`[ERROR] ${errorReply(error, requestId).body.error.message}`);
    },
  };
}

function event(data: string): string {
  return `data: ${data.replace(/\s+/g, ' ')}\n\n`;
}
