// Calls of browsers: an offer in, an answer out.
import { BYTES, NO_BODY, object, type RouteSchema, STRING, TAGS } from '../http/json-schema.js';

const CALL_ID = object({ id: STRING });

export const OPEN_CALL_SCHEMA: RouteSchema = {
  summary: 'Open a call',
  tags: [TAGS.calls],
  otherBodies: {
    'application/sdp': { schema: { ...STRING, description: 'the offer' } },
    'multipart/form-data': {
      schema: object({ sdp: BYTES, session: { ...STRING, description: 'a JSON object' } }, ['session']),
    },
  },
  response: {
    201: {
      description: 'the answer',
      headers: { Location: { ...STRING, description: "the call's own address" } },
      content: { 'application/sdp': { schema: STRING } },
    },
  },
};

export const CALL_OPTIONS_SCHEMA: RouteSchema = {
  summary: 'Which bodies an offer may come in',
  tags: [TAGS.calls],
  response: { 200: { description: 'in Accept-Post', headers: { 'Accept-Post': STRING } } },
};

export const END_CALL_SCHEMA: RouteSchema = {
  summary: 'End a call',
  tags: [TAGS.calls],
  params: CALL_ID,
  response: { 204: NO_BODY },
};

export const HANG_UP_SCHEMA: RouteSchema = {
  summary: 'End a call, in the way of OpenAI',
  tags: [TAGS.calls],
  params: CALL_ID,
  response: { 200: NO_BODY },
};
