// Documents and validates the telephone routes: the schema of each route and of its answers.
import {
  type Answer,
  BOOLEAN,
  BYTES,
  INTEGER,
  jsonAnswer,
  listOf,
  NUMBER,
  object,
  type RouteSchema,
  STRING,
  TAGS,
} from '../http/json-schema.js';
import { DTMF_BODY, placeBody, PLAY_BODY, sayBody, TIMES, TRANSFER_BODY } from './telephone-requests.js';
import type { SpeechFieldLimits } from '../openai/speech-schema.js';

const MAX_LISTED = 1000;
export const DEFAULT_LISTED = 100;

const AT = { ...NUMBER, description: 'Unix seconds, to the millisecond' };

const END = object(
  {
    reason: {
      type: 'string',
      enum: [
        'peer hung up',
        'we hung up',
        'cancelled',
        'rejected',
        'no answer',
        'failed',
        'transferred',
        'media timeout',
        'silence',
        'server closing',
      ],
    },
    status: { ...INTEGER, description: 'of SIP' },
    cause: { ...INTEGER, description: 'of Q.850' },
    detail: STRING,
  },
  ['status', 'cause', 'detail'],
);

const CALL = object(
  {
    object: { type: 'string', enum: ['call'] },
    id: STRING,
    direction: { type: 'string', enum: ['inbound', 'outbound'] },
    state: { type: 'string', enum: ['dialling', 'ringing', 'connected', 'held', 'ended'] },
    to: STRING,
    from: STRING,
    display_name: STRING,
    headers: {
      type: 'object',
      additionalProperties: STRING,
      description:
        'header fields of an inbound call that SIP_CALL_HEADERS lets through; absent where there are none',
    },
    trunk: STRING,
    codec: { type: 'string', enum: ['PCMU', 'PCMA', 'G722', 'opus'] },
    srtp: { type: 'string', enum: ['none', 'sdes', 'dtls'] },
    created_at: AT,
    answered_at: AT,
    ended_at: AT,
    end: END,
    digits: {
      ...listOf(object({ digit: STRING, duration_ms: NUMBER, at: AT })),
      description: 'that the far end pressed, oldest first; the latest 1000',
    },
  },
  ['display_name', 'headers', 'trunk', 'codec', 'srtp', 'answered_at', 'ended_at', 'end'],
);

const REFUSALS: Readonly<Record<number, Answer>> = {
  501: { description: 'the telephone is off; the message names the variable that turns it on' },
};
const ON_CALL: Readonly<Record<number, Answer>> = {
  404: { description: 'nobody knows the call' },
  409: { description: 'the state of the call forbids it' },
  ...REFUSALS,
};
const CALL_ID = object({ id: STRING });
const TAG = [TAGS.telephone] as const;
const UTTERANCE = object({
  object: { type: 'string', enum: ['call.utterance'] },
  call: STRING,
  utterance: { ...INTEGER, description: 'its number in the events of the call' },
});

function placeSchema(limits: SpeechFieldLimits): RouteSchema {
  return {
    summary: 'Place a call',
    description:
      'Answers as soon as the call is on its way. With the header `Idempotency-Key` the same request is answered with the same call for 24 hours, however often it is sent.',
    tags: TAG,
    body: placeBody(limits),
    response: {
      201: {
        ...jsonAnswer('the call', CALL),
        headers: {
          Location: { ...STRING, description: "the call's own address" },
          'Idempotent-Replayed': { ...STRING, description: '`true` where the call was placed before' },
        },
      },
      422: { description: 'the key came with another body before' },
      503: { description: 'as many calls are open as may be, or no trunk works' },
      ...REFUSALS,
    },
  };
}

const LIST_CALLS_SCHEMA: RouteSchema = {
  summary: 'The calls',
  description: 'Newest first. Those that ended lately are among them.',
  tags: TAG,
  querystring: {
    type: 'object',
    properties: {
      limit: {
        type: 'string',
        pattern: '^([1-9][0-9]{0,2}|1000)$',
        description: `how many, ${DEFAULT_LISTED} where absent`,
        'x-must-be': `a whole number from 1 to ${MAX_LISTED}`,
      },
    },
  },
  response: {
    200: jsonAnswer(
      'calls',
      object({ object: { type: 'string', enum: ['list'] }, data: listOf(CALL), has_more: BOOLEAN }),
    ),
    ...REFUSALS,
  },
};

const GET_CALL_SCHEMA: RouteSchema = {
  summary: 'One call',
  tags: TAG,
  params: CALL_ID,
  response: { 200: jsonAnswer('the call', CALL), ...REFUSALS },
};

