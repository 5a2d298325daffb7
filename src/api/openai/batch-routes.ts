// POST /v1/audio/speech/batch: several texts in one request.
import type { FastifyInstance } from 'fastify';
import { isAborted, ParleyError } from '../../errors.js';
import { type BatchBody, type BatchItem, type CheckBody, readBatchRequest } from './batch-request.js';
import { BatchStream } from './batch-stream.js';
import { errorReply } from '../http/error-reply.js';
import { batchSchema } from './batch-schema.js';
import { fieldRefusal } from '../http/validation.js';
import { speechBody } from './speech-schema.js';
import { brokenOff } from './speech-answer.js';
import type { SpeechBody } from './speech-request.js';
import { SpeechLog } from './speech-log.js';
import { type SpeechRequest, stated } from '../../speaking/speech-request.js';
import { bodyLimitOf, type SpeakingParts } from './speech-routes.js';

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
