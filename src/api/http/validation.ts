// Parses JSON bodies, validates requests against the schemas of their routes, and words the refusals. The
// value is never changed to fit. A refusal is OpenAI's: the name of the field, and one sentence that is
// derived from the schema itself.
import type { FastifyInstance, FastifyServerOptions } from 'fastify';
import { ParleyError } from '../../errors.js';
import { type JsonSchema, OWN_KEYWORDS } from './json-schema.js';

/** Validator options for `fastify()`. */
export const VALIDATION = {
  ajv: {
    customOptions: {
      coerceTypes: false,
      removeAdditional: false,
      useDefaults: false,
      // Errors carry the schema that refused, from which `fieldRefusal` derives the sentence.
      verbose: true,
      keywords: [...OWN_KEYWORDS],
      allowUnionTypes: true,
    },
  },
  schemaErrorFormatter: fieldRefusal,
} satisfies FastifyServerOptions;

/** Applies to every route that is added later. */
export function addValidation(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (route.schema?.body === undefined) return;
    const others = [route.preValidation ?? []].flat();
    route.preValidation = [
      (request, _reply, done) => {
        dropNullFields(request.body);
        done();
      },
      ...others,
    ];
  });
  // Schemas of answers are documentation only: fastify must not filter the fields of an answer.
  app.setSerializerCompiler(() => (answer) => JSON.stringify(answer));
}

const MOST_OUTSIDE_BYTES = 64 * 1024; // a batch of 32, every field set and indented, has a fifth of it
const MOST_QUOTES = 256 * 1024;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Parses JSON bodies for every route that is added later and has no parser of its own.
 *
 * A body may be large because of a string, such as a reference audio. A body that is large by structure
 * (millions of fields, nested lists) would block the event loop for seconds while it is parsed, so it is
 * refused by one scan of its bytes.
 */
export function addJsonBody(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers(); // the one for text/plain too: no route accepts it
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    // Some clients send a content type without a body.
    if (body.length === 0) {
      done(null);
      return;
    }
    if (isMostlyStructure(body)) {
      const limit = `a body may have ${MOST_OUTSIDE_BYTES} bytes outside of strings, and ${MOST_QUOTES} quotes`;
      done(new ParleyError('TOO_LARGE', limit));
      return;
    }
    void parse(request, body.toString(), done);
  });
}

/**
 * True if too much of the body lies outside of strings. Invalid JSON is left to the parser, which is as fast.
 */
export function isMostlyStructure(body: Buffer): boolean {
  if (body.length <= MOST_OUTSIDE_BYTES) return false;
  let outside = 0;
  let quotes = 0;
  let inString = false;
  for (let at = 0; at < body.length;) {
    const found = body.indexOf(QUOTE, at);
    const quote = found < 0 ? body.length : found;
    if (!inString) outside += quote - at;
    if (outside > MOST_OUTSIDE_BYTES || ++quotes > MOST_QUOTES) return true;
    if (!inString || !isEscaped(body, quote)) inString = !inString;
    at = quote + 1;
  }
  return false;
}

function isEscaped(body: Buffer, quote: number): boolean {
  let from = quote;
  while (body[from - 1] === BACKSLASH) from--;
  return (quote - from) % 2 === 1;
}

const MAX_DEPTH = 5; // no schema is deeper: a batch has body, list, item and settings

/** Deletes every field that is null, in place: some clients write null for an absent field. */
export function dropNullFields(value: unknown, depth = MAX_DEPTH): void {
  if (typeof value !== 'object' || value === null || depth === 0) return;
  if (Array.isArray(value)) {
    for (const item of value) dropNullFields(item, depth - 1);
    return;
  }
  const fields = value as Record<string, unknown>;
  for (const name of Object.keys(fields)) {
    const field = fields[name];
    if (field === null) delete fields[name];
    else if (typeof field === 'object') dropNullFields(field, depth - 1);
  }
}

/** An error of the validator (Ajv). */
interface Complaint {
  readonly keyword: string;
  /** A JSON pointer into the body. */
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly parentSchema?: unknown;
  readonly data?: unknown;
}

/** MALFORMED if the body is not an object; otherwise INVALID_FIELD with the field and its allowed values. */
export function fieldRefusal(complaints: readonly Complaint[]): ParleyError {
  const complaint = deepest(complaints);
  const schema = (complaint?.parentSchema ?? {}) as JsonSchema;
  const path = complaint?.instancePath ?? '';
  if (complaint?.keyword === 'required') {
    const missing = String(complaint.params['missingProperty']);
    return refusal(`${path}/${missing}`, schema.properties?.[missing] ?? {});
  }
  if (path !== '') return refusal(path, schema);
  const fields = (schema.required ?? []).map((name) => `"${name}"`).join(' and ');
  const with_ = fields === '' ? '' : ` with at least the field ${fields}`;
  return new ParleyError('MALFORMED', `the body must be a JSON object${with_}`);
}

/**
 * The deepest error belongs to the alternative that came closest. The last one of a depth covers all
 * alternatives.
 */
function deepest(complaints: readonly Complaint[]): Complaint | undefined {
  const depth = (complaint: Complaint) => complaint.instancePath.split('/').length;
  return complaints.reduce<Complaint | undefined>(
    (found, complaint) => (found === undefined || depth(complaint) >= depth(found) ? complaint : found),
    undefined,
  );
}

function refusal(path: string, schema: JsonSchema): ParleyError {
  const field = fieldName(path);
  return new ParleyError('INVALID_FIELD', `"${field}" must be ${allowedBy(schema)}`, { field });
}

/** `/items/3/voice` → `items[3].voice` */
function fieldName(path: string): string {
  const names = path.slice(1).split('/');
  const written = names.map((name) => (/^\d+$/.test(name) ? `[${name}]` : `.${unescaped(name)}`));
  return written.join('').replace(/^\./, '');
}

function unescaped(name: string): string {
  return name.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** The allowed values, in words that follow `must be`. */
export function allowedBy(schema: JsonSchema): string {
  if (schema['x-must-be'] !== undefined) return schema['x-must-be'];
  if (schema.anyOf !== undefined) return schema.anyOf.map(allowedBy).join(' or ');
  if (schema.enum !== undefined) {
    const values = schema.enum.map((value) => JSON.stringify(value));
    return values.length === 1 ? String(values[0]) : `one of ${values.join(', ')}`;
  }
  switch (schema.type) {
    case 'string':
      return `a string${sizeOf(schema.minLength, schema.maxLength, 'characters')}`;
    case 'array':
      return `a list${sizeOf(schema.minItems, schema.maxItems, 'entries')}`;
    case 'number':
      return `a number${rangeOf(schema)}`;
    case 'integer':
      return `a whole number${rangeOf(schema)}`;
    case 'boolean':
      return 'true or false';
    case 'object':
      if (schema.maxProperties !== undefined) return `an object of at most ${schema.maxProperties} fields`;
      return `an object${(schema.required ?? []).map((name, index) => `${index === 0 ? ' with' : ' and'} "${name}"`).join('')}`;
    default:
      return 'something else';
  }
}

function rangeOf({ minimum, maximum }: JsonSchema): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return ` of ${minimum} or more`;
  return maximum === undefined ? '' : ` of ${maximum} or less`;
}

function sizeOf(least: number | undefined, most: number | undefined, unit: string): string {
  if (least !== undefined && most !== undefined) return ` of ${least} to ${most} ${unit}`;
  if (least === 1) return ' that is not empty';
  if (least !== undefined) return ` of ${least} ${unit} or more`;
  return most === undefined ? '' : ` of at most ${most} ${unit}`;
}
