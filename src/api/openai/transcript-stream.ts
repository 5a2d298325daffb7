// Streams a transcription as OpenAI's events (server-sent events): each piece of text as soon as it is known,
// and the whole at the end; of a translation only the whole. Until the first event, a failure is an ordinary
// answer; then it is an event.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { asParleyError, isAborted } from '../../errors.js';
import type { Log } from '../../log.js';
import type { Time } from '../../time.js';
import type { TranscribedPiece, TranscriptionEnd } from '../../transcribing/transcriber.js';
import { sentencesOf, type Transcript } from '../../transcribing/transcript.js';
import { errorCode, errorReply } from '../http/error-reply.js';
import { fieldsJson } from '../http/json-fields.js';
import { breakOff } from '../http/reply-connection.js';
import { rounded, SHORT_FIELDS, type WrittenTranscript, writeTranscript } from './transcription-forms.js';
import { completeLog } from './transcription-log.js';
import type { TranscriptionOptions } from './transcription-request.js';

interface StreamFacts {
  readonly options: TranscriptionOptions;
  readonly transcript: Transcript;
  /** Bytes of the file; undefined if they are not known. */
  readonly size: number | undefined;
  readonly time: Time;
  readonly log: Log;
  /** Makes the transcript of the last event. */
  readonly written: (transcript: Transcript, end: TranscriptionEnd) => Promise<WrittenTranscript>;
}

type Work = (
  onPiece: (piece: TranscribedPiece) => void,
  onBytes: (count: number) => void,
) => Promise<TranscriptionEnd>;

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-store',
  'x-accel-buffering': 'no',
};
const HEARTBEAT_MS = 15_000; // keeps proxies from timing out
const STALL_MS = 60_000;
const PROGRESS_MS = 500; // between two events of progress

export class TranscriptStream {
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #facts: StreamFacts;
  #isBegun = false;
  #cancelHeartbeat: () => void = () => undefined;
  #bytes = 0;
  #seconds = 0;
  #progressAtMs: number;
  #segments = 0;

  constructor(
    { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
    facts: StreamFacts,
  ) {
    this.#request = request;
    this.#reply = reply;
    this.#facts = facts;
    // A file that cannot be read is refused before the first event.
    this.#progressAtMs = facts.time.now();
  }

  /** Rejects with what goes wrong before the first event. */
  async send(work: Work): Promise<FastifyReply> {
    const { transcript } = this.#facts;
    try {
      const end = await work(
        (piece) => this.#take(piece),
        (count) => this.#progress(count),
      );
      completeLog(this.#request.transcriptionLog, transcript, end);
      const { options, written } = this.#facts;
      const whole = await written(transcript, end);
      const timestamps = options.times === undefined ? {} : { timestamps: transcript.times };
      const isSubtitle = options.format === 'srt' || options.format === 'vtt';
      const subtitles = isSubtitle ? { subtitles: writeTranscript(whole, options).body } : {};
      this.#event({
        type: 'transcript.text.done',
        ...fieldsJson(SHORT_FIELDS, whole),
        ...timestamps,
        ...subtitles,
      });
      this.#end();
    } catch (error) {
      if (!this.#isBegun) throw error;
      this.#fail(error);
    } finally {
      this.#cancelHeartbeat();
    }
    return this.#reply;
  }

  #take(piece: TranscribedPiece): void {
    const { transcript, options } = this.#facts;
    this.#seconds = piece.endSeconds;
    const delta = transcript.add(piece);
    const isTold = delta !== '' && options.task === 'transcribe';
    if (isTold) this.#event({ type: 'transcript.text.delta', delta });
    if (isTold && options.segments) {
      for (const { text, beginSeconds, endSeconds } of sentencesOf(piece)) {
        const times = { start: rounded(beginSeconds), end: rounded(endSeconds) };
        const id = `seg_${String(++this.#segments).padStart(3, '0')}`;
        this.#event({ type: 'transcript.text.segment', id, text, ...times });
      }
    }
    this.#tellProgress();
  }

  #progress(count: number): void {
    this.#bytes += count;
    if (this.#facts.time.now() - this.#progressAtMs >= PROGRESS_MS) this.#tellProgress();
  }

  #tellProgress(): void {
    const { options, size, time } = this.#facts;
    if (!options.progress || this.#reply.raw.writableNeedDrain) return;
    this.#progressAtMs = time.now();
    const total_bytes = size ?? null;
    this.#event({
      type: 'transcript.progress',
      bytes: this.#bytes,
      total_bytes,
      seconds: rounded(this.#seconds),
    });
  }

  #event(data: { readonly type: string } & Readonly<Record<string, unknown>>): void {
    if (!this.#isBegun) this.#begin();
    this.#reply.raw.write(`data: ${JSON.stringify(data)}\n\n`);
  }

  #begin(): void {
    this.#isBegun = true;
    this.#reply.hijack();
    const { ignored } = this.#facts.options;
    this.#reply.raw.writeHead(200, {
      ...(this.#reply.getHeaders() as Record<string, string>),
      ...(ignored.length === 0 ? {} : { 'x-ignored-fields': ignored.join(', ') }),
      ...HEADERS,
    });
    const beat = () => {
      this.#reply.raw.write(':\n\n');
      this.#cancelHeartbeat = this.#facts.time.after(HEARTBEAT_MS, beat);
    };
    this.#cancelHeartbeat = this.#facts.time.after(HEARTBEAT_MS, beat);
  }

  /** Ends the answer. A client that does not read the rest is cut off. */
  #end(last = ''): void {
    const { raw } = this.#reply;
    const cancel = this.#facts.time.after(STALL_MS, () => breakOff(raw));
    raw.once('close', cancel);
    raw.end(last);
  }

  #fail(error: unknown): void {
    this.#request.failure = errorCode(error);
    if (isAborted(error)) return breakOff(this.#reply.raw);
    this.#facts.log.warn({ requestId: this.#request.id, err: error }, 'transcription broken off');
    const known = asParleyError(error, 'ENGINE_FAILED');
    const { body } = errorReply(known, this.#request.id);
    this.#end(`event: error\ndata: ${JSON.stringify({ type: 'error', ...body })}\n\n`);
    return undefined;
  }
}
