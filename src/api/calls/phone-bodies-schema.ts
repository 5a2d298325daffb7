// What may be asked of telephone calls, over HTTP and over their sockets.
import type { JsonSchema } from '../http/json-schema.js';
import { MAX_HEADER_VALUE, MAX_HEADERS } from './sip-header-names.js';
import {
  INPUT_FORMAT_FIELD,
  LANGUAGE_FIELD,
  LEXICON_FIELD,
  type SpeechFieldLimits,
  textField,
  VOICE_FIELD,
} from '../openai/speech-fields-schema.js';

const ONE_LINE = '^[^\\u0000-\\u001f\\u007f]*$';

const ADDRESS: JsonSchema = {
  type: 'string',
  minLength: 1,
  maxLength: 256,
  pattern: '^[^\\s\\u0000-\\u001f\\u007f<>"]+$',
  'x-must-be': 'a SIP or tel URI or a number, of at most 256 characters without spaces',
};

const NAME: JsonSchema = { type: 'string', minLength: 1, maxLength: 200, pattern: ONE_LINE };

const HEADERS: JsonSchema = {
  type: 'object',
  maxProperties: MAX_HEADERS,
  additionalProperties: {
    type: 'string',
    maxLength: MAX_HEADER_VALUE,
    pattern: ONE_LINE,
    'x-must-be': `one line of at most ${MAX_HEADER_VALUE} characters`,
  },
  description: 'further header fields of the INVITE; those that SIP itself needs cannot be set',
  examples: [{ 'X-Order': '4711' }],
};

export const IDEMPOTENCY_KEY: JsonSchema = {
  type: 'string',
  pattern: '^[\\u0021-\\u007e]{1,255}$',
  description: 'the same as the header Idempotency-Key',
  'x-must-be': 'a key of 1 to 255 characters of ASCII without spaces',
};

function speechFields(limits: SpeechFieldLimits): Readonly<Record<string, JsonSchema>> {
  return {
    text: textField(limits),
    input_format: INPUT_FORMAT_FIELD,
    voice: VOICE_FIELD,
    language: LANGUAGE_FIELD,
    lexicon: LEXICON_FIELD,
  };
}

export function sayBody(limits: SpeechFieldLimits): JsonSchema {
  return { type: 'object', required: ['text'], properties: speechFields(limits) };
}

export function placeBody(limits: SpeechFieldLimits): JsonSchema {
  const after: JsonSchema = {
    type: 'string',
    enum: ['stay', 'hangup'],
    default: 'stay',
    description: 'what happens once the text was heard',
  };
  return {
    type: 'object',
    required: ['to'],
    examples: [{ to: '+491701234567', say: { text: 'Your order has shipped.', after: 'hangup' } }],
    properties: {
      to: { ...ADDRESS, description: "a SIP or tel URI, or a number that the trunk's domain completes" },
      from: { ...ADDRESS, description: 'the caller; that of the trunk where absent' },
      display_name: { type: 'string', maxLength: 128, pattern: ONE_LINE, 'x-must-be': 'one line of at most 128 characters' },
      trunk: { ...NAME, description: 'a configured trunk; the first that works where absent' },
      say: {
        type: 'object',
        required: ['text'],
        properties: { ...speechFields(limits), after },
        description: 'spoken as soon as the call is answered',
      },
      agent: { ...NAME, description: 'the agent that talks; not together with `say`' },
      headers: HEADERS,
      ring_timeout: { type: 'number', minimum: 1, maximum: 180, default: 60, description: 'seconds' },
      codecs: {
        type: 'array',
        minItems: 1,
        maxItems: 4,
        items: { type: 'string', enum: ['PCMU', 'PCMA', 'G722', 'opus'] },
        description: 'preferred first',
      },
      idempotency: IDEMPOTENCY_KEY,
    },
  }; // prettier-ignore
}

export const DTMF_BODY: JsonSchema = {
  type: 'object',
  required: ['digits'],
  properties: {
    digits: {
      type: 'string',
      pattern: '^[0-9*#A-Da-d,]{1,64}$',
      description: '`,` waits half a second',
      examples: ['1#'],
      'x-must-be': '1 to 64 of 0-9, *, #, A-D and ","',
    },
    duration_ms: { type: 'integer', minimum: 40, maximum: 5000, description: 'of one digit' },
    pause_ms: { type: 'integer', minimum: 40, maximum: 5000, description: 'between two' },
    by: {
      type: 'string',
      enum: ['rtp', 'info'],
      description: 'RFC 4733 where the far end takes it and INFO otherwise, where absent',
    },
  },
};

export const TRANSFER_BODY: JsonSchema = {
  type: 'object',
  properties: {
    to: { ...ADDRESS, description: 'blind: where to' },
    call: { ...NAME, description: 'attended: another connected call of this server' },
  },
};

export const TIMES: JsonSchema = { type: 'integer', minimum: 1, maximum: 100, default: 1 };
const URL_FIELD: JsonSchema = {
  type: 'string',
  maxLength: 2048,
  pattern: '^[hH][tT][tT][pP][sS]?://',
  description: 'of a file, where the server fetches any (REFERENCE_URLS)',
  examples: ['https://example.org/greeting.wav'],
  'x-must-be': 'an http(s) URL of at most 2048 characters',
};

export const PLAY_BODY: JsonSchema = {
  type: 'object',
  properties: {
    audio: {
      type: 'string',
      minLength: 1,
      description: 'a file in base64, bare or as a data: URL',
      examples: ['UklGRiQ='],
    },
    url: URL_FIELD,
    times: TIMES,
  },
};

/** Over a socket: messages are no place for files. */
export const PLAY_MESSAGE: JsonSchema = {
  type: 'object',
  required: ['url'],
  properties: { url: URL_FIELD, times: TIMES },
};

/** Fields beside `file`. */
export const PLAY_FORM: JsonSchema = { type: 'object', properties: { times: TIMES } };
