// The speech endpoints of ElevenLabs' HTTP API: a text in a voice, as sound or
// with the time of each character.
//
// Errors are OpenAI's object, as everywhere here, and beside it "detail", which
// is what readers of this API look for.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AudioStream } from './audio-replies.js';
import { addElevenLabsVoices } from './elevenlabs-voices.js';
import { inTheirWords, readElevenLabsRequest } from './elevenlabs-request.js';
import type { ErrorBody } from './error-reply.js';
import { rawHeaders } from './speech-routes.js';
import { sendSpoken, spokenRequest, type SpokenReplyParts } from './spoken-reply.js';
import { timedLines, timedObject } from './timed-sound.js';

interface Spoken {
  Params: { voice_id: string };
}

type Form = (sound: AudioStream, text: string) => AudioStream;

const SPEECH = '/v1/text-to-speech/:voice_id';
const LIVE_HEADERS = { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' };

/** In a scope of its own: its hooks are for these routes only. */
export function addElevenLabsRoutes(scope: FastifyInstance, parts: SpokenReplyParts): void {
  scope.addHook('preSerialization', async (_request, _reply, payload) => withDetail(payload));

  const answer = async (request: FastifyRequest<Spoken>, reply: FastifyReply, form?: Form) => {
    const wish = readElevenLabsRequest(request.params.voice_id, request.query, request.body);
    const { format, sampleRate, text } = wish;
    const headers = {
      'content-type': format.contentType,
      ...rawHeaders(format, sampleRate),
      ...LIVE_HEADERS,
    };
    const asked = spokenRequest(wish, request.client);
    try {
      await sendSpoken(
        parts,
        request,
        reply,
        form === undefined
          ? { asked, headers }
          : { asked, headers: LIVE_HEADERS, form: (sound) => form(sound, text) },
      );
    } catch (error) {
      throw inTheirWords(error);
    }
  };

  for (const url of [SPEECH, `${SPEECH}/stream`]) {
    scope.post<Spoken>(url, (request, reply) => answer(request, reply));
  }
  scope.post<Spoken>(`${SPEECH}/with-timestamps`, (request, reply) => answer(request, reply, timedObject));
  scope.post<Spoken>(`${SPEECH}/stream/with-timestamps`, (request, reply) =>
    answer(request, reply, timedLines),
  );
  addElevenLabsVoices(scope, parts.speech);
}

// The names that their documents have for what clients may want to tell apart.
const STATUSES: Readonly<Record<string, string>> = {
  voice_unknown: 'voice_not_found',
  rate_limit_exceeded: 'too_many_concurrent_requests',
  engine_busy: 'system_busy',
};

function withDetail(payload: unknown): unknown {
  if (typeof payload !== 'object' || payload === null || !('error' in payload)) return payload;
  const { error } = payload as ErrorBody;
  const code = error.code ?? error.type;
  return { ...payload, detail: { status: STATUSES[code] ?? code, message: error.message } };
}
