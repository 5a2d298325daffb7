// A text as the body of a reply, from the cache or from the engine, as it is or
// in the form that a dialect gives it.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isAborted, ParleyError } from '../errors.js';
import type { Log } from '../observe/log.js';
import type { Metrics } from '../observe/metrics.js';
import type { AudioReplies, AudioStream } from './audio-replies.js';
import { FoundStream } from './found-stream.js';
import type { SpeechWish } from './speech-request.js';
import type { SpeechSource, SpokenRequest } from './speech-routes.js';

export interface SpokenReplyParts {
  readonly speech: SpeechSource;
  readonly replies: AudioReplies;
  readonly metrics: Pick<Metrics, 'firstAudio'>;
  readonly log: Log;
}

export interface SpokenReply {
  readonly asked: SpokenRequest;
  /** They come before what the sound says of itself. */
  readonly headers: Readonly<Record<string, string>>;
  /** What goes out instead of the sound itself. */
  readonly form?: (sound: AudioStream) => AudioStream;
}

export function spokenRequest({ format, ...wish }: SpeechWish, client: string): SpokenRequest {
  return { ...wish, container: format.container, client };
}

/** The sound of a request, wherever it comes from. Rejects as the speech service does. */
export async function soundOf(
  speech: SpeechSource,
  asked: SpokenRequest,
  signal: AbortSignal,
): Promise<AudioStream> {
  const found = speech.find(asked);
  return found === undefined ? await speech.openStream(asked, signal) : new FoundStream(found);
}

/** Rejects with what goes wrong before the first byte, fields named as inside. */
export async function sendSpoken(
  { speech, replies, metrics, log }: SpokenReplyParts,
  request: FastifyRequest,
  reply: FastifyReply,
  { asked, headers, form }: SpokenReply,
): Promise<void> {
  const receivedAtMs = performance.now();
  const begun = () => metrics.firstAudio(performance.now() - receivedAtMs, 'http');
  const found = form === undefined ? speech.find(asked) : undefined;
  if (found !== undefined) {
    begun();
    replies.sendWhole(reply, found, headers);
    return;
  }
  await replies.send(reply, {
    open: async (signal) => {
      if (form === undefined) return await speech.openStream(asked, signal);
      return form(await soundOf(speech, asked, signal));
    },
    headers,
    begun,
    broken: (error) => {
      // A client that left is told by the request's own line.
      if (!isAborted(error)) log.warn({ requestId: request.id, err: error }, 'speech broken off');
    },
  });
}

/** The error under the names that its reader has for fields, in the message too. */
export function renamedFields(error: unknown, names: Readonly<Record<string, string>>): unknown {
  if (!(error instanceof ParleyError) || error.field === undefined) return error;
  const name = names[error.field];
  if (name === undefined) return error;
  const message = error.message.replaceAll(`"${error.field}"`, `"${name}"`);
  const { retryAfterSeconds } = error;
  return new ParleyError(error.code, message, {
    field: name,
    cause: error,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}
