// The speech endpoints of ElevenLabs' HTTP API: a text in a voice, as sound or
// with the time of each character.
//
// Errors are OpenAI's object, as everywhere here, and beside it "detail", which
// is what readers of this API look for.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ELEVENLABS_NAMES, type ElevenLabsBody, readElevenLabsRequest } from './elevenlabs-request.js';
import { addElevenLabsVoices, type ElevenLabsVoices } from './elevenlabs-voices.js';
import type { ErrorBody } from '../http/error-reply.js';
import { renamed } from '../speech/speech-request.js';
import { textToSpeechSchema, timedSpeechSchema, timedStreamSchema } from './elevenlabs-schema.js';
import { answerSpeech, type SpeakingParts } from '../speech/speech-answer.js';
import { timedLines, timedObject } from './timed-sound.js';
import type { SoundSource } from '../../speaking/sound.js';

interface Route {
  Params: { voice_id: string };
  Querystring: { output_format?: string };
  Body: ElevenLabsBody;
}

type Form = (sound: SoundSource, text: string) => SoundSource;

const SPEECH = '/v1/text-to-speech/:voice_id';

/** In a scope of its own: its hooks are for these routes only. */
export function addElevenLabsRoutes(
  scope: FastifyInstance,
  parts: SpeakingParts,
  voices: ElevenLabsVoices = new Map(),
): void {
  const { limits, models } = parts;
  scope.addHook('preSerialization', async (_request, _reply, payload) => withDetail(payload));

  const voiceOf = ({ voice_id: id }: Route['Params']) => voices.get(id) ?? id;
  const speak = async (request: FastifyRequest<Route>, reply: FastifyReply, form?: Form) => {
    const { params, query, body } = request;
    try {
      models.check(body.model_id);
      const plain = readElevenLabsRequest(body, voiceOf(params), query.output_format);
      const speech = { ...plain, client: request.client };
      const how = form === undefined ? {} : { form: (sound: SoundSource) => form(sound, body.text) };
      await answerSpeech({ parts, speech, request, reply, names: ELEVENLABS_NAMES, ...how });
    } catch (error) {
      throw renamed(error, ELEVENLABS_NAMES);
    }
  };

  const plain = { schema: textToSpeechSchema(limits) };
  scope.post<Route>(SPEECH, plain, (request, reply) => speak(request, reply));
  scope.post<Route>(`${SPEECH}/stream`, plain, (request, reply) => speak(request, reply));
  const timed = { schema: timedSpeechSchema(limits) };
  scope.post<Route>(`${SPEECH}/with-timestamps`, timed, (request, reply) =>
    speak(request, reply, timedObject),
  );
  const stream = { schema: timedStreamSchema(limits) };
  scope.post<Route>(`${SPEECH}/stream/with-timestamps`, stream, (request, reply) =>
    speak(request, reply, timedLines),
  );
  addElevenLabsVoices(scope, parts.speech, voices);
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
