// POST /v1/audio/speech/batch, as vLLM-Omni has it: a list of speech requests, and fields for the items that
// state none of their own. The reply writes each result as soon as those before it are written, while the
// next few are made: it holds the sound of those few only. A failed item states its error in its own place;
// the others are not affected.
import type { FastifyInstance } from 'fastify';
import { isAborted, ParleyError } from '../../errors.js';
import type { SoundOutcome, SoundSource } from '../../speaking/sound.js';
import type { SpeechRequest } from '../../speaking/speech-request.js';
import { stated } from '../../stated.js';
import { errorReply } from '../http/error-reply.js';
import {
  INTEGER,
  jsonAnswer,
  type JsonSchema,
  listOf,
  object,
  type RouteSchema,
  STRING,
  TAGS,
} from '../http/json-schema.js';
import { fieldRefusal } from '../http/validation.js';
import { ownOutcome, wholeFile } from '../speech/audio-replies.js';
import { base64, FoundStream } from '../speech/sound-forms.js';
import {
  type FieldNames,
  fieldNamesOf,
  readSpeechRequest,
  renamed,
  type SpeechBody,
} from '../speech/speech-request.js';
import { brokenOff, fittedWithVoice, ignoredNames, type SpeakingParts } from '../speech/speech-answer.js';
import { bodyLimitOf, speechBody, type SpeechFieldLimits } from '../speech/speech-schema.js';
import { SpeechLog } from '../speech/speech-log.js';
import type { SpeechSource } from '../speech/speech-source.js';

const MAX_ITEMS = 32;

// Each item is checked against the schema of a speech request in its turn, so that a wrong item leaves the
// others.
const ITEMS: JsonSchema = {
  type: 'array',
  minItems: 1,
  maxItems: MAX_ITEMS,
  items: { type: 'object', description: 'a body of `/v1/audio/speech`' },
  description:
    'each a body of `/v1/audio/speech`; fields beside the list count for every item without its own',
  'x-must-be': `a list of 1 to ${MAX_ITEMS} speech requests`,
};

const NULLABLE: JsonSchema = { type: ['string', 'null'] };

const RESULT = object(
  {
    index: INTEGER,
    status: { type: 'string', enum: ['success', 'error'] },
    audio_data: { ...NULLABLE, description: 'the sound in base64' },
    media_type: { ...NULLABLE, description: 'of the sound' },
    error: { ...NULLABLE, description: 'what was wrong, in words' },
    error_detail: { type: 'object', description: 'the same as the error object of other answers has it' },
    voice: {
      ...STRING,
      description: 'the voice that stands in for the one of OpenAI or Qwen that was named',
    },
    ignored_fields: { ...listOf(STRING), description: 'fields that the engine cannot heed' },
  },
  ['error_detail', 'voice', 'ignored_fields'],
);

function batchSchema(limits: SpeechFieldLimits): RouteSchema {
  const { input: _input, ...shared } = speechBody(limits).properties ?? {};
  const names = Object.keys(shared).join('`, `');
  return {
    summary: 'Speak several texts',
    description: `Fields that may stand beside the list: \`${names}\`. \`response_format\` is wav where none is named.`,
    tags: [TAGS.speech],
    body: {
      type: 'object',
      properties: { items: ITEMS, requests: { ...ITEMS, description: 'another name of `items`' } },
    },
    response: {
      200: jsonAnswer(
        'a result for each item, in order',
        object({
          id: STRING,
          results: listOf(RESULT),
          total: INTEGER,
          succeeded: INTEGER,
          failed: INTEGER,
        }),
      ),
    },
  };
}

/** As its schema lets it through. */
interface BatchBody extends Omit<SpeechBody, 'input'> {
  readonly items?: readonly object[];
  readonly requests?: readonly object[];
}

/** An item of the list as a request, or the error that refuses it. */
type BatchItem = {
  /** Path of the item in the body, such as `items[3]`. */
  readonly place: string;
} & ({ readonly request: SpeechRequest; readonly names: FieldNames } | { readonly refusal: unknown });

/** Validates the body of one request against its schema; throws the error. */
type CheckBody = (body: object) => SpeechBody;

const DEFAULT_FORMAT = 'wav'; // for this path only: its clients save the answer as .wav

/** Throws if the list itself is missing. An invalid item fails alone. */
function readBatchRequest(body: BatchBody, check: CheckBody, client: string): BatchItem[] {
  const { items: named, requests, ...shared } = body;
  const field = named === undefined && requests !== undefined ? 'requests' : 'items';
  const items = named ?? requests;
  if (items === undefined) {
    throw new ParleyError('INVALID_FIELD', `"items" must be a list of 1 to ${MAX_ITEMS} speech requests`, {
      field: 'items',
    });
  }
  return items.map((item, index) => {
    const place = `${field}[${index}]`;
    const fields = withoutDelivery({ response_format: DEFAULT_FORMAT, ...shared, ...item });
    try {
      const checked = check(fields);
      return { place, request: readSpeechRequest(checked, client), names: fieldNamesOf(checked) };
    } catch (refusal) {
      return { place, refusal };
    }
  });
}

