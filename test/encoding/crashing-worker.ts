// The real encoder worker, which dies on a segment at 12,345 Hz.
import { parentPort } from 'node:worker_threads';
import type { ToWorker } from '../../src/encoding/encoder-messages.js';
import '../../src/encoding/encoder-worker.js';

const FATAL_RATE = 12_345;

function isFatal(message: ToWorker): boolean {
  return message.type === 'segment' && 'rate' in message.source && message.source.rate === FATAL_RATE;
}

parentPort?.on('message', (messages: readonly ToWorker[]) => {
  if (messages.some(isFatal)) throw new Error('a segment at the fatal rate came');
});
