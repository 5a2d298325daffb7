// Sends sound as the body of an HTTP reply: streamed while it is made, or whole with its length, and with
// headers that state what it took. Nothing is sent before the first bytes exist, so an earlier failure or a
// timeout is an ordinary error. A later failure destroys the connection: a client must never take half a text
// for the whole. A client that reads slowly delays its own stream only; one that reads nothing for too long
// is disconnected.
import type { FastifyReply } from 'fastify';
import { ParleyError } from '../../errors.js';
import type { Sound, SoundOutcome, SoundSource } from '../../speaking/sound.js';
import { breakOff, drained, isGone, refuseAborted } from '../http/reply-connection.js';

interface AudioReplyOptions {
  /** Replies at once; more are refused with QUEUE_FULL. */
  readonly maxReplies: number;
  /** Milliseconds for which a client may take nothing of what waits for it. */
  readonly stallMs: number;
  /** Milliseconds until the first bytes of a reply. */
  readonly requestTimeoutMs: number;
}

interface AudioReply {
  /** Starts the work; the signal aborts it when the client leaves or the server closes. */
  readonly open: (signal: AbortSignal) => Promise<SoundSource>;
  /** Sent before the headers that describe the stream. */
  readonly headers: Headers;
  /** Called when the first bytes of audio are sent. */
  readonly begun: () => void;
  /** Called with the reason if the connection is destroyed after that. */
  readonly broken: (error: unknown) => void;
  /** If true, the answer is sent once complete, with its length and its timing. */
  readonly whole?: boolean;
}

type Headers = Readonly<Record<string, string>>;

// The limit of one whole reply is 11 minutes of 24 kHz PCM; a longer sound is streamed. The total limits all
// replies that are being gathered or sent from the cache.
const WHOLE_LIMITS = { maxBytes: 32 * 1024 * 1024, maxTotalBytes: 256 * 1024 * 1024 };

// A proxy must neither buffer a stream nor keep it.
const STREAM_HEADERS = { 'cache-control': 'no-cache, no-store', 'x-accel-buffering': 'no' };

/** A sound whose first bytes are there. */
interface BegunSound {
  readonly reply: FastifyReply;
  readonly audio: AudioReply;
  readonly stream: SoundSource;
  readonly first: IteratorResult<Uint8Array>;
  readonly rest: AsyncIterator<Uint8Array>;
  readonly signal: AbortSignal;
}

export class AudioReplies {
  readonly #options: AudioReplyOptions;
  readonly #wholes = new WholeSounds(WHOLE_LIMITS);
  readonly #open = new Map<AbortController, Promise<void>>();
  #closing: Promise<void> | undefined;

  constructor(options: AudioReplyOptions) {
    this.#options = options;
  }

  /** Rejects with what goes wrong before the first byte; later failures end the connection. */
  async send(reply: FastifyReply, audio: AudioReply): Promise<void> {
    if (this.#closing !== undefined) throw new ParleyError('ABORTED', 'the server is closing');
    // A client that left earlier causes no further event, so the server would wait for it.
    if (isGone(reply.raw)) throw new ParleyError('ABORTED', 'the client left before the work began');
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

  /**
   * A sound that is there whole: no work to count, and none to stop. `asFile`: as one that was asked for
   * whole. Throws QUEUE_FULL if slow clients hold as much as they may.
   */
  sendWhole(
    reply: FastifyReply,
    { contentType, bytes, outcome }: Sound,
    headers: Headers,
    asFile = false,
  ): void {
    const totalMs = performance.now() - reply.request.startedAtMs;
    const pieces = asFile ? wholeFile(bytes, outcome.header) : [bytes];
    if (isLarge(reply, bytes)) this.#hold(reply, bytes);
    const length = ['x-cache', 'hit', 'content-length', String(lengthOf(pieces))];
    begin(reply, { 'content-type': contentType, ...headers }, [...length, ...foundHeaders(totalMs)]);
    this.#end(reply, pieces);
  }

  /** Counts a sound until its client has taken it or left. */
  #hold({ raw }: FastifyReply, bytes: Uint8Array): void {
    const letGo = this.#wholes.share(bytes);
    raw.once('close', letGo);
    if (isGone(raw)) letGo(); // it may be closed already
  }

  /** The system takes a small sound at once; for the rest the socket watches whether anything moves. */
  #end(reply: FastifyReply, pieces: readonly Uint8Array[]): void {
    const { raw } = reply;
    if (isLarge(reply, ...pieces)) raw.setTimeout(this.#options.stallMs, () => breakOff(raw));
    for (const piece of pieces.slice(0, -1)) raw.write(piece);
    raw.end(pieces.at(-1));
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
      const { speechLog } = reply.request;
      if (speechLog !== null) speechLog.cache = stream.cache;
      const sound = { reply, audio, stream, first, rest: chunks, signal };
      if (audio.whole === true) {
        await this.#sendGathered(sound);
      } else {
        begun = true;
        await this.#sendStream(sound);
      }
    } catch (error) {
      if (!begun) throw error;
      breakOff(reply.raw);
      audio.broken(error);
    } finally {
      signal.removeEventListener('abort', cancel);
      stream.cancel();
    }
  }