/** Drops the delivery options, because one answer carries all renderings. */
function withoutDelivery(fields: Readonly<Record<string, unknown>>): object {
  const { stream: _stream, stream_format: _form, non_streaming_mode: _whole, ...rest } = fields;
  return rest;
}

interface BatchParts {
  readonly speech: SpeechSource;
  readonly requestId: string;
  /** Called for each item that could not be spoken. */
  readonly failed: (error: unknown) => void;
}

interface Made {
  readonly contentType: string;
  readonly chunks: readonly Uint8Array[];
  /** Fields of the item that its engine cannot heed. */
  readonly ignored: readonly string[] | undefined;
  /** The voice that stands in for the one that the item names; undefined where none does. */
  readonly standIn: string | undefined;
  readonly outcome: SoundOutcome | undefined;
}

interface Making {
  /** Resolves with the first sound, or the end without any. */
  readonly begun: Promise<void>;
  readonly made: Promise<Made | { readonly error: unknown }>;
}

const AT_ONCE = 4; // items of one batch
const MAX_ITEM_BYTES = 16 * 1024 * 1024; // 5 min of the default format, more of any other
const PIECE_BYTES = 48 * 1024; // a multiple of 3: no padding inside

class BatchStream implements SoundSource {
  readonly contentType = 'application/json; charset=utf-8';
  readonly outcome: Promise<SoundOutcome | undefined>;
  readonly #parts: BatchParts;
  readonly #items: readonly BatchItem[];
  readonly #signal: AbortSignal;
  readonly #outcomes: (SoundOutcome | undefined)[] = [];
  #resolveOutcome!: (outcome: SoundOutcome | undefined) => void;
  readonly #own = new AbortController();

