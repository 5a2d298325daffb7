// Reads the file that a request brings, and the fields beside it: of a form (multipart/form-data, RFC 7578),
// or of the query if the body is the file itself.
//
// The parts of a form may come in any order, so its file is kept until the form is complete. A body that is
// the file is read as it arrives.
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ParleyError } from '../../errors.js';
import type { Time } from '../../time.js';
import type { JsonSchema } from './json-schema.js';
import { type FormPartHead, FormSplitter, readTexts, textOf } from './multipart-form.js';
import { allowLongUpload } from './http2-sessions.js';
import { Spool, type SpoolSpace } from './spool.js';

export interface FileUpload {
  /** The fields that the schema names, converted to its types. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Names of all fields that came, without brackets. */
  readonly names: ReadonlySet<string>;
  /** Bytes of the file. They are read once. */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Length of the file; undefined for a body that does not say its length. */
  readonly size: number | undefined;
  /** Frees what was kept. Idempotent. */
  close(): Promise<void>;
}

export interface UploadRules {
  readonly schema: JsonSchema;
  /** Name of the part that is the file. */
  readonly fileName: string;
  /** Bytes of the file. */
  readonly maxBytes: number;
  readonly space: SpoolSpace;
  /** Milliseconds that the client may send nothing while more is expected. */
  readonly stallMs: number;
  readonly time: Time;
}

/** Content types of bodies that are the file itself. */
export const FILE_TYPES = ['audio/*', 'video/*', 'application/octet-stream', 'application/ogg'] as const;
const FILE_TYPE = /^(?:audio|video)\/|^application\/(?:octet-stream|ogg)\s*(?:;|$)/i;
const FORM_TYPE = /^multipart\/form-data\s*(?:;|$)/i;

const LEAST_RATE = 512; // bytes a second of an upload, on average
const FIELDS_BYTES = 1 << 20; // all of a form except the file
const FIELD_BYTES = 65_536; // one field

/** Lets the routes of this fastify scope read bodies themselves. */
export function takeUploads(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, body, done) => done(null, body));
}

/**
 * Rejects with UNSUPPORTED_MEDIA_TYPE, MALFORMED, TOO_LARGE, UPLOAD_STALLED, QUEUE_FULL or DISK_FULL,
 * INVALID_FIELD for a field that the schema refuses, and ABORTED when the client leaves.
 */
export async function readUpload(request: FastifyRequest, rules: UploadRules): Promise<FileUpload> {
  const { headers, raw } = request;
  const type = headers['content-type'] ?? '';
  const isForm = FORM_TYPE.test(type);
  if (!isForm && !FILE_TYPE.test(type)) {
    const message = `the body must be multipart/form-data, or the file itself as ${FILE_TYPES.join(', ')}`;
    throw new ParleyError('UNSUPPORTED_MEDIA_TYPE', message);
  }
  const length = headers['content-length'] === undefined ? undefined : Number(headers['content-length']);
  if (length !== undefined && length > rules.maxBytes + (isForm ? FIELDS_BYTES : 0)) throw tooLarge(rules);
  allowLongUpload(raw);
  if (isForm) return new FormReader(request, rules).read();
  const texts = textsOf(request.query as Readonly<Record<string, string | readonly string[]>>);
  const fields = readTexts(request, rules.schema, (name) => texts.get(name) ?? []);
  const bytes = limited(arriving(raw, rules), rules);
  return { fields, names: new Set(texts.keys()), bytes, size: length, close: () => Promise.resolve() };
}

/** `x[]` is another name of `x`. */
function textsOf(query: Readonly<Record<string, string | readonly string[]>>): Map<string, string[]> {
  const texts = new Map<string, string[]>();
  for (const [name, values] of Object.entries(query)) add(texts, name, [values].flat());
  return texts;
}

function add(texts: Map<string, string[]>, name: string, values: readonly string[]): void {
  const plain = name.replace(/\[.*$/s, '');
  texts.set(plain, [...(texts.get(plain) ?? []), ...values]);
}

function tooLarge({ fileName, maxBytes }: UploadRules): ParleyError {
  return new ParleyError('TOO_LARGE', `the file may have ${maxBytes} bytes at most`, { field: fileName });
}

async function* limited(body: AsyncIterable<Uint8Array>, rules: UploadRules): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const bytes of body) {
    size += bytes.length;
    if (size > rules.maxBytes) throw tooLarge(rules);
    yield bytes;
  }
}