  async #sendStream(sound: BegunSound): Promise<void> {
    const { reply, audio, stream, first } = sound;
    const { raw, request } = reply;
    // HTTP/1.0 has no trailers for values known only after the body.
    const trailing = stream.contentType.startsWith('audio/') && request.raw.httpVersion !== '1.0';
    begin(reply, {
      'content-type': stream.contentType,
      ...audio.headers,
      ...STREAM_HEADERS,
      ...(trailing ? { trailer: TIMING_NAMES } : {}),
      ...cacheHeader(stream),
    });
    if (first.done !== true) {
      audio.begun();
      await this.#pour(sound);
    }
    const timing = (await outcomeOf(sound))?.timing;
    if (trailing && timing !== undefined) {
      raw.addTrailers(timingHeaders(timing, performance.now() - request.startedAtMs));
    }
    raw.end();
  }

  async #sendGathered(sound: BegunSound): Promise<void> {
    const { reply, audio, stream, first, rest, signal } = sound;
    const { bytes, letGo } = await this.#wholes.gather(first, rest);
    reply.raw.once('close', letGo);
    if (signal.aborted) letGo(); // it may be closed already
    refuseAborted(signal);
    const outcome = await outcomeOf(sound);
    const pieces = wholeFile(bytes, outcome?.header);
    const totalMs = performance.now() - reply.request.startedAtMs;
    audio.begun();
    begin(reply, {
      'content-type': stream.contentType,
      ...audio.headers,
      ...cacheHeader(stream),
      'content-length': String(lengthOf(pieces)),
      ...(outcome === undefined ? {} : timingHeaders(outcome.timing, totalMs)),
    });
    this.#end(reply, pieces);
  }

  async #pour({ reply: { raw }, first, rest, signal }: BegunSound): Promise<void> {
    let chunk = first;
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

/** Returns the outcome and logs its timing; undefined if the stream broke off. */
async function outcomeOf({ reply, stream }: BegunSound): Promise<SoundOutcome | undefined> {
  const outcome = await ownOutcome(stream);
  const { speechLog } = reply.request;
  if (speechLog !== null) speechLog.timing = outcome?.timing;
  return outcome;
}

function lengthOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
}

/** True if some of it may wait for the client. */
function isLarge({ raw }: FastifyReply, ...pieces: readonly Uint8Array[]): boolean {
  return lengthOf(pieces) > raw.writableHighWaterMark;
}

function cacheHeader({ cache }: SoundSource): Record<string, string> {
  return cache === undefined ? {} : { 'x-cache': cache };
}

/**
 * From here on the connection belongs to the audio, and fastify answers nothing more on it. `more` is names
 * and values in turn, as the server writes them; none of them may be among the others.
 */
function begin(reply: FastifyReply, headers: Headers, more: readonly string[] = []): void {
  reply.hijack();
  const lines = [...more];
  const standing = reply.getHeaders();
  for (const name in standing) if (!(name in headers)) lines.push(name, String(standing[name]));
  for (const name in headers) lines.push(name, headers[name] ?? '');
  reply.raw.writeHead(200, lines);
}

interface WholeLimits {
  /** Bytes of one sound. */
  readonly maxBytes: number;
  /** Bytes of all that are being gathered or sent. */
  readonly maxTotalBytes: number;
}

export class WholeSounds {
  readonly #limits: WholeLimits;
  /** Replies that send each sound from where it lies. */
  readonly #shared = new Map<Uint8Array, number>();
  #held = 0;

  constructor(limits: WholeLimits) {
    this.#limits = limits;
  }

  /** Bytes held now. */
  get held(): number {
    return this.#held;
  }

  /** The sound, in a buffer of its own; `letGo` gives its bytes back. Rejects as its chunks do. */
  async gather(
    first: IteratorResult<Uint8Array>,
    rest: AsyncIterator<Uint8Array>,
  ): Promise<{ readonly bytes: Uint8Array; readonly letGo: () => void }> {
    const chunks: Uint8Array[] = [];
    let taken = 0;
    const letGo = () => {
      this.#held -= taken;
      taken = 0;
    };
    try {
      for (let next = first; next.done !== true; next = await rest.next()) {
        this.#checkRoom(taken, next.value.byteLength);
        taken += next.value.byteLength;
        this.#held += next.value.byteLength;
        chunks.push(next.value);
      }
    } catch (error) {
      letGo();
      throw error;
    }
    return { bytes: Buffer.concat(chunks), letGo };
  }

