// Logs one line per HTTP request and counts it in the metrics, once the answer is complete or the client has
// left.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../log.js';
import type { HttpMetrics, SpeechAnswered } from './http/http-metrics.js';
import { TAGS } from './http/json-schema.js';
import { brokeOff } from './http/reply-connection.js';
import type { SpeechLog } from './speech/speech-log.js';
import type { TranscriptionLog } from './openai/transcription-log.js';

export interface LineParts {
  readonly metrics: Pick<HttpMetrics, 'requestAnswered' | 'speechAnswered' | 'speechFailed' | 'recognition'>;
  readonly log: Log;
}

type Route = Pick<FastifyRequest['routeOptions'], 'url' | 'schema'>;

/** Adds the fields that requests carry for their log line. */
export function addRequestFields(app: FastifyInstance): void {
  app.decorateRequest('startedAtMs', 0);
  app.decorateRequest('speechLog', null);
  app.decorateRequest('transcriptionLog', null);
  app.decorateRequest('failure', null);
}

/** Call this when the head of the request has arrived. */
export function watchRequest(
  request: FastifyRequest,
  { raw }: FastifyReply,
  route: Route,
  parts: LineParts,
): void {
  request.startedAtMs = performance.now();
  let finished = false;
  raw.once('finish', () => (finished = true));
  raw.once('close', () => closed(request, raw.statusCode, route, finished && !brokeOff(raw), parts));
}

function closed(
  request: FastifyRequest,
  status: number,
  { url = 'none', schema }: Route,
  finished: boolean,
  { metrics, log }: LineParts,
): void {
  const { method, startedAtMs, speechLog, transcriptionLog, failure } = request;
  const ms = performance.now() - startedAtMs;
  const answered = { method, route: url, status, seconds: ms / 1000 };
  metrics.requestAnswered(answered);
  // A client that left is not a failure of the server.
  const failed = failure !== null && (finished || failure !== 'aborted') ? failure : undefined;
  if (schema?.tags?.[0] === TAGS.speech) {
    metrics.speechAnswered({
      ...answered,
      format: speechLog?.format,
      inferSeconds: inferSeconds(speechLog),
      synthesis: synthesisOf(speechLog),
    });
    if (failed !== undefined) metrics.speechFailed(failed);
  }
  if (schema?.tags?.[0] === TAGS.transcription) {
    const { format, end } = transcriptionLog ?? {};
    metrics.recognition.answered({ route: url, status, format, end });
    if (failed !== undefined) metrics.recognition.failed(failed);
  }
  const level = method === 'POST' || url.startsWith('/v1/') ? 'info' : 'debug';
  log[level](
    fieldsOf(request, url, status, Math.round(ms)),
    finished ? 'request answered' : 'request abandoned',
  );
}

/** The fields of the log line. Undefined ones are left out. */
function fieldsOf(
  { id: requestId, method, speechLog, transcriptionLog, failure }: FastifyRequest,
  route: string,
  status: number,
  ms: number,
) {
  const code = failure ?? undefined;
  const common = { requestId, method, route, status, ms, code };
  if (transcriptionLog !== null) return { ...common, ...transcriptionFields(transcriptionLog) };
  if (speechLog === null) return common;
  const { text, format, voice, language, cache, timing } = speechLog;
  return {
    ...common,
    queueMs: rounded(timing?.queueMs),
    loadMs: rounded(timing?.loadMs),
    inferMs: rounded(timing?.inferMs),
    encodeMs: rounded(timing?.encodeMs),
    totalMs: ms,
    characters: text.length,
    // The voice of a refused request may be any text.
    voice: status < 400 ? voice : undefined,
    format,
    language,
    cache,
    text,
  };
}

function transcriptionFields({ format, isStream, language, times, end, text }: TranscriptionLog) {
  return {
    audioMs: rounded(end && end.seconds * 1000),
    queueMs: rounded(end?.queuedMs),
    firstTextMs: rounded(end?.firstTextMs),
    inferMs: rounded(end?.workMs),
    characters: text?.length,
    format,
    stream: isStream,
    language,
    times,
    text,
  };
}

function rounded(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms);
}

/** The synthesis of a request that an engine worked for; otherwise undefined. */
function synthesisOf(speechLog: SpeechLog | null): SpeechAnswered['synthesis'] {
  const { spoken, timing, cache } = speechLog ?? {};
  if (spoken === undefined || timing === undefined || cache === 'hit') return undefined;
  return { ...spoken, seconds: (timing.inferMs + timing.encodeMs) / 1000 };
}

/** The inference time of a request that an engine worked for; otherwise undefined. */
function inferSeconds(speechLog: SpeechLog | null): number | undefined {
  if (speechLog?.timing === undefined || speechLog.cache === 'hit') return undefined;
  return speechLog.timing.inferMs / 1000;
}
