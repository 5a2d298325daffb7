// Serves POST /v1/audio/transcriptions and /v1/audio/translations of OpenAI's API.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { UNHURRIED, type Urgency } from '../../engines/engine.js';
import { joinTexts } from '../../engines/openai/transcription-client.js';
import { ParleyError } from '../../errors.js';
import type { Log } from '../../log.js';
import type { Time } from '../../time.js';
import {
  NO_RECOGNISER,
  type TranscribedPiece,
  type Transcriber,
  type TranscriptionEnd,
  type TranscriptionPlace,
} from '../../transcribing/transcriber.js';
import { translateCues, translateSentences } from '../../transcribing/translated-transcript.js';
import { writtenPiece } from '../../transcribing/written-piece.js';
import { SpeakersTranscript } from '../../transcribing/speakers-transcript.js';
import { Transcript } from '../../transcribing/transcript.js';
import type { Translator } from '../../transcribing/translator.js';
import { type FileUpload, readUpload, takeUploads, type UploadRules } from '../http/file-upload.js';
import { untilGone } from '../http/reply-connection.js';
import { Spool, SpoolSpace } from '../http/spool.js';
import type { ModelNames } from '../speech/speech-request.js';
import { completeLog } from './transcription-log.js';
import { rounded, type WrittenTranscript, writeTranscript } from './transcription-forms.js';
import { readTranscription, readTranslation, type TranscriptionOptions } from './transcription-request.js';
import {
  TRANSCRIPTION_FORM,
  TRANSCRIPTION_SCHEMA,
  TRANSLATION_FORM,
  TRANSLATION_SCHEMA,
} from './transcription-schema.js';
import { TranscriptStream } from './transcript-stream.js';

export interface TranscriptionParts {
  readonly transcriber: Pick<Transcriber, 'enter' | 'transcribe' | 'canAlign' | 'recogniser'> &
    Partial<Pick<Transcriber, 'alignedLanguages'>>;
  /** Undefined if the server cannot translate. */
  readonly translator: Pick<Translator, 'translate'> | undefined;
  /** Bytes of one file. */
  readonly maxBytes: number;
  /** Requests that do not state it get texts with figures. False, if absent. */
  readonly smartFormat?: boolean;
  /** Requests at once, with those that wait. */
  readonly maxRequests: number;
}

interface RouteParts {
  /** Undefined if the server recognises no speech. */
  readonly transcription: TranscriptionParts | undefined;
  readonly models: ModelNames;
  readonly time: Time;
  readonly log: Log;
}

const STALL_MS = 30_000;
/** Largest files that may be kept at a time. */
const KEPT_FILES = 16;
const NO_TRANSLATION = 'this server does not translate: its operator must set TRANSLATE_BASE_URL';
/** Seconds of a piece without times: long for the text's sake, shorter where the client waits for each. */
const PIECE_SECONDS = { whole: 60, stream: 20 } as const;

/** Registers on a scope of its own: its routes read their bodies themselves. */
export function addTranscriptionRoutes(app: FastifyInstance, parts: RouteParts): void {
  takeUploads(app);
  const handler =
    parts.transcription === undefined ? undefined : new TranscriptionHandler(parts, parts.transcription);

  app.post('/v1/audio/transcriptions', { schema: TRANSCRIPTION_SCHEMA }, async (request, reply) => {
    if (handler === undefined) throw new ParleyError('CAPABILITY_MISSING', NO_RECOGNISER);
    return handler.answer(request, reply, TRANSCRIPTION_FORM, (upload, signal) =>
      handler.transcribe(upload, { request, reply, signal }),
    );
  });

  app.post('/v1/audio/translations', { schema: TRANSLATION_SCHEMA }, async (request, reply) => {
    if (handler === undefined) throw new ParleyError('CAPABILITY_MISSING', NO_RECOGNISER);
    if (!handler.translates) throw new ParleyError('CAPABILITY_MISSING', NO_TRANSLATION);
    return handler.answer(request, reply, TRANSLATION_FORM, (upload, signal) =>
      handler.translate(upload, { request, reply, signal }),
    );
  });
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly signal: AbortSignal;
}

/** Answers requests, as many at once as may. */
class TranscriptionHandler {
  readonly #parts: RouteParts;
  readonly #own: TranscriptionParts;
  readonly #space: SpoolSpace;
  #open = 0;
  /** Requests of each client. */
  readonly #clients = new Map<string, number>();

  constructor(parts: RouteParts, own: TranscriptionParts) {
    this.#parts = parts;
    this.#own = own;
    this.#space = new SpoolSpace(KEPT_FILES * own.maxBytes);
  }

  get translates(): boolean {
    return this.#own.translator !== undefined;
  }

