// Reads the file that a request brings, and the fields beside it: of a form (multipart/form-data, RFC 7578),
// or of the query if the body is the file itself.
//
// The parts of a form may come in any order, so its file is kept until the form is complete. A body that is
// the file is read as it arrives.
import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ParleyError } from '../../errors.js';
import type { Time } from '../../time.js';
import type { JsonSchema } from './json-schema.js';
import { readTexts } from './multipart-form.js';
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

type BusboyInstance = InstanceType<typeof Busboy>;

const LEAST_RATE = 512; // bytes a second of an upload, on average
const FIELDS_BYTES = 1 << 20; // all of a form except the file
const LIMITS = {
  fields: 64,
  parts: 80,
  fieldSize: 65_536,
  fieldNameSize: 100,
  headerPairs: 32,
  headerSize: 8192,
};

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

class FormReader {
  readonly #request: FastifyRequest;
  readonly #rules: UploadRules;
  readonly #spool: Spool;
  readonly #texts = new Map<string, string[]>();
  readonly #over = new AbortController();
  #reason: Error | undefined;
  #kept: Promise<void> | undefined;

  constructor(request: FastifyRequest, rules: UploadRules) {
    this.#request = request;
    this.#rules = rules;
    this.#spool = new Spool(rules.space);
  }

  async read(): Promise<FileUpload> {
    const { schema, fileName: field } = this.#rules;
    try {
      await this.#receive();
      if (this.#kept === undefined)
        throw new ParleyError('INVALID_FIELD', `"${field}" must be a file`, { field });
      const fields = readTexts(this.#request, schema, (name) => this.#texts.get(name) ?? []);
      const names = new Set(this.#texts.keys());
      const spool = this.#spool;
      return { fields, names, bytes: spool.read(), size: spool.size, close: () => spool.close() };
    } catch (error) {
      await this.#kept?.catch(() => undefined);
      await this.#spool.close();
      throw error;
    }
  }

  async #receive(): Promise<void> {
    const parser = this.#parser();
    const { signal } = this.#over;
    const finished = once(parser, 'finish', { signal });
    finished.catch(() => undefined); // it is awaited below
    try {
      let size = 0;
      for await (const bytes of arriving(this.#request.raw, this.#rules)) {
        size += bytes.length;
        if (size > this.#rules.maxBytes + FIELDS_BYTES) throw tooLarge(this.#rules);
        if (!parser.write(bytes)) await once(parser, 'drain', { signal });
        if (this.#reason !== undefined) throw this.#reason;
      }
      parser.end();
      await finished;
      await this.#kept;
    } catch (error) {
      this.#fail(error);
      parser.destroy();
    }
    if (this.#reason !== undefined) throw this.#reason;
  }

  #parser(): BusboyInstance {
    const headers = this.#request.headers as BusboyHeaders;
    const { maxBytes, fileName } = this.#rules;
    let parser: BusboyInstance;
    try {
      parser = new Busboy({ headers, limits: { ...LIMITS, fileSize: maxBytes, files: 1 } });
    } catch (error) {
      throw malformed((error as Error).message);
    }
    parser.on('field', (name: string | undefined, value) => {
      if (name === undefined) this.#fail(malformed('a part of the form has no name'));
      else add(this.#texts, name, [value]);
    });
    parser.on('file', (name, stream) => {
      if (name !== fileName)
        this.#fail(malformed(`the form has a file "${name}"; the file is "${fileName}"`));
      stream.on('limit', () => this.#fail(tooLarge(this.#rules)));
      stream.on('error', () => undefined); // the parser tells it as well
      this.#over.signal.addEventListener('abort', () => stream.destroy(), { once: true });
      if (this.#over.signal.aborted) stream.destroy();
      this.#kept ??= this.#keep(stream);
      this.#kept.catch((error: unknown) => this.#fail(error));
    });
    parser.on('filesLimit', () => this.#fail(malformed('the form has more than one file')));
    for (const limit of ['fieldsLimit', 'partsLimit'] as const)
      parser.on(limit, () => this.#fail(malformed(`the form has more than ${LIMITS.fields} fields`)));
    parser.on('error', (error) => this.#fail(malformed((error as Error).message)));
    return parser;
  }

  async #keep(file: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const bytes of file) await this.#spool.write(bytes);
  }

  /** The first reason counts. */
  #fail(error: unknown): void {
    if (this.#reason !== undefined) return;
    this.#reason = error instanceof Error ? error : new Error(String(error));
    this.#over.abort();
  }
}

function malformed(reason: string): ParleyError {
  return new ParleyError('MALFORMED', `the form cannot be read: ${reason}`);
}