  constructor(parts: BatchParts, items: readonly BatchItem[], signal: AbortSignal) {
    this.#parts = parts;
    this.#items = items;
    this.#signal = AbortSignal.any([signal, this.#own.signal]);
    this.outcome = new Promise((resolve) => (this.#resolveOutcome = resolve));
  }

  cancel(): void {
    this.#own.abort();
    this.#resolveOutcome(undefined);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    const ahead: Making[] = [];
    let started = 0;
    let succeeded = 0;
    for (const index of this.#items.keys()) {
      for (const item of this.#items.slice(started, index + AT_ONCE)) ahead.push(this.#make(item));
      started = Math.min(index + AT_ONCE, this.#items.length);
      const making = ahead.shift();
      if (making === undefined) break;
      if (index === 0) {
        await making.begun;
        yield Buffer.from(`{"id":${JSON.stringify(`speech-batch-${this.#parts.requestId}`)},"results":[`);
      }
      const made = await making.made;
      if (this.#signal.aborted) throw new ParleyError('ABORTED', 'the batch was given up');
      if (!('error' in made)) succeeded++;
      yield* this.#result(index, made);
    }
    const total = this.#items.length;
    yield Buffer.from(`],"total":${total},"succeeded":${succeeded},"failed":${total - succeeded}}`);
    this.#resolveOutcome(summed(this.#outcomes));
  }

  *#result(index: number, made: Awaited<Making['made']>): Generator<Uint8Array, void, undefined> {
    const comma = index === 0 ? '' : ',';
    if ('error' in made) {
      const { error } = errorReply(made.error, this.#parts.requestId).body;
      const fields = { index, status: 'error', audio_data: null, media_type: null };
      yield Buffer.from(comma + JSON.stringify({ ...fields, error: error.message, error_detail: error }));
      return;
    }
    this.#outcomes.push(made.outcome);
    const { contentType, ignored, standIn } = made;
    const details = stated({ voice: standIn, ignored_fields: ignored });
    const fields = { index, status: 'success', media_type: contentType, error: null, ...details };
    yield Buffer.from(`${comma}${JSON.stringify(fields).slice(0, -1)},"audio_data":"`);
    const bytes = Buffer.concat(wholeFile(Buffer.concat(made.chunks), made.outcome?.header));
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      yield Buffer.from(base64(bytes.subarray(at, at + PIECE_BYTES)));
    }
    yield Buffer.from('"}');
  }

  #make(item: BatchItem): Making {
    let begin!: () => void;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const made = this.#made(item, begin).catch((error: unknown) => {
      this.#parts.failed(error);
      return { error: placed(error, item.place) };
    });
    void made.then(begin);
    return { begun, made };
  }

  async #made(item: BatchItem, begin: () => void): Promise<Made> {
    if ('refusal' in item) throw item.refusal;
    const { speech } = this.#parts;
    const signal = this.#signal;
    const request = await fittedWithVoice(speech, { ...item.request, delivery: 'whole' }, signal);
    const { standsIn, voice } = speech.spokenBy?.(request) ?? {};
    const found = speech.find(request);
    const sound = found === undefined ? await speech.openStream(request, signal) : new FoundStream(found);
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of sound) {
      begin();
      bytes += chunk.byteLength;
      if (bytes > MAX_ITEM_BYTES) throw tooLarge();
      chunks.push(chunk);
    }
    return {
      contentType: item.request.format.contentType,
      chunks,
      ignored: ignoredNames(request, item.names),
      standIn: standsIn === true ? voice : undefined,
      outcome: await ownOutcome(sound),
    };
  }
}

/** The error with the item's place before the field. */
function placed(error: unknown, place: string): unknown {
  if (!(error instanceof ParleyError) || error.field === undefined) return error;
  const field = error.field === 'text' ? 'input' : error.field;
  return renamed(error, { [error.field]: `${place}.${field}` });
}

function tooLarge(): ParleyError {
  return new ParleyError(
    'TOO_LARGE',
    `the sound of one item may have ${MAX_ITEM_BYTES} bytes; a compressed "response_format" or a shorter text helps`,
    { field: 'response_format' },
  );
}

function summed(outcomes: readonly (SoundOutcome | undefined)[]): SoundOutcome {
  const all = outcomes.filter((outcome) => outcome !== undefined);
  const sum = (of: (outcome: SoundOutcome) => number) => all.reduce((total, each) => total + of(each), 0);
  return {
    durationMs: sum(({ durationMs }) => durationMs),
    sentences: [], // positions in different renderings have no common meaning
    timing: {
      queueMs: sum(({ timing }) => timing.queueMs),
      loadMs: sum(({ timing }) => timing.loadMs),
      inferMs: sum(({ timing }) => timing.inferMs),
      encodeMs: sum(({ timing }) => timing.encodeMs),
    },
  };
}

const MAX_BATCHES = 8; // at once; each holds the sound of a few items
const MIXED = 'batch'; // in the log, of items of several formats

export function addBatchRoute(app: FastifyInstance, parts: SpeakingParts): void {
  const { speech, limits, models, replies, metrics, log } = parts;
  const itemSchema = speechBody(limits);
  let open = 0;

  const route = { schema: batchSchema(limits), bodyLimit: bodyLimitOf(limits) };
  app.post<{ Body: BatchBody }>('/v1/audio/speech/batch', route, async (request, reply) => {
    const valid = request.compileValidationSchema(itemSchema as Record<string, unknown>);
    const check: CheckBody = (body) => {
      if (!valid(body)) throw fieldRefusal(valid.errors ?? []);
      models.check((body as SpeechBody).model);
      return body as SpeechBody;
    };
    const items = readBatchRequest(request.body, check, request.client);
    if (open >= MAX_BATCHES) {
      throw new ParleyError('QUEUE_FULL', `${MAX_BATCHES} batches are being spoken already`);
    }
    request.speechLog = logOf(items, speech);
    const failed = (error: unknown) => {
      if (isAborted(error) || errorReply(error, request.id).status < 500) return;
      log.warn({ requestId: request.id, err: error }, 'speech of a batch failed');
    };
    const batch = { speech, requestId: request.id, failed };
    open++;
    try {
      await replies.send(reply, {
        open: (signal) => Promise.resolve(new BatchStream(batch, items, signal)),
        headers: {},
        begun: () => metrics.firstAudio(performance.now() - request.startedAtMs, 'http'),
        broken: (error) => brokenOff(request, log, error),
      });
    } finally {
      open--;
    }
  });
}

/** One line for all: their words together, and their format, voice and language where that is one. */
function logOf(items: readonly BatchItem[], speech: SpeakingParts['speech']): SpeechLog {
  const requests = items.flatMap((item) => ('request' in item ? [item.request] : []));
  const text = requests.map(({ text: words }) => words).join('\n');
  const format = theOnly(requests.map((request) => request.format.name)) ?? MIXED;
  const logs = requests.map((request) => logOfItem(request, speech));
  const voice = theOnly(logs.map((log) => log.voice));
  const language = theOnly(logs.map((log) => log.language));
  return new SpeechLog({ text, ...stated({ voice, language }) }, format);
}

function logOfItem(request: SpeechRequest, speech: SpeakingParts['speech']): SpeechLog {
  const log = new SpeechLog(request, request.format.name);
  try {
    if (request.sample === undefined && request.reference === undefined) log.resolve(speech, request);
  } catch {
    // An item that cannot be spoken is answered with its own error.
  }
  return log;
}

function theOnly<T>(values: readonly T[]): T | undefined {
  return new Set(values).size === 1 ? values[0] : undefined;
}