/** The bytes of a body as they come. An error leaves the connection open for the answer. */
async function* arriving(body: Readable, { stallMs, time }: UploadRules): AsyncGenerator<Uint8Array> {
  const chunks = body.iterator({ destroyOnReturn: false }) as AsyncIterator<Uint8Array>;
  // Milliseconds for which the server may still wait for the client. Each byte gives some back.
  let patienceMs = stallMs;
  for (;;) {
    let cancel: () => void = () => undefined;
    const fromMs = time.now();
    const stalled = new Promise<never>((_, reject) => {
      const message = `the upload must come at ${LEAST_RATE} bytes a second at least, without pauses of ${stallMs / 1000} s`;
      const limitMs = Math.max(1, Math.min(stallMs, patienceMs));
      cancel = time.after(limitMs, () => reject(new ParleyError('UPLOAD_STALLED', message)));
    });
    try {
      const { value, done } = await Promise.race([chunks.next(), stalled]);
      if (done === true) return;
      patienceMs += (value.length / LEAST_RATE) * 1000 - (time.now() - fromMs);
      yield value;
    } catch (error) {
      if (error instanceof ParleyError) throw error;
      throw new ParleyError('ABORTED', 'the client left during the upload', { cause: error });
    } finally {
      cancel();
    }
  }
}

/** A field whose bytes are coming. */
interface FormField extends FormPartHead {
  bytes: Buffer;
}

class FormReader {
  readonly #request: FastifyRequest;
  readonly #rules: UploadRules;
  readonly #spool: Spool;
  readonly #texts = new Map<string, string[]>();
  #field: FormField | undefined;
  #hasFile = false;
  /** Name of a field that is longer than FIELD_BYTES. */
  #cutField: string | undefined;

  constructor(request: FastifyRequest, rules: UploadRules) {
    this.#request = request;
    this.#rules = rules;
    this.#spool = new Spool(rules.space);
  }

  async read(): Promise<FileUpload> {
    const { schema, fileName: field } = this.#rules;
    try {
      await this.#receive();
      if (!this.#hasFile) throw new ParleyError('INVALID_FIELD', `"${field}" must be a file`, { field });
      const fields = readTexts(this.#request, schema, (name) => this.#texts.get(name) ?? []);
      if (this.#cutField !== undefined)
        throw malformed(`the field "${this.#cutField}" may have ${FIELD_BYTES} bytes at most`);
      const names = new Set(this.#texts.keys());
      const spool = this.#spool;
      return { fields, names, bytes: spool.read(), size: spool.size, close: () => spool.close() };
    } catch (error) {
      await this.#spool.close();
      throw error;
    }
  }

  async #receive(): Promise<void> {
    const splitter = new FormSplitter(this.#request.headers['content-type'] ?? '');
    let size = 0;
    for await (const bytes of arriving(this.#request.raw, this.#rules)) {
      size += bytes.length;
      for (const found of splitter.take(bytes)) {
        if (!Buffer.isBuffer(found)) this.#begin(found);
        else if (this.#field === undefined) await this.#keep(found);
        else this.#append(this.#field, found);
      }
      if (size - this.#spool.size > FIELDS_BYTES) {
        throw new ParleyError('TOO_LARGE', `a form may have ${FIELDS_BYTES} bytes at most beside its file`);
      }
    }
    splitter.end();
    this.#endField();
  }

  #begin(head: FormPartHead): void {
    this.#endField();
    const { name, fileName, type } = head;
    const isFile = fileName !== undefined || type === 'application/octet-stream';
    if (!isFile) {
      this.#field = { ...head, bytes: Buffer.alloc(0) };
      return;
    }
    const wanted = this.#rules.fileName;
    if (name !== wanted) throw malformed(`the form has a file "${name}"; the file is "${wanted}"`);
    if (this.#hasFile) throw malformed('the form has more than one file');
    this.#hasFile = true;
  }

  #append(field: FormField, bytes: Buffer): void {
    const room = FIELD_BYTES - field.bytes.length;
    if (bytes.length > room) this.#cutField ??= field.name; // refused after the limits of the schema
    if (room > 0) field.bytes = Buffer.concat([field.bytes, bytes.subarray(0, room)]);
  }

  #endField(): void {
    if (this.#field !== undefined) add(this.#texts, this.#field.name, [textOf(this.#field)]);
    this.#field = undefined;
  }

  async #keep(bytes: Buffer): Promise<void> {
    if (this.#spool.size + bytes.length > this.#rules.maxBytes) throw tooLarge(this.#rules);
    await this.#spool.write(bytes);
  }
}

function malformed(reason: string): ParleyError {
  return new ParleyError('MALFORMED', `the form cannot be read: ${reason}`);
}