  async answer(
    request: FastifyRequest,
    reply: FastifyReply,
    schema: UploadRules['schema'],
    work: (upload: FileUpload, signal: AbortSignal) => Promise<FastifyReply>,
  ): Promise<FastifyReply> {
    const { maxRequests, maxBytes } = this.#own;
    const release = this.#enter(request.client, maxRequests);
    const signal = untilGone(reply);
    let upload: FileUpload | undefined;
    try {
      const { time } = this.#parts;
      const rules = { schema, fileName: 'file', maxBytes, space: this.#space, stallMs: STALL_MS, time };
      upload = await readUpload(request, rules);
      return await work(upload, signal);
    } finally {
      release();
      await upload?.close();
      // The rest of a body that is not wanted would keep the connection.
      const isUnread = request.raw.httpVersionMajor === 1 && !request.raw.readableEnded;
      if (isUnread && !reply.raw.headersSent) reply.header('connection', 'close');
    }
  }

  /** One client may take half of the places. Returns the function that gives the place back. */
  #enter(client: string, places: number): () => void {
    const own = this.#clients.get(client) ?? 0;
    const isOwn = own >= Math.ceil(places / 2);
    if (isOwn || this.#open >= places) {
      const whose = isOwn ? 'of this client ' : '';
      throw new ParleyError(
        'QUEUE_FULL',
        `${isOwn ? own : places} sounds ${whose}are in work or wait, and no more may`,
      );
    }
    this.#open++;
    this.#clients.set(client, own + 1);
    return () => {
      this.#open--;
      const left = (this.#clients.get(client) ?? 1) - 1;
      if (left > 0) this.#clients.set(client, left);
      else this.#clients.delete(client);
    };
  }

  transcribe(upload: FileUpload, exchange: Exchange): Promise<FastifyReply> {
    const options = readTranscription(upload, this.#own.transcriber);
    if (options.speakers !== undefined)
      return this.#writeSpeakers(upload, exchange, options, options.speakers);
    return this.#write(upload, exchange, options, (transcript, { seconds }) =>
      Promise.resolve(writtenOf(transcript, seconds)),
    );
  }

  translate(upload: FileUpload, exchange: Exchange): Promise<FastifyReply> {
    const { translator, transcriber } = this.#own;
    if (translator === undefined) throw new ParleyError('CAPABILITY_MISSING', NO_TRANSLATION);
    const { options, target: to } = readTranslation(upload, transcriber);
    const into = { translator, to, signal: exchange.signal };
    return this.#write(upload, exchange, options, (transcript, { seconds }) =>
      translated(transcript, options, { ...into, seconds }),
    );
  }

  async #write(
    upload: FileUpload,
    exchange: Exchange,
    options: TranscriptionOptions,
    written: (transcript: Transcript, end: TranscriptionEnd) => Promise<WrittenTranscript>,
  ): Promise<FastifyReply> {
    const { request, reply } = exchange;
    const { format, rules } = options;
    const transcript = new Transcript(format === 'srt' || format === 'vtt' ? rules : undefined);
    if (options.stream) {
      const { time, log } = this.#parts;
      const facts = { options, transcript, size: upload.size, time, log, written };
      return new TranscriptStream(exchange, facts).send((onPiece, onBytes) =>
        this.#run(exchange, { bytes: counted(upload.bytes, onBytes) }, options, onPiece),
      );
    }
    const end = await this.#run(exchange, upload, options, (piece) => transcript.add(piece));
    completeLog(request.transcriptionLog, transcript, end);
    const { contentType, body } = writeTranscript(await written(transcript, end), options);
    return reply
      .headers(headersOf(request, options, { transcript, end }))
      .type(contentType)
      .send(body);
  }

  /** Each channel of a stereo file is a speaker. They are recognised one after the other, in one place. */
  async #writeSpeakers(
    upload: FileUpload,
    exchange: Exchange,
    options: TranscriptionOptions,
    [first, second]: readonly [string, string],
  ): Promise<FastifyReply> {
    const { request, reply } = exchange;
    this.#begin(request, options);
    const place = await this.#own.transcriber.enter(exchange.signal, urgencyOf(request));
    const kept = new Spool(this.#space);
    try {
      const isSubtitle = options.format === 'srt' || options.format === 'vtt';
      const open = () => new Transcript(isSubtitle ? options.rules : undefined);
      const [left, right] = [open(), open()];
      const bytes = keptIn(kept, upload.bytes);
      let end = await this.#run(exchange, { bytes }, options, (piece) => left.add(piece), [0, place]);
      end = { ...end, queuedMs: place.queuedMs };
      const speakers = [{ label: first, transcript: left }];
      if (end.channels === 2) {
        const again = { bytes: kept.read() };
        const last = await this.#run(exchange, again, options, (piece) => right.add(piece), [1, place]);
        end = afterBoth(end, last);
        speakers.push({ label: second, transcript: right });
      }
      const transcript = new SpeakersTranscript(speakers);
      completeLog(request.transcriptionLog, transcript, end);
      const { contentType, body } = writeTranscript(writtenOf(transcript, end.seconds), options);
      return await reply
        .headers(headersOf(request, options, { transcript, end }))
        .type(contentType)
        .send(body);
    } finally {
      place.release();
      await kept.close();
    }
  }

  /** Throws if the model is not known. */
  #begin(request: FastifyRequest, { model, language, format, stream }: TranscriptionOptions): void {
    this.#parts.models.check(model);
    request.transcriptionLog = {
      format,
      isStream: stream,
      language,
      times: undefined,
      end: undefined,
      text: undefined,
    };
  }

  async #run(
    { request, signal }: Exchange,
    upload: Pick<FileUpload, 'bytes'>,
    options: TranscriptionOptions,
    onPiece: (piece: TranscribedPiece) => void,
    [channel, place]: readonly [channel?: number, place?: TranscriptionPlace] = [],
  ): Promise<TranscriptionEnd> {
    const { language, context, times, stream, smartFormat = this.#own.smartFormat } = options;
    const take =
      smartFormat === true ? (piece: TranscribedPiece) => onPiece(writtenPiece(piece, language)) : onPiece;
    this.#begin(request, options);
    return this.#own.transcriber.transcribe(
      {
        upload: upload.bytes,
        channel,
        language,
        context,
        times: times === 'accurate' ? 'aligned' : 'shared',
        isTimed: times !== undefined,
        pieceSeconds: times === undefined ? PIECE_SECONDS[stream ? 'stream' : 'whole'] : undefined,
        urgency: urgencyOf(request),
        place,
      },
      signal,
      take,
    );
  }
}

