// Reads forms (multipart/form-data, RFC 7578): the parts of a form as its bytes come, and the fields and the
// file of a complete form that a schema describes. The bytes of a part are views of what came. Node's own
// parser blocks the main thread for 80 ms on a file of 10 MiB; this one searches for the boundary once.
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

/** The headers of a part. */
export interface FormPartHead {
  readonly name: string;
  /** Present if the part is a file. */
  readonly fileName?: string | undefined;
  /** Content type in lower case, without parameters; empty if none is stated. */
  readonly type: string;
  /** The character set that the content type states. */
  readonly charset?: string | undefined;
}

interface FormPart extends FormPartHead {
  /** A view of the body. */
  readonly bytes: Buffer;
}

/**
 * The text of a part, in the character set that the part states, or in UTF-8. Throws INVALID_FIELD for an
 * unknown set, and for bytes that are not in the set that is stated.
 */
export function textOf({ name, charset, bytes }: Pick<FormPart, 'name' | 'charset' | 'bytes'>): string {
  if (charset === undefined) return new TextDecoder().decode(bytes);
  const decoder = decoderOf(charset);
  if (decoder === undefined) {
    const message = `"${name}" is in a character set that is not known here; utf-8 is`;
    throw new ParleyError('INVALID_FIELD', message, { field: name });
  }
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    const message = `"${name}" is not in ${decoder.encoding}, the character set that it states`;
    throw new ParleyError('INVALID_FIELD', message, { field: name, cause });
  }
}

function decoderOf(charset: string) {
  try {
    return new TextDecoder(charset, { fatal: true });
  } catch {
    return undefined;
  }
}

const MAX_PARTS = 64;
const MAX_HEAD_BYTES = 8192; // header fields of one part
const BOUNDARY = /;\s*boundary=(?:"([^"\r\n]{1,70})"|([^\s;"]{1,70}))\s*(?:;|$)/i;
const LINE = '\r\n';
const GAP = /^[ \t]*\r\n/; // after a boundary
const MAX_GAP = 64;
const [DASH, SPACE, TAB, CR, LF] = [0x2d, 0x20, 0x09, 0x0d, 0x0a];
const PLAIN_ENCODINGS = ['', '7bit', '8bit', 'binary'];
const NOTHING = Buffer.alloc(0);

/** The parts of a complete form, in order. Throws MALFORMED. */
export function formParts(body: Buffer, contentType: string): FormPart[] {
  const splitter = new FormSplitter(contentType);
  const parts: FormPart[] = [];
  for (const found of splitter.take(body)) {
    const part = Buffer.isBuffer(found) ? parts.pop() : found;
    if (part !== undefined) parts.push({ ...part, bytes: Buffer.isBuffer(found) ? found : NOTHING });
  }
  splitter.end();
  return parts;
}

type FormState = 'start' | 'preamble' | 'boundary' | 'head' | 'content' | 'epilogue';

/** Splits a form whose bytes come in pieces. Each head is followed by the bytes of its part. */
export class FormSplitter {
  readonly #delimiter: Buffer;
  #state: FormState = 'start';
  /** Bytes that were received and need more bytes to be understood. */
  #rest: Buffer = NOTHING;
  #parts = 0;

  /** Throws MALFORMED if the content type names no boundary. */
  constructor(contentType: string) {
    const boundary = BOUNDARY.exec(contentType);
    const mark = boundary?.[1] ?? boundary?.[2];
    if (mark === undefined) throw malformed('the content type of the form names no boundary');
    this.#delimiter = Buffer.from(`${LINE}--${mark}`);
  }

