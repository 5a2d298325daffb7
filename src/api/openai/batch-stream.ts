// Several texts in one answer: each result is written as soon as those before it
// are, while a few after it are being made. So an answer holds the sound of those
// few and of no more, however many there are.
//
// An item that fails says so in its own place; the others are not touched.
import { ParleyError } from '../../errors.js';
import { stated } from '../../speaking/speech-request.js';
import { base64 } from './base64-pieces.js';
import type { BatchItem } from './batch-request.js';
import { errorReply } from '../http/error-reply.js';
import { renamed } from './field-names.js';
import { FoundStream } from './found-stream.js';
import type { SpeechSource } from './speech-source.js';
import { fittedWithVoice, ignoredNames } from './spoken-request.js';
import { ownOutcome } from './timing-headers.js';
import { wholeFile } from './whole-sound.js';
import type { SoundOutcome, SoundSource } from '../../speaking/sound.js';

export interface BatchParts {
  readonly speech: SpeechSource;
  readonly requestId: string;
  /** Told of each item that could not be spoken. */
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

export class BatchStream implements SoundSource {
  readonly contentType = 'application/json; charset=utf-8';
  readonly outcome: Promise<SoundOutcome | undefined>;
  readonly #parts: BatchParts;
  readonly #items: readonly BatchItem[];
  readonly #signal: AbortSignal;
  readonly #outcomes: (SoundOutcome | undefined)[] = [];
  #told!: (outcome: SoundOutcome | undefined) => void;
  readonly #own = new AbortController();

  constructor(parts: BatchParts, items: readonly BatchItem[], signal: AbortSignal) {
    this.#parts = parts;
    this.#items = items;
    this.#signal = AbortSignal.any([signal, this.#own.signal]);
    this.outcome = new Promise((resolve) => (this.#told = resolve));
  }

  cancel(): void {
    this.#own.abort();
    this.#told(undefined);
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
    this.#told(summed(this.#outcomes));
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
    const told = stated({ voice: standIn, ignored_fields: ignored });
    const fields = { index, status: 'success', media_type: contentType, error: null, ...told };
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
    const request = await fittedWithVoice(speech, item.request, signal);
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
    sentences: [], // of different sounds: their places mean nothing together
    timing: {
      queueMs: sum(({ timing }) => timing.queueMs),
      loadMs: sum(({ timing }) => timing.loadMs),
      inferMs: sum(({ timing }) => timing.inferMs),
      encodeMs: sum(({ timing }) => timing.encodeMs),
    },
  };
}
