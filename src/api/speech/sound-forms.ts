// Sends sound in another form than its bytes: as server-sent events, in pieces of a size that clients can
// read, and in base64. A failure after the first event is an event itself: unlike a file, a stream of events
// can say that it is incomplete.
import { asParleyError, isAborted, ParleyError } from '../../errors.js';
import type { Sound, SoundOutcome, SoundSource } from '../../speaking/sound.js';
import { errorReply } from '../http/error-reply.js';
import { ownOutcome } from './audio-replies.js';

/** Writes a dialect's events, including their blank lines. */
export interface EventWords {
  chunk(bytes: Uint8Array): string;
  done(outcome: SoundOutcome): string;
  failed(error: ParleyError): string;
}

export class EventStream implements SoundSource {
  readonly contentType = 'text/event-stream; charset=utf-8';
  readonly outcome: Promise<SoundOutcome | undefined>;
  readonly #source: SoundSource;
  readonly #words: EventWords;

  constructor(source: SoundSource, words: EventWords) {
    this.#source = source;
    this.#words = words;
    this.outcome = source.outcome;
  }

  get cache(): 'hit' | 'miss' | undefined {
    return this.#source.cache;
  }

  cancel(): void {
    this.#source.cancel();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    let begun = false;
    try {
      for await (const chunk of this.#source) {
        yield Buffer.from(this.#words.chunk(chunk));
        begun = true;
      }
      const outcome = await ownOutcome(this);
      if (outcome === undefined) throw new ParleyError('ABORTED', 'the sound broke off');
      yield Buffer.from(this.#words.done(outcome));
    } catch (error) {
      // Before the first event the answer is an ordinary error. A client that left gets none.
      if (!begun || isAborted(error)) throw error;
      yield Buffer.from(this.#words.failed(asParleyError(error, 'ENGINE_FAILED')));
    }
  }
}

const BYTES_PER_TOKEN = 4; // bytes of text; the usual estimate without a tokenizer
const FRAME_MS = 80; // audio of one codec frame: 12.5 frames a second

interface EventFacts {
  readonly text: string;
  readonly requestId: string;
  /** On the clock of `performance.now()`. */
  readonly startedAtMs: number;
  /** Called with the error that broke the audio off. */
  readonly broken: (error: ParleyError) => void;
}

export function speechEvents({ text, requestId, startedAtMs, broken }: EventFacts): EventWords {
  return {
    chunk: (bytes) => {
      // Base64 needs no escapes, and a sound has many pieces.
      const audio = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
      return `event: speech.audio.delta\ndata: {"type":"speech.audio.delta","audio":"${audio}"}\n\n`;
    },
    done: (outcome) => {
      const totalMs = performance.now() - startedAtMs;
      return event({
        type: 'speech.audio.done',
        usage: usageOf(text, outcome),
        timing: timingOf(outcome, totalMs),
      });
    },
    failed: (error) => {
      broken(error);
      return event({ type: 'error', ...errorReply(error, requestId).body });
    },
  };
}

function event(data: { readonly type: string } & Readonly<Record<string, unknown>>): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

function usageOf(text: string, { durationMs }: SoundOutcome) {
  const input_tokens = Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
  const output_tokens = Math.ceil(durationMs / FRAME_MS);
  return { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens };
}

function timingOf({ timing }: SoundOutcome, totalMs: number) {
  const rounded = (ms: number) => Math.round(ms * 10) / 10;
  return {
    queue_ms: rounded(timing.queueMs),
    load_ms: rounded(timing.loadMs),
    infer_ms: rounded(timing.inferMs),
    encode_ms: rounded(timing.encodeMs),
    total_ms: rounded(totalMs),
  };
}

// One event of this size has 16 KiB of base64: some readers give up lines above 64 KiB. A multiple of three
// needs no padding.
const PIECE_BYTES = 12 * 1024;

export class FoundStream implements SoundSource {
  readonly contentType: string;
  readonly cache = 'hit';
  readonly outcome: Promise<SoundOutcome | undefined>;
  readonly #bytes: Uint8Array;
  readonly #sentences: SoundOutcome['sentences'];
  #at = 0;

  constructor({ contentType, bytes, outcome }: Sound) {
    this.contentType = contentType;
    this.#bytes = bytes;
    this.#sentences = outcome.sentences;
    this.outcome = Promise.resolve(outcome);
  }

  placed(): SoundOutcome['sentences'] {
    return this.#sentences;
  }

  cancel(): void {
    this.#at = this.#bytes.byteLength;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    while (this.#at < this.#bytes.byteLength) {
      yield this.#bytes.subarray(this.#at, (this.#at += PIECE_BYTES));
    }
  }
}

const GROUP = 3;

export class Base64Pieces {
  #rest: Uint8Array = new Uint8Array(0);

  push(bytes: Uint8Array): string {
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const whole = all.length - (all.length % GROUP);
    this.#rest = all.slice(whole);
    return base64(all.subarray(0, whole));
  }

  /** The last of it, padded. */
  end(): string {
    const rest = this.#rest;
    this.#rest = new Uint8Array(0);
    return base64(rest);
  }
}

export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
