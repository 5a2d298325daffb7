// The speech endpoints of an older server.
import {
  type Answer,
  BYTES,
  type JsonSchema,
  type RouteSchema,
  SPEECH_REFUSALS,
  STRING,
  TAGS,
} from '../http/json-schema.js';
import type { SpeechFieldLimits } from '../openai/speech-fields-schema.js';
import { speechBody } from '../openai/speech-schema.js';

// The form of the answer is the address's: what a body says of it is not even looked at.
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

export function legacyEventsSchema(limits: SpeechFieldLimits): RouteSchema {
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

export function legacySamplesSchema(limits: SpeechFieldLimits): RouteSchema {
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
