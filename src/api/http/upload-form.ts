// A form with a file in it, out of a body that was limited and read whole before.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ParleyError } from '../../errors.js';
import { type FormPart, formParts, textOf } from './form-parts.js';
import { fieldRefusal } from './validation.js';
import type { JsonSchema } from './json-schema.js';

export interface UploadedForm {
  /** What each field says, as its schema has it. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** The file under the first of the names asked for: a view of the body. */
  readonly file: Uint8Array | undefined;
}

/** The body of a form: nothing else looks into it. */
export class FormBody {
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Throws MALFORMED. */
  parts(contentType: string): readonly FormPart[] {
    return formParts(this.#bytes, contentType);
  }
}

/** For a scope whose routes take forms. */
export function takeForms(app: FastifyInstance): void {
  app.removeContentTypeParser('text/plain'); // which no schema would look at
  app.addContentTypeParser('multipart/form-data', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, new FormBody(body as Buffer));
  });
}

/** Throws UNSUPPORTED_MEDIA_TYPE, MALFORMED, TOO_LARGE or, of a field that its schema refuses, INVALID_FIELD. */
export function readForm(
  request: FastifyRequest,
  schema: JsonSchema,
  files: { readonly names: readonly string[]; readonly maxBytes: number },
): UploadedForm {
  const { body, headers } = request;
  if (!(body instanceof FormBody)) {
    throw new ParleyError('UNSUPPORTED_MEDIA_TYPE', 'the body must be multipart/form-data');
  }
  const form = body.parts(headers['content-type'] ?? '');
  const fields: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const part = files.names.includes(name) ? undefined : form.find((one) => one.name === name);
    // An empty field is how a page leaves one out.
    if (part !== undefined && part.bytes.length > 0) fields[name] = meant(textOf(part), field);
  }
  const validate = request.compileValidationSchema(schema);
  if (!validate(fields)) throw fieldRefusal((validate.errors ?? []) as Parameters<typeof fieldRefusal>[0]);
  return { fields, file: fileOf(form, files) };
}

/** A form knows only texts. What is none of the right kind stays one, for the schema to refuse. */
function meant(text: string, { type }: JsonSchema): unknown {
  const isNumber = type === 'number' || type === 'integer';
  if (isNumber) return /^-?\d{1,20}(?:\.\d{1,20})?$/.test(text) ? Number(text) : text;
  if (type !== 'boolean') return text;
  const known = { true: true, '1': true, false: false, '0': false } as const;
  return Object.hasOwn(known, text) ? known[text as keyof typeof known] : text;
}

function fileOf(
  form: readonly FormPart[],
  { names, maxBytes }: { readonly names: readonly string[]; readonly maxBytes: number },
): Uint8Array | undefined {
  for (const name of names) {
    const part = form.find((one) => one.name === name);
    if (part === undefined) continue;
    const { fileName, bytes } = part;
    if (fileName === undefined && bytes.length === 0) continue;
    if (fileName === undefined) {
      throw new ParleyError('INVALID_FIELD', `"${name}" must be a file`, { field: name });
    }
    if (bytes.length > maxBytes) {
      throw new ParleyError('TOO_LARGE', `the file "${name}" may have ${maxBytes} bytes at most`, {
        field: name,
      });
    }
    return bytes;
  }
  return undefined;
}
