// A recording worker that creates the file of its first recording and dies.
import { parentPort } from 'node:worker_threads';
import type { ToRecorder } from '../../src/recording/recording-messages.js';

parentPort?.on('message', (message: ToRecorder) => {
  if (message.type === 'open') parentPort?.postMessage({ type: 'opened', id: message.id });
  else process.exit(3);
});
