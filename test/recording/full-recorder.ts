// A recording worker whose disk is full for the first recording, after a second of sound.
import { parentPort } from 'node:worker_threads';
import { ActiveRecordings } from '../../src/recording/active-recordings.js';
import { DISK } from '../../src/recording/recording-file.js';
import type { ToRecorder } from '../../src/recording/recording-messages.js';
import { systemTime } from '../../src/time.js';

const ROOM_BYTES = 64_000;
let created = 0;
let victim: number | undefined; // its descriptor, which a later file may have again

const recordings = new ActiveRecordings({
  files: {
    ...DISK,
    create: (path) => {
      const file = DISK.create(path);
      victim = created++ === 0 ? file : undefined;
      return file;
    },
    write: (file, data, position) => {
      const room = file === victim ? ROOM_BYTES - position : Infinity;
      if (room <= 0) throw Object.assign(new Error('ENOSPC: no space'), { code: 'ENOSPC' });
      return DISK.write(file, data.subarray(0, Math.min(data.length, room)), position);
    },
  },
  time: systemTime,
  post: (message) => parentPort?.postMessage(message),
});

parentPort?.on('message', (message: ToRecorder) => {
  if (message.type !== 'close') recordings.take(message);
  else void recordings.close().then(() => parentPort?.close());
});
