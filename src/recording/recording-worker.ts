// The recording worker: one thread writes all recordings, at a priority below the clock's. See
// active-recordings.ts.
import { parentPort } from 'node:worker_threads';
import { loadAddon } from '../addon.js';
import { collectWithOthers } from '../encoding/idle-memory.js';
import { systemTime } from '../time.js';
import { DISK } from './recording-file.js';
import { ActiveRecordings } from './active-recordings.js';
import type { ToRecorder } from './recording-messages.js';

interface PriorityAddon {
  lowerThreadPriority(nice: number): void;
}

const NICENESS = 5; // as the encoder workers

if (parentPort === null) throw new Error('recording-worker.js runs in a worker thread');
const port = parentPort;
const recordings = new ActiveRecordings({
  files: DISK,
  time: systemTime,
  post: (message) => port.postMessage(message),
});

port.on('message', (message: ToRecorder) => {
  if (message.type !== 'close') recordings.take(message);
  else void recordings.close().then(() => port.close());
});

collectWithOthers();
loadAddon<PriorityAddon>().lowerThreadPriority(NICENESS);
