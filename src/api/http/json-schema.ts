// JSON Schema, as far as the routes of this server need it: plain objects that
// validate requests and become the OpenAPI document. Fields that a schema does
// not name are ignored, a field that is null counts as left out (null-fields.ts),
// and nothing is converted: "2" is no number.

type TypeName = 'string' | 'number' | 'integer' | 'boolean' | 'object' | 'array' | 'null';

/** One value. */
export interface JsonSchema {
  readonly type?: TypeName | readonly TypeName[];
  readonly description?: string;
  readonly default?: string | number | boolean;
  readonly examples?: readonly unknown[];
  readonly deprecated?: boolean;
  readonly enum?: readonly (string | number)[];
  /** Of numbers, both included. */
  readonly minimum?: number;
  readonly maximum?: number;
  /** Of strings, in characters. */
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  /** Says what kind of string it is; `binary` is bytes. Not checked. */
  readonly format?: 'binary' | 'uri' | 'date-time';
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  /** Of an object whose field names are free: how many there may be, and what each holds. */
  readonly maxProperties?: number;
  readonly additionalProperties?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  /** What a value must be, in words that follow `must be`; made of the other keywords where absent. */
  readonly 'x-must-be'?: string;
}

/** Keywords of ours, which the validator must know of. */
export const OWN_KEYWORDS = ['x-must-be'] as const;

/** Bodies by content type. */
export type Content = Readonly<Record<string, { readonly schema: JsonSchema }>>;

export interface Answer {
  readonly description: string;
  readonly headers?: Readonly<Record<string, JsonSchema>>;
  readonly content?: Content;
}

/** What a route says of itself: `schema` of its options. The security of it follows from its access. */
export interface RouteSchema {
  /** One line. */
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly [Tag];
  /** In the address; each is a string. */
  readonly params?: JsonSchema;
  readonly querystring?: JsonSchema;
  /** A JSON body, validated. */
  readonly body?: JsonSchema | { readonly content: Content };
  /** Bodies of other types than JSON: documented here, read by code. */
  readonly otherBodies?: Content;
  /** By status. The error object of every other status is added to all routes. */
  readonly response: Readonly<Record<number, Answer>>;
}

export const TAGS = {
  speech: 'Text to speech',
  voices: 'Voices and models',
  calls: 'Calls of browsers',
  telephone: 'Telephone calls',
  server: 'The server itself',
} as const;

export type Tag = (typeof TAGS)[keyof typeof TAGS];

declare module 'fastify' {
  interface FastifySchema {
    otherBodies?: Content;
  }
}
