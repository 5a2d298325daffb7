// Writes the errors of WHIP and WHEP as problem details (RFC 9457), which RFC 9725 section 4.1 names. Other
// routes have OpenAI's error object.
import type { FastifyInstance } from 'fastify';
import { STATUS_CODES } from 'node:http';
import type { ErrorBody } from './error-reply.js';
import { INTEGER, object, STRING } from './json-schema.js';

export const PROBLEM_TYPE = 'application/problem+json';

/** The absent member `type` means that `title` is the phrase of the status. */
export const PROBLEM = object(
  {
    title: STRING,
    status: INTEGER,
    detail: { ...STRING, description: 'for a person: what was wrong, and what is allowed' },
    code: { ...STRING, description: 'for programs, such as sdp_invalid' },
    field: { ...STRING, description: 'the field or header that was wrong' },
  },
  ['field'],
);

/** Applies to every route of this fastify scope, and to its answers for addresses without a route. */
export function answerWithProblems(app: FastifyInstance): void {
  app.addHook('preSerialization', async (_request, reply, payload) => {
    if (reply.statusCode < 400 || !isErrorBody(payload)) return payload;
    const { message, code, param } = payload.error;
    reply.type(PROBLEM_TYPE);
    return {
      title: STATUS_CODES[reply.statusCode] ?? 'Error',
      status: reply.statusCode,
      detail: message,
      code,
      ...(param === null ? {} : { field: param }),
    };
  });
}

function isErrorBody(payload: unknown): payload is ErrorBody {
  return typeof payload === 'object' && payload !== null && 'error' in payload;
}