function urgencyOf({ client }: FastifyRequest): Urgency {
  return { ...UNHURRIED, client };
}

/** Tells the length of each piece as it is read. */
async function* counted(
  bytes: AsyncIterable<Uint8Array>,
  onBytes: (count: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const piece of bytes) {
    onBytes(piece.length);
    yield piece;
  }
}

/** Keeps the bytes that are read. */
async function* keptIn(spool: Spool, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of bytes) {
    await spool.write(piece);
    yield piece;
  }
}

/** The figures of two recognitions, one after the other. */
function afterBoth(first: TranscriptionEnd, last: TranscriptionEnd): TranscriptionEnd {
  return {
    seconds: Math.max(first.seconds, last.seconds),
    channels: first.channels,
    queuedMs: first.queuedMs + last.queuedMs,
    firstTextMs: first.firstTextMs ?? (last.firstTextMs && first.workMs + last.queuedMs + last.firstTextMs),
    workMs: first.workMs + last.workMs,
  };
}

function writtenOf(transcript: Transcript | SpeakersTranscript, seconds: number): WrittenTranscript {
  const { text, languages } = transcript;
  return {
    task: 'transcribe',
    text,
    languages,
    seconds,
    sentences: () => transcript.sentences(),
    words: () => transcript.words(),
    cues: () => transcript.cues(),
  };
}

async function translated(
  transcript: Transcript,
  { format, rules }: TranscriptionOptions,
  { seconds, ...into }: Parameters<typeof translateSentences>[1] & { readonly seconds: number },
): Promise<WrittenTranscript> {
  const isSubtitle = format === 'srt' || format === 'vtt';
  const cues = isSubtitle ? await translateCues(transcript, rules, into) : [];
  const { text, sentences } = isSubtitle
    ? { text: joinTexts(cues.map(({ lines }) => joinTexts(lines))), sentences: [] }
    : await translateSentences(transcript, into);
  return {
    task: 'translate',
    text,
    languages: [into.to],
    seconds,
    sentences: () => sentences,
    words: () => [],
    cues: () => cues,
  };
}

function headersOf(
  request: FastifyRequest,
  { times, ignored }: TranscriptionOptions,
  { transcript, end }: { readonly transcript: Pick<Transcript, 'times'>; readonly end: TranscriptionEnd },
): Record<string, string> {
  const queue = written(end.queuedMs);
  const infer = written(end.workMs);
  const total = written(performance.now() - request.startedAtMs);
  return {
    ...(times === undefined ? {} : { 'x-timestamps': transcript.times }),
    ...(ignored.length === 0 ? {} : { 'x-ignored-fields': ignored.join(', ') }),
    ...(end.firstTextMs === undefined ? {} : { 'x-latency-first-text-ms': written(end.firstTextMs) }),
    'x-audio-seconds': String(rounded(end.seconds)),
    'x-latency-queue-ms': queue,
    'x-latency-infer-ms': infer,
    'x-latency-total-ms': total,
    'server-timing': `queue;dur=${queue}, infer;dur=${infer}, total;dur=${total}`,
  };
}

function written(ms: number): string {
  return String(Math.round(ms * 10) / 10);
}
