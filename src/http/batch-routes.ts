// POST /v1/audio/speech/batch: several texts in one request.
import type { FastifyInstance } from 'fastify';
import { isAborted, ParleyError } from '../errors.js';
import { BatchStream } from './batch-stream.js';
import { readBatchRequest } from './batch-request.js';
import { errorReply } from './error-reply.js';
import type { SpokenReplyParts } from './spoken-reply.js';

const MAX_BATCHES = 8; // at once; each holds the sound of a few items

export function addBatchRoute(app: FastifyInstance, parts: SpokenReplyParts): void {
  const { speech, replies, metrics, log } = parts;
  let open = 0;

  app.post('/v1/audio/speech/batch', async (request, reply) => {
    const receivedAtMs = performance.now();
    const items = readBatchRequest(request.body);
    if (open >= MAX_BATCHES) {
      throw new ParleyError('QUEUE_FULL', `${MAX_BATCHES} batches are being spoken already`);
    }
    const failed = (error: unknown) => {
      const { status } = errorReply(error, request.id);
      if (status >= 500 && !isAborted(error)) {
        log.warn({ requestId: request.id, err: error }, 'speech of a batch failed');
      }
    };
    const batch = { speech, client: request.client, requestId: request.id, failed };
    open++;
    try {
      await replies.send(reply, {
        open: (signal) => Promise.resolve(new BatchStream(batch, items, signal)),
        headers: {},
        begun: () => metrics.firstAudio(performance.now() - receivedAtMs, 'http'),
        broken: (error) => {
          if (!isAborted(error)) log.warn({ requestId: request.id, err: error }, 'speech broken off');
        },
      });
    } finally {
      open--;
    }
  });
}