  /**
   * Counts a sound that is sent from where it lies, once however many replies send it. The function returned,
   * which may be called again, gives its bytes back. Throws QUEUE_FULL; a sound is never refused if nothing
   * else is held.
   */
  share(bytes: Uint8Array): () => void {
    const replies = this.#shared.get(bytes) ?? 0;
    if (replies === 0) {
      if (this.#held > 0) this.#checkTotal(bytes.byteLength);
      this.#held += bytes.byteLength;
    }
    this.#shared.set(bytes, replies + 1);
    let held = true;
    return () => {
      if (held) this.#unshare(bytes);
      held = false;
    };
  }

  #unshare(bytes: Uint8Array): void {
    const left = (this.#shared.get(bytes) ?? 1) - 1;
    if (left > 0) {
      this.#shared.set(bytes, left);
      return;
    }
    this.#shared.delete(bytes);
    this.#held -= bytes.byteLength;
  }

  #checkRoom(taken: number, more: number): void {
    const { maxBytes } = this.#limits;
    if (taken + more > maxBytes) {
      const limit = `"stream" must not be false for a sound of more than ${maxBytes} bytes`;
      throw new ParleyError('INVALID_FIELD', limit, { field: 'stream' });
    }
    this.#checkTotal(more);
  }

  #checkTotal(more: number): void {
    const { maxTotalBytes } = this.#limits;
    if (this.#held + more <= maxTotalBytes) return;
    throw new ParleyError(
      'QUEUE_FULL',
      `${maxTotalBytes} bytes of whole sounds are being made or sent already`,
    );
  }
}

/**
 * The pieces of a whole file: the beginning of a stream gives way to one that states the length, where the
 * format has one.
 */
export function wholeFile(bytes: Uint8Array, header: SoundOutcome['header']): readonly Uint8Array[] {
  return header === undefined ? [bytes] : [header.bytes, bytes.subarray(header.replaced)];
}

const NAMES = {
  queueMs: 'x-latency-queue-ms',
  loadMs: 'x-latency-load-ms',
  inferMs: 'x-latency-infer-ms',
  encodeMs: 'x-latency-encode-ms',
} as const;
const TOTAL = 'x-latency-total-ms';
const SERVER_TIMING = 'server-timing';

/** Their names, as a stream announces that they come after it. */
const TIMING_NAMES = [...Object.values(NAMES), TOTAL, SERVER_TIMING].join(', ');

export const NO_WORK: SoundOutcome['timing'] = { queueMs: 0, loadMs: 0, inferMs: 0, encodeMs: 0 };
const NOTHING = Object.values(NAMES).flatMap((name) => [name, '0']);

/** Returns the outcome of a stream. A rendering made for another request counts no work for this one. */
export async function ownOutcome({
  cache,
  outcome,
}: Pick<SoundSource, 'cache' | 'outcome'>): Promise<SoundOutcome | undefined> {
  const known = await outcome;
  return known === undefined || cache !== 'hit' ? known : { ...known, timing: NO_WORK };
}

/** `totalMs` counts from the head of the request. */
function timingHeaders(timing: SoundOutcome['timing'], totalMs: number): Record<string, string> {
  const queue = written(timing.queueMs);
  const load = written(timing.loadMs);
  const infer = written(timing.inferMs);
  const encode = written(timing.encodeMs);
  const total = written(totalMs);
  return {
    [NAMES.queueMs]: queue,
    [NAMES.loadMs]: load,
    [NAMES.inferMs]: infer,
    [NAMES.encodeMs]: encode,
    [TOTAL]: total,
    [SERVER_TIMING]: `queue;dur=${queue}, load;dur=${load}, infer;dur=${infer}, encode;dur=${encode}, total;dur=${total}`,
  };
}

/** Timing headers of a cached rendering, names and values in turn. Its only cost is the answer itself. */
function foundHeaders(totalMs: number): string[] {
  const total = written(totalMs);
  return [...NOTHING, TOTAL, total, SERVER_TIMING, `cache;desc=hit, total;dur=${total}`];
}

function written(ms: number): string {
  return String(Math.round(ms * 10) / 10);
}

/** Rejects `passed` and calls `stop` when the first byte of audio takes longer than `ms`. */
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

  /** The first byte is there: cancels the timer. */
  keep(): void {
    clearTimeout(this.#timer);
  }
}
