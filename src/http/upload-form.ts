// A form with a file in it, out of a body that was limited and read whole
// before, so that Node's own parser may have it.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ParleyError } from '../errors.js';
import { fieldRefusal } from './schemas/field-refusal.js';
import type { JsonSchema } from './schemas/json-schema.js';

export interface UploadedForm {
  /** What each field says, as its schema has it. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** The file under the first of the names asked for. */
  readonly file: Uint8Array | undefined;
}

const MAX_PARTS = 64; // each costs the parser more than its bytes

/** The body of a form: nothing else looks into it. */
export class FormBody {
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Rejects with MALFORMED. */
  async parts(contentType: string): Promise<FormData> {
    const boundary = /boundary=(?:"([^"]{1,70})"|([^\s;]{1,70}))/i.exec(contentType);
    const mark = boundary?.[1] ?? boundary?.[2];
    if (mark === undefined) throw malformed('the content type of the form names no boundary');
    let parts = -1; // the last one ends the form
    for (let at = this.#bytes.indexOf(`--${mark}`); at >= 0; at = this.#bytes.indexOf(`--${mark}`, at + 1)) {
      if (++parts > MAX_PARTS) throw malformed(`the form has more than ${MAX_PARTS} parts`);
    }
    const answer = new Response(new Uint8Array(this.#bytes), { headers: { 'content-type': contentType } });
    return await answer.formData().catch((error: unknown) => {
      throw malformed('the form could not be parsed', error);
    });
  }
}

/** For a scope whose routes take forms. */
export function takeForms(app: FastifyInstance): void {
  app.removeContentTypeParser('text/plain'); // which no schema would look at
  app.addContentTypeParser('multipart/form-data', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, new FormBody(body as Buffer));
  });
}

/** Rejects with UNSUPPORTED_MEDIA_TYPE, MALFORMED, TOO_LARGE or, of a field that its schema refuses, INVALID_FIELD. */
export async function readForm(
  request: FastifyRequest,
  schema: JsonSchema,
  files: { readonly names: readonly string[]; readonly maxBytes: number },
): Promise<UploadedForm> {
  const { body, headers } = request;
  if (!(body instanceof FormBody)) {
    throw new ParleyError('UNSUPPORTED_MEDIA_TYPE', 'the body must be multipart/form-data');
  }
  const form = await body.parts(headers['content-type'] ?? '');
  const fields: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const said = form.get(name);
    // An empty field is how a page leaves one out.
    if (said !== null && said !== '' && !files.names.includes(name))
      fields[name] = meant(await textOf(said), field);
  }
  const validate = request.compileValidationSchema(schema);
  if (!validate(fields)) throw fieldRefusal((validate.errors ?? []) as Parameters<typeof fieldRefusal>[0]);
  return { fields, file: await fileOf(form, files) };
}

async function textOf(part: string | Blob): Promise<string> {
  return typeof part === 'string' ? part : Buffer.from(await part.arrayBuffer()).toString();
}

/** A form knows only texts. What is none of the right kind stays one, for the schema to refuse. */
function meant(text: string, { type }: JsonSchema): unknown {
  const isNumber = type === 'number' || type === 'integer';
  if (isNumber) return /^-?\d{1,20}(?:\.\d{1,20})?$/.test(text) ? Number(text) : text;
  if (type !== 'boolean') return text;
  const known = { true: true, '1': true, false: false, '0': false } as const;
  return Object.hasOwn(known, text) ? known[text as keyof typeof known] : text;
}

async function fileOf(
  form: FormData,
  { names, maxBytes }: { readonly names: readonly string[]; readonly maxBytes: number },
): Promise<Uint8Array | undefined> {
  for (const name of names) {
    const part = form.get(name);
    if (part === null || part === '') continue;
    if (typeof part === 'string') {
      throw new ParleyError('INVALID_FIELD', `"${name}" must be a file`, { field: name });
    }
    if (part.size > maxBytes) {
      throw new ParleyError('TOO_LARGE', `the file "${name}" may have ${maxBytes} bytes at most`, {
        field: name,
      });
    }
    return new Uint8Array(await part.arrayBuffer());
  }
  return undefined;
}

function malformed(message: string, cause?: unknown): ParleyError {
  return new ParleyError('MALFORMED', message, { cause });
}
