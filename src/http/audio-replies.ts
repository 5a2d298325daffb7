// Sound as the body of a reply, sent while it is still being made.
//
// Nothing is sent until the first bytes are there, so that what fails before
// them, or takes too long for them, is an ordinary error. What fails after them destroys the connection: a
// client must never take half a text for the whole. A client that reads slowly
// holds up its own stream only; one that reads nothing for too long is dropped.
import type { FastifyReply } from 'fastify';
import { ParleyError } from '../errors.js';

/** What is known of a text once it is spoken. */
export interface AudioOutcome {
  readonly durationMs: number;
  readonly sentences: readonly {
    readonly text: string;
    readonly startMs: number;
    readonly endMs: number;
    readonly words: readonly {
      readonly word: string;
      readonly textOffset: number;
      readonly startMs: number;
    }[];
  }[];
  /** Milliseconds. */
  readonly timing: {
    readonly queueMs: number;
    readonly loadMs: number;
    readonly inferMs: number;
    readonly encodeMs: number;
  };
}

/** A text being spoken: iterate once; leaving the loop or `cancel` stops the work. */
export interface AudioStream extends AsyncIterable<Uint8Array> {
  readonly contentType: string;
  /** Resolves, never rejects, at the end of the bytes; undefined where they broke off. */
  readonly outcome: Promise<AudioOutcome | undefined>;
  /** Whether it was rendered before; absent where nobody looked. */
  readonly cache?: 'hit' | 'miss' | undefined;
  /** The sentences whose place is known so far, in order; absent where that is known at the end only. */
  placed?(): AudioOutcome['sentences'];
  cancel(): void;
}

export interface AudioReplyOptions {
  /** Replies at once; more are refused with QUEUE_FULL. */
  readonly maxReplies: number;
  /** Milliseconds for which a client may take nothing of what waits for it. */
  readonly stallMs: number;
  /** Milliseconds until the first bytes of a reply. */
  readonly requestTimeoutMs: number;
}

export interface AudioReply {
  /** Starts the work; the signal aborts it when the client leaves or the server closes. */
  readonly open: (signal: AbortSignal) => Promise<AudioStream>;
  /** They come before what the stream says of itself. */
  readonly headers: Readonly<Record<string, string>>;
  /** Told when the first bytes of sound go out. */
  readonly begun: () => void;
  /** Told why the connection was destroyed after that. */
  readonly broken: (error: unknown) => void;
}

export class AudioReplies {
  readonly #options: AudioReplyOptions;
  readonly #open = new Map<AbortController, Promise<void>>();
  #closing: Promise<void> | undefined;

  constructor(options: AudioReplyOptions) {
    this.#options = options;
  }