  /** Yields what the piece completes. Throws MALFORMED. */
  *take(piece: Uint8Array): Generator<FormPartHead | Buffer> {
    if (this.#state === 'epilogue') return;
    const view = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    this.#rest = this.#rest.length === 0 ? view : Buffer.concat([this.#rest, view]);
    for (let goesOn = true; goesOn;) {
      if (this.#state === 'content') goesOn = yield* this.#content();
      else if (this.#state === 'head') goesOn = yield* this.#head();
      else if (this.#state === 'boundary') goesOn = this.#boundary();
      else if (this.#state === 'preamble') goesOn = this.#preamble();
      else goesOn = this.#start();
    }
  }

  /** The form is complete. Throws MALFORMED. */
  end(): void {
    if (this.#state === 'epilogue') return;
    if (this.#state === 'boundary') throw malformed('a boundary of the form is not the end of its line');
    if (this.#state === 'head' || this.#state === 'content') throw malformed('the form ends within a part');
    throw malformed('the boundary of the form is nowhere in it');
  }

  #start(): boolean {
    const bare = this.#delimiter.subarray(LINE.length);
    if (this.#rest.length < bare.length) return false;
    const isBoundary = this.#rest.subarray(0, bare.length).equals(bare);
    return isBoundary ? this.#goOn('boundary', bare.length) : this.#goOn('preamble', 0);
  }

  /** Passes over what stands before the first boundary. */
  #preamble(): boolean {
    const at = this.#seek();
    if (at >= 0) return this.#goOn('boundary', at + this.#delimiter.length);
    this.#rest = this.#rest.subarray(Math.max(0, this.#rest.length - this.#delimiter.length - MAX_GAP + 1));
    return false;
  }

  /** Finds where the next boundary begins, or -1: a line that goes on is content (RFC 2046, 5.1.1). */
  #seek(): number {
    const { length } = this.#delimiter;
    let at = this.#rest.indexOf(this.#delimiter);
    while (at >= 0 && !this.#isBoundary(at + length)) at = this.#rest.indexOf(this.#delimiter, at + length);
    return at;
  }

  /** True if the bytes there end the line of a boundary. False as well while more bytes must tell. */
  #isBoundary(at: number): boolean {
    const rest = this.#rest;
    if (rest[at] === DASH) return rest[at + 1] === DASH;
    let end = at;
    while (end < at + MAX_GAP && (rest[end] === SPACE || rest[end] === TAB)) end++;
    return end + 2 <= at + MAX_GAP && rest[end] === CR && rest[end + 1] === LF;
  }

  #boundary(): boolean {
    const line = this.#rest.toString('latin1', 0, MAX_GAP);
    if (line.startsWith('--')) return this.#goOn('epilogue', this.#rest.length);
    const gap = GAP.exec(line)?.[0];
    if (gap !== undefined) return this.#goOn('head', gap.length);
    if (line.length === MAX_GAP || !/^(?:-|[ \t]*\r?)$/.test(line))
      throw malformed('a boundary of the form is not the end of its line');
    return false;
  }

  *#head(): Generator<FormPartHead, boolean> {
    const head = this.#rest.subarray(0, MAX_HEAD_BYTES);
    const length = head.indexOf(LINE + LINE);
    const delimiterAt = head.indexOf(this.#delimiter);
    const isCut = delimiterAt >= 0 && delimiterAt < length + 2 * LINE.length;
    if (isCut || (length < 0 && (delimiterAt >= 0 || head.length === MAX_HEAD_BYTES)))
      throw malformed(NO_HEAD_END);
    if (length < 0) return false;
    if (this.#parts === MAX_PARTS) throw malformed(`the form has more than ${MAX_PARTS} parts`);
    this.#parts++;
    yield partHead(head.toString('utf8', 0, length));
    return this.#goOn('content', length + 2 * LINE.length);
  }

  *#content(): Generator<Buffer, boolean> {
    const end = this.#seek();
    // The last bytes may be the beginning of a boundary.
    const length = end >= 0 ? end : this.#rest.length - this.#delimiter.length - MAX_GAP + 1;
    if (length > 0) yield this.#rest.subarray(0, length);
    if (end >= 0) return this.#goOn('boundary', end + this.#delimiter.length);
    if (length > 0) this.#rest = this.#rest.subarray(length);
    return false;
  }

  /** Returns true if the bytes that remain can be read in the new state. */
  #goOn(state: FormState, taken: number): boolean {
    this.#state = state;
    this.#rest = this.#rest.subarray(taken);
    return state !== 'epilogue';
  }
}

const NO_HEAD_END = 'a part of the form has no end of its headers, or too many of them';

function partHead(head: string): FormPartHead {
  const headers = headersOf(head);
  const disposition = headers.get('content-disposition') ?? '';
  const name = parameterOf(disposition, 'name');
  if (!/^form-data\s*;/i.test(disposition) || name === undefined)
    throw malformed('a part of the form has no name');
  const encoding = headers.get('content-transfer-encoding') ?? '';
  if (!PLAIN_ENCODINGS.includes(encoding.toLowerCase()))
    throw malformed('a part of the form has a transfer encoding; none is taken');
  const fileName = parameterOf(disposition, 'filename') ?? parameterOf(disposition, 'filename*');
  const contentType = headers.get('content-type') ?? '';
  const type = contentType.replace(/[;\s].*$/s, '').toLowerCase();
  return { name, fileName, type, charset: parameterOf(contentType, 'charset') };
}

function headersOf(head: string): Map<string, string> {
  const unfolded = head.replace(/\r\n[ \t]+/g, ' ');
  const lines = unfolded.split(LINE).map((line): [string, string] => {
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
