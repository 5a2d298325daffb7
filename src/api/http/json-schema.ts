// Defines the JSON Schema dialect of the routes and the building blocks of their schemas. The same plain
// objects validate requests and become the OpenAPI document. Fields that a schema does not name are ignored,
// a field that is null counts as absent (validation.ts), and nothing is converted: "2" is not a number.

type TypeName = 'string' | 'number' | 'integer' | 'boolean' | 'object' | 'array' | 'null';

/** One value. */
export interface JsonSchema {
  readonly type?: TypeName | readonly TypeName[];
  readonly description?: string;
  readonly default?: string | number | boolean;
  readonly examples?: readonly unknown[];
  readonly deprecated?: boolean;
  readonly enum?: readonly (string | number)[];
  /** Inclusive limits of a number. */
  readonly minimum?: number;
  readonly maximum?: number;
  /** Limits of a string, in characters. */
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  /** The kind of string, for the document only: it is not validated. `binary` means bytes. */
  readonly format?: 'binary' | 'uri' | 'date-time';
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  /** An object with free field names: how many fields it may have, and the schema of each value. */
  readonly maxProperties?: number;
  readonly additionalProperties?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  /** The words that follow `must be` in an error; when absent they are derived from the other keywords. */
  readonly 'x-must-be'?: string;
}

/** Keywords that are not part of JSON Schema, so the validator must be told to allow them. */
export const OWN_KEYWORDS = ['x-must-be'] as const;

/** Bodies by content type. */
export type Content = Readonly<Record<string, { readonly schema: JsonSchema }>>;

export interface Answer {
  readonly description: string;
  readonly headers?: Readonly<Record<string, JsonSchema>>;
  readonly content?: Content;
}

/**
 * The `schema` option of a route. The security section of the document follows from the access of the route.
 */
export interface RouteSchema {
  /** One line. */
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly [Tag];
  /** Variable segments of the path; each is a string. */
  readonly params?: JsonSchema;
  readonly querystring?: JsonSchema;
  /** The schema that a JSON body is validated against. */
  readonly body?: JsonSchema | { readonly content: Content };
  /** Bodies of other types than JSON: documented here, validated by code. */
  readonly otherBodies?: Content;
  /** Answers by status. The document adds the error object to every route. */
  readonly response: Readonly<Record<number, Answer>>;
}

export const TAGS = {
  speech: 'Text to speech',
  voices: 'Voices and models',
  transcription: 'Speech to text',
  calls: 'Calls of browsers',
  whip: 'WHIP and WHEP',
  telephone: 'Telephone calls',
  joining: 'Bridges, rooms and queues',
  recordings: 'Recordings of calls',
  server: 'The server itself',
} as const;

type Tag = (typeof TAGS)[keyof typeof TAGS];

declare module 'fastify' {
  interface FastifySchema {
    otherBodies?: Content;
  }
}

// Schemas of answers serve the document. The server does not validate its answers; tests do.

export const STRING: JsonSchema = { type: 'string' };
export const NUMBER: JsonSchema = { type: 'number' };
export const INTEGER: JsonSchema = { type: 'integer' };
export const BOOLEAN: JsonSchema = { type: 'boolean' };
export const BYTES: JsonSchema = { type: 'string', format: 'binary' };

/** An object with these fields, all of them required unless listed as optional. */
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

/** The refusals that every speech route may answer, besides those for an invalid request. */
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
