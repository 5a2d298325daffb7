// Reads forms (multipart/form-data, RFC 7578) from bodies that are complete: the parts, and the fields and
// the file of a form that a schema describes. Parts are views of the body. Node's own parser blocks the main
// thread for 80 ms on a file of 10 MiB; this one searches for the boundary once.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ParleyError } from '../../errors.js';
import type { JsonSchema } from './json-schema.js';
import { fieldRefusal } from './validation.js';

interface UploadedForm {
  /** The fields, converted to the types of the schema. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** The file under the first name that is present: a view of the body. */
  readonly file: Uint8Array | undefined;
}

/** The body of a form, which JSON validation must not touch. */
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

/** Makes the routes of this fastify scope accept forms. */
export function takeForms(app: FastifyInstance): void {
  app.removeContentTypeParser('text/plain'); // no schema would validate it
  app.addContentTypeParser('multipart/form-data', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, new FormBody(body as Buffer));
  });
}

/**
 * Throws UNSUPPORTED_MEDIA_TYPE, MALFORMED, TOO_LARGE, or INVALID_FIELD for a field that the schema refuses.
 */
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
  const fields = readTexts(request, schema, (name) => {
    const part = files.names.includes(name) ? undefined : form.find((one) => one.name === name);
    return part === undefined ? [] : [textOf(part)];
  });
  return { fields, file: fileOf(form, files) };
}

/**
 * Converts the texts of fields to the types of the schema: a list takes all texts of its name, other types
 * the first. Throws INVALID_FIELD.
 */
export function readTexts(
  request: FastifyRequest,
  schema: JsonSchema,
  textsOf: (name: string) => readonly string[],
): Readonly<Record<string, unknown>> {
  const fields: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    // Pages send an empty field for an absent one.
    const [text, ...more] = textsOf(name).filter((one) => one !== '');
    if (text === undefined) continue;
    const { type, items = {} } = field;
    fields[name] =
      type === 'array' ? [text, ...more].map((one) => converted(one, items)) : converted(text, field);
  }
  const validate = request.compileValidationSchema(schema);
  if (!validate(fields)) throw fieldRefusal((validate.errors ?? []) as Parameters<typeof fieldRefusal>[0]);
  return fields;
}

/** Converts the text of a field. A text of the wrong type stays a string, which the schema refuses. */
function converted(text: string, { type }: JsonSchema): unknown {
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

interface FormPart {
  readonly name: string;
  /** Present if the part is a file. */
  readonly fileName?: string | undefined;
  /** A view of the body. */
  readonly bytes: Buffer;
}

/** The text of a part, in UTF-8. */
export function textOf({ bytes }: FormPart): string {
  return new TextDecoder().decode(bytes);
}

const MAX_PARTS = 64;
const MAX_HEAD_BYTES = 8192; // header fields of one part
const BOUNDARY = /;\s*boundary=(?:"([^"\r\n]{1,70})"|([^\s;"]{1,70}))\s*(?:;|$)/i;
const LINE = '\r\n';
const GAP = /^[ \t]*\r\n/; // after a boundary
const MAX_GAP = 64;
const PLAIN_ENCODINGS = ['', '7bit', '8bit', 'binary'];

/** The parts in order. Throws MALFORMED. */
export function formParts(body: Buffer, contentType: string): FormPart[] {
  const boundary = BOUNDARY.exec(contentType);
  const mark = boundary?.[1] ?? boundary?.[2];
  if (mark === undefined) throw malformed('the content type of the form names no boundary');
  const delimiter = Buffer.from(`${LINE}--${mark}`);
  const parts: FormPart[] = [];
  let at = afterFirst(body, delimiter);
  while (body.toString('latin1', at, at + 2) !== '--') {
    if (parts.length === MAX_PARTS) throw malformed(`the form has more than ${MAX_PARTS} parts`);
    const start = at + gapAt(body, at);
    const end = body.indexOf(delimiter, start);
    if (end < 0) throw malformed('the form ends within a part');
    parts.push(partOf(body.subarray(start, end)));
    at = end + delimiter.length;
  }
  return parts;
}

/** Returns the position after the first boundary. Anything before it is ignored. */
function afterFirst(body: Buffer, delimiter: Buffer): number {
  const bare = delimiter.subarray(LINE.length);
  if (body.subarray(0, bare.length).equals(bare)) return bare.length;
  const at = body.indexOf(delimiter);
  if (at < 0) throw malformed('the boundary of the form is nowhere in it');
  return at + delimiter.length;
}

function gapAt(body: Buffer, at: number): number {
  const gap = GAP.exec(body.toString('latin1', at, at + MAX_GAP))?.[0];
  if (gap === undefined) throw malformed('a boundary of the form is not the end of its line');
  return gap.length;
}

function partOf(part: Buffer): FormPart {
  const headBytes = part.subarray(0, MAX_HEAD_BYTES).indexOf(LINE + LINE);
  if (headBytes < 0) throw malformed('a part of the form has no end of its headers, or too many of them');
  const headers = headersOf(part.toString('utf8', 0, headBytes));
  const disposition = headers.get('content-disposition') ?? '';
  const name = parameterOf(disposition, 'name');
  if (!/^form-data\s*;/i.test(disposition) || name === undefined)
    throw malformed('a part of the form has no name');
  const encoding = headers.get('content-transfer-encoding') ?? '';
  if (!PLAIN_ENCODINGS.includes(encoding.toLowerCase()))
    throw malformed('a part of the form has a transfer encoding; none is taken');
  const fileName = parameterOf(disposition, 'filename');
  const bytes = part.subarray(headBytes + 2 * LINE.length);
  return { name, fileName, bytes };
}

function headersOf(head: string): Map<string, string> {
  const lines = head.split(LINE).map((line): [string, string] => {
    const colon = line.indexOf(':');
    if (colon < 1) throw malformed('a part of the form has a header without a name');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return new Map(lines);
}

/** A parameter as browsers write it: in quotes, with `%22`, `%0D` and `%0A` escaped, or without quotes. */
function parameterOf(header: string, wanted: string): string | undefined {
  for (const [, name, quoted, bare] of header.matchAll(/;\s*([a-z*]+)=(?:"([^"]*)"|([^\s;"]+))/gi)) {
    if (name?.toLowerCase() === wanted)
      return (quoted ?? bare ?? '').replace(/%(22|0[AD])/gi, decodeURIComponent);
  }
  return undefined;
}

function malformed(message: string): ParleyError {
  return new ParleyError('MALFORMED', message);
}
