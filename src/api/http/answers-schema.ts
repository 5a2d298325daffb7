// What routes answer, for the document. Answers are not validated: tests hold
// them against these.
import type { Answer, JsonSchema } from './json-schema.js';

export const STRING: JsonSchema = { type: 'string' };
export const NUMBER: JsonSchema = { type: 'number' };
export const INTEGER: JsonSchema = { type: 'integer' };
export const BOOLEAN: JsonSchema = { type: 'boolean' };
export const BYTES: JsonSchema = { type: 'string', format: 'binary' };

/** An object with these fields, all of them there unless named optional. */
export function object(
  properties: Readonly<Record<string, JsonSchema>>,
  optional: readonly string[] = [],
): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required };
}

export function listOf(items: JsonSchema): JsonSchema {
  return { type: 'array', items };
}

export function jsonAnswer(description: string, schema: JsonSchema): Answer {
  return { description, content: { 'application/json': { schema } } };
}

export const NO_BODY: Answer = { description: 'done' };

/** With which every speaking route may answer, besides what is wrong with a request. */
export const SPEECH_REFUSALS: Readonly<Record<number, Answer>> = {
  501: { description: 'no engine of this server can do this; it is named' },
  503: { description: 'too much is waiting; `Retry-After` says when to come back' },
  504: { description: 'there was no sound in time' },
};

/** OpenAI's error object. */
export const ERROR = object({
  error: object({
    message: { type: 'string', description: 'for a person: what was wrong, and what is allowed' },
    type: { type: 'string', enum: ['invalid_request_error', 'rate_limit_error', 'server_error'] },
    param: { type: ['string', 'null'], description: 'the field that was wrong' },
    code: { type: 'string', description: 'for programs, such as invalid_value or engine_busy' },
  }),
});