  /** Rejects with what goes wrong before the first byte; later failures end the connection. */
  async send(reply: FastifyReply, audio: AudioReply): Promise<void> {
    if (this.#closing !== undefined) throw new ParleyError('ABORTED', 'the server is closing');
    const { maxReplies } = this.#options;
    if (this.#open.size >= maxReplies) {
      throw new ParleyError('QUEUE_FULL', `${maxReplies} texts are being spoken over HTTP already`);
    }
    const controller = new AbortController();
    const gone = () => controller.abort();
    reply.raw.once('close', gone);
    const limit = new FirstByteLimit(this.#options.requestTimeoutMs, gone);
    const work = this.#run(reply, audio, controller.signal, limit);
    this.#open.set(
      controller,
      work.catch(() => undefined),
    );
    try {
      await Promise.race([work, limit.passed]);
    } finally {
      limit.keep();
      controller.abort();
      // Work that does not heed the abort still counts until it ends.
      void this.#open.get(controller)?.then(() => this.#open.delete(controller));
      reply.raw.off('close', gone);
    }
  }

  /** A sound that is there whole: no work to count, and none to stop. */
  sendWhole(
    reply: FastifyReply,
    { contentType, bytes }: { readonly contentType: string; readonly bytes: Uint8Array },
    headers: Readonly<Record<string, string>>,
  ): void {
    const { raw } = reply;
    const length = String(bytes.byteLength);
    begin(reply, { 'content-type': contentType, ...headers, 'x-cache': 'hit', 'content-length': length });
    // The system takes a small one at once; for the rest the socket watches whether anything moves.
    const { stallMs } = this.#options;
    if (bytes.byteLength > raw.writableHighWaterMark) raw.setTimeout(stallMs, () => raw.destroy());
    raw.end(bytes);
  }

  async #run(
    reply: FastifyReply,
    audio: AudioReply,
    signal: AbortSignal,
    limit: FirstByteLimit,
  ): Promise<void> {
    const stream = await audio.open(signal);
    // A producer may not look at the signal while it waits.
    const cancel = () => stream.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    let begun = false;
    try {
      refuseAborted(signal);
      const chunks = stream[Symbol.asyncIterator]();
      const first = await chunks.next();
      refuseAborted(signal);
      limit.keep();
      begun = true;
      const { contentType, cache } = stream;
      const told = cache === undefined ? {} : { 'x-cache': cache };
      begin(reply, { 'content-type': contentType, ...audio.headers, ...told });
      if (first.done !== true) {
        audio.begun();
        await this.#pour(reply, first.value, chunks, signal);
      }
      reply.raw.end();
    } catch (error) {
      if (!begun) throw error;
      reply.raw.destroy();
      audio.broken(error);
    } finally {
      signal.removeEventListener('abort', cancel);
      stream.cancel();
    }
  }

  async #pour(
    { raw }: FastifyReply,
    first: Uint8Array,
    rest: AsyncIterator<Uint8Array>,
    signal: AbortSignal,
  ): Promise<void> {
    let chunk: IteratorResult<Uint8Array> = { done: false, value: first };
    while (chunk.done !== true) {
      refuseAborted(signal);
      if (!raw.write(chunk.value)) await drained(raw, this.#options.stallMs, signal);
      chunk = await rest.next();
    }
    refuseAborted(signal); // a stream that ended because it was aborted is not complete
  }

  /** Ends every reply without a clean end, refuses new ones, and resolves when their work is freed. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const open = [...this.#open];
    for (const [controller] of open) controller.abort();
    await Promise.all(open.map(([, work]) => work));
  }
}

/** Rejects once when the first bytes took too long, and stops the work. */
class FirstByteLimit {
  readonly passed: Promise<never>;
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number, stop: () => void) {
    this.passed = new Promise((_, reject) => {
      this.#timer = setTimeout(() => {
        const limit = `there was no sound within ${ms / 1000} s, which is what REQUEST_TIMEOUT allows`;
        reject(new ParleyError('TIMEOUT', limit));
        stop();
      }, ms);
    });
  }

  keep(): void {
    clearTimeout(this.#timer);
  }
}

function refuseAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new ParleyError('ABORTED', 'the client left or the server is closing');
}

/** From here on the connection belongs to the audio, and fastify answers nothing more on it. */
function begin(reply: FastifyReply, headers: Readonly<Record<string, string>>): void {
  reply.hijack();
  reply.raw.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...headers });
}

function drained(raw: FastifyReply['raw'], stallMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: ParleyError) => {
      clearTimeout(timer);
      raw.off('drain', ready);
      signal.removeEventListener('abort', aborted);
      if (error === undefined) resolve();
      else reject(error);
    };
    const ready = () => settle();
    const aborted = () => settle(new ParleyError('ABORTED', 'the client left or the server is closing'));
    const timer = setTimeout(
      () => settle(new ParleyError('TIMEOUT', `the client read nothing for ${stallMs} ms`)),
      stallMs,
    );
    raw.on('drain', ready);
    signal.addEventListener('abort', aborted, { once: true });
    if (signal.aborted) aborted();
  });
}