const END_PHONE_CALL_SCHEMA: RouteSchema = {
  summary: 'Hang up',
  tags: TAG,
  params: CALL_ID,
  response: { 200: jsonAnswer('the call, which is over', CALL), ...ON_CALL },
};

function saySchema(limits: SpeechFieldLimits): RouteSchema {
  return {
    summary: 'Speak a text in a call, after those that were given before',
    tags: TAG,
    params: CALL_ID,
    body: sayBody(limits),
    response: { 202: jsonAnswer('it will be spoken', UTTERANCE), ...ON_CALL },
  };
}

const PLAY_SCHEMA: RouteSchema = {
  summary: 'Play a sound in a call, after what was given before',
  description:
    'A file of at most 5 minutes in WAV, MP3, Ogg Opus or FLAC: in JSON, as a form, or as the body itself with `?times=`.',
  tags: TAG,
  params: CALL_ID,
  querystring: {
    type: 'object',
    properties: {
      times: {
        type: 'string',
        pattern: '^([1-9][0-9]?|100)$',
        description: 'of a body that is the file itself',
        'x-must-be': 'a whole number from 1 to 100',
      },
    },
  },
  body: { content: { 'application/json': { schema: PLAY_BODY } } },
  otherBodies: {
    'multipart/form-data': { schema: object({ file: BYTES, times: TIMES }, ['times']) },
    'audio/*': { schema: BYTES },
    'application/octet-stream': { schema: BYTES },
  },
  response: { 202: jsonAnswer('it will be played', UTTERANCE), ...ON_CALL },
};

const INTERRUPT_SCHEMA: RouteSchema = {
  summary: 'Drop everything that is being spoken or waits for it',
  tags: TAG,
  params: CALL_ID,
  response: {
    200: jsonAnswer(
      'what was heard of it',
      object({
        object: { type: 'string', enum: ['call.interruption'] },
        call: STRING,
        text: STRING,
        utterances: listOf(object({ utterance: INTEGER, text: STRING, sent_ms: NUMBER })),
      }),
    ),
    ...ON_CALL,
  },
};

const DTMF_SCHEMA: RouteSchema = {
  summary: 'Press keys',
  description: 'Answers when the last one was sent.',
  tags: TAG,
  params: CALL_ID,
  body: DTMF_BODY,
  response: {
    200: jsonAnswer(
      'all of them were sent',
      object({ object: { type: 'string', enum: ['call.dtmf'] }, call: STRING, digits: STRING }),
    ),
    ...ON_CALL,
  },
};

const TRANSFER_SCHEMA: RouteSchema = {
  summary: 'Transfer a call',
  description: 'Either `to` or `call`. Answers when the far end has said what became of it.',
  tags: TAG,
  params: CALL_ID,
  body: TRANSFER_BODY,
  response: {
    200: jsonAnswer(
      'what became of it',
      object({
        object: { type: 'string', enum: ['call.transfer'] },
        call: STRING,
        accepted: BOOLEAN,
        status: { ...INTEGER, description: 'the last SIP status of the transfer' },
      }),
    ),
    ...ON_CALL,
  },
};

function holdSchema(held: boolean): RouteSchema {
  return {
    summary: held ? 'Hold a call' : 'Take a call back from hold',
    tags: TAG,
    params: CALL_ID,
    response: { 200: jsonAnswer('the call', CALL), ...ON_CALL },
  };
}

const CALL_EVENTS_SCHEMA: RouteSchema = {
  summary: 'What happens in a call, as server-sent events',
  description:
    'Each event has an `id`; `Last-Event-ID` or `after` continues after it. The last one is the state `ended`; 204 if the client has that one already.',
  tags: TAG,
  params: CALL_ID,
  querystring: {
    type: 'object',
    properties: {
      after: {
        type: 'string',
        pattern: '^[0-9]{1,15}$',
        description: 'the id of the last event that is known',
        'x-must-be': 'the id of an event',
      },
    },
  },
  response: {
    200: { description: 'the events', content: { 'text/event-stream': { schema: STRING } } },
    204: { description: 'the call is over, and there is nothing more to tell' },
    ...REFUSALS,
  },
};

/** The schema of each route, by command. */
export const CALL_SCHEMAS = {
  place: placeSchema,
  list: LIST_CALLS_SCHEMA,
  get: GET_CALL_SCHEMA,
  end: END_PHONE_CALL_SCHEMA,
  say: saySchema,
  play: PLAY_SCHEMA,
  interrupt: INTERRUPT_SCHEMA,
  dtmf: DTMF_SCHEMA,
  transfer: TRANSFER_SCHEMA,
  hold: holdSchema,
  events: CALL_EVENTS_SCHEMA,
};
