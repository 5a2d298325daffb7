// The answer to a wish for speech: from what was rendered before, or made now;
// as sound, streamed or whole, or as events.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AUDIO_FORMATS, type AudioFormat } from '../call/audio-format.js';
import { isAborted, ParleyError } from '../errors.js';
import type { Log } from '../observe/log.js';
import type { Metrics } from '../observe/metrics.js';
import type { AudioReplies, AudioStream } from './audio-replies.js';
import { errorCode } from './error-reply.js';
import { EventStream } from './event-stream.js';
import { FoundStream } from './found-stream.js';
import { speechEvents } from './speech-events.js';
import { SpeechLog } from './speech-log.js';
import type { SpeechWish } from './speech-request.js';
import type { FoundSound, SpeechSource } from './speech-source.js';
import { ignoredNames, prepared, type PreparedSpeech, preparedWithVoice } from './spoken-request.js';

export interface SpeechAnswerParts {
  readonly speech: SpeechSource;
  readonly replies: AudioReplies;
  readonly metrics: Pick<Metrics, 'firstAudio'>;
  readonly log: Log;
}

/** One request and what is done with it. */
interface Asked extends SpeechAnswerParts {
  readonly wish: SpeechWish;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

type Headers = Record<string, string>;

const IGNORED = 'x-ignored-fields';

/** Rejects with what is wrong before the first byte. */
export async function answerSpeech(asked: Asked): Promise<void> {
  const { speech, replies, wish, request, reply } = asked;
  const speechLog = new SpeechLog(wish, wish.format.name);
  request.speechLog = speechLog;
  // A voice that comes with the request takes time to be made, and nothing spoken with it is kept.
  const ready = wish.ownVoice === undefined ? prepared(speech, wish, request.client) : undefined;
  const found = ready === undefined ? undefined : speech.find(ready.request);
  if (ready === undefined || found === undefined) return make(asked, ready);
  if (wish.delivery === 'events') return make(asked, ready, found);
  speechLog.cache = 'hit';
  speechLog.timing = found.outcome.timing;
  begun(asked);
  replies.sendWhole(reply, found, audioHeaders(wish, ready), wish.delivery === 'whole');
  return undefined;
}

function make(asked: Asked, ready: PreparedSpeech | undefined, found?: FoundSound): Promise<void> {
  const { replies, wish, request, reply } = asked;
  const isEvents = wish.delivery === 'events';
  // What the engine ignores may be known only once the voice is made.
  const headers: Headers = isEvents ? { ...rawHeaders(wish) } : { ...audioHeaders(wish) };
  const broken = (error: unknown) => {
    request.failure = errorCode(error);
    // A client that left is told by the request's own line.
    if (!isAborted(error)) asked.log.warn({ requestId: request.id, err: error }, 'speech broken off');
  };
  return replies.send(reply, {
    open: async (signal) => {
      const stream =
        found === undefined ? await opened(asked, ready, headers, signal) : new FoundStream(found);
      if (!isEvents) return stream;
      const { text } = wish;
      const { id: requestId, startedAtMs } = request;
      return new EventStream(stream, speechEvents({ text, requestId, startedAtMs, broken }));
    },
    headers,
    begun: () => begun(asked),
    broken,
    whole: wish.delivery === 'whole',
  });
}

async function opened(
  { speech, wish, request }: Asked,
  ready: PreparedSpeech | undefined,
  headers: Headers,
  signal: AbortSignal,
): Promise<AudioStream> {
  const last = ready ?? (await preparedWithVoice(speech, wish, request.client, signal));
  const ignored = ignoredNames(last);
  if (ignored !== undefined) headers[IGNORED] = ignored;
  return speech.openStream(last.request, signal).catch(rename);
}

function begun({ metrics, request }: Asked): void {
  metrics.firstAudio(performance.now() - request.startedAtMs, 'http');
}

// Inside, the field is called text; whoever asked called it input.
function rename(error: unknown): never {
  if (error instanceof ParleyError && error.field === 'text') {
    throw new ParleyError(error.code, error.message, { field: 'input', cause: error });
  }
  throw error;
}

// Of most requests, made once.
const PLAIN_HEADERS: ReadonlyMap<AudioFormat, Headers> = new Map(
  AUDIO_FORMATS.map((format) => [format, { 'content-type': format.contentType }]),
);

function audioHeaders(wish: SpeechWish, ready?: PreparedSpeech): Headers {
  const plain = PLAIN_HEADERS.get(wish.format) ?? {};
  const ignored = ready === undefined ? undefined : ignoredNames(ready);
  if (wish.format.raw === undefined && ignored === undefined) return plain;
  return { ...plain, ...rawHeaders(wish), ...(ignored === undefined ? {} : { [IGNORED]: ignored }) };
}

/** Raw samples say nothing of themselves; these are said in the names that ffmpeg has for them. */
function rawHeaders({ format: { raw }, sampleRate }: SpeechWish): Headers {
  if (raw === undefined) return {};
  return {
    'x-pcm-sample-rate': String(sampleRate),
    'x-pcm-channels': '1',
    'x-pcm-bit-depth': String(raw.bits),
    'x-pcm-format': raw.encoding,
  };
}
