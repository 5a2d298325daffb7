// The speech endpoint that jambonz posts to (custom TTS, non-streaming). The answer is MP3: jambonz prefers
// it, and its FreeSWITCH modules ask for nothing else.
//
//   {"language", "voice", "type": "text" | "ssml", "text"} ──▶ audio/mpeg, sent while it is made
//
// https://docs.jambonz.org/guides/features/custom-tts-providers (non-streaming HTTP API)
import type { FastifyInstance } from 'fastify';
import { MP3_RATES_HZ } from '../../codecs/mp3.js';
import { stated } from '../../stated.js';
import { BYTES, type JsonSchema, type RouteSchema, SPEECH_REFUSALS, TAGS } from '../http/json-schema.js';
import { answerSpeech, type SpeakingParts } from '../speech/speech-answer.js';
import { type FieldNames, readSpeechRequest, renamed } from '../speech/speech-request.js';
import { AUDIO_ANSWER, LANGUAGE_FIELD, type SpeechFieldLimits, textField } from '../speech/speech-schema.js';

/** The body as its schema lets it through. */
interface JambonzBody {
  readonly text: string;
  readonly type?: 'text' | 'ssml';
  readonly voice?: string;
  readonly language?: string;
  /** Hz. */
  readonly samplingRate?: number;
}

const VOICE: JsonSchema = {
  type: 'string',
  maxLength: 200,
  description: 'a voice of `/v1/audio/voices` or one of OpenAI; the default voice if absent or empty',
};

/** jambonz's names of fields that have other names in POST /v1/audio/speech. */
const NAMES: FieldNames = { input: 'text', sample_rate: 'samplingRate' };

function jambonzSchema(limits: SpeechFieldLimits): RouteSchema {
  const { headers = {} } = AUDIO_ANSWER;
  return {
    summary: 'Speak a text for jambonz',
    description: 'The custom TTS API of jambonz. The WebSocket at the same path is its streaming API.',
    tags: [TAGS.speech],
    body: {
      type: 'object',
      required: ['text'],
      examples: [{ language: 'en-US', voice: 'alloy', type: 'text', text: 'Your order has shipped.' }],
      properties: {
        text: textField(limits),
        type: {
          type: 'string',
          enum: ['text', 'ssml'],
          default: 'text',
          description: 'a text that begins with `<speak` is SSML in any case',
        },
        voice: VOICE,
        language: LANGUAGE_FIELD,
        samplingRate: { type: 'integer', enum: MP3_RATES_HZ, default: 24_000, description: 'Hz' },
      },
    },
    response: {
      200: { description: 'the sound', headers, content: { 'audio/mpeg': { schema: BYTES } } },
      ...SPEECH_REFUSALS,
    },
  };
}

export function addJambonzRoutes(app: FastifyInstance, parts: SpeakingParts): void {
  const options = { schema: jambonzSchema(parts.limits) };
  app.post<{ Body: JambonzBody }>('/v1/jambonz/tts', options, async (request, reply) => {
    const { text: input, type, voice, language, samplingRate } = request.body;
    try {
      const speech = readSpeechRequest(
        {
          input,
          response_format: 'mp3',
          // jambonz calls a text SSML only if it begins with "<speak>", without attributes.
          input_format: type === 'ssml' ? 'ssml' : 'auto',
          ...stated({ voice: voice === '' ? undefined : voice, language, sample_rate: samplingRate }),
        },
        request.client,
      );
      await answerSpeech({ parts, speech, request, reply, names: NAMES });
    } catch (error) {
      throw renamed(error, NAMES);
    }
  });
}
