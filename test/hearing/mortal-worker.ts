// The real hearing worker on real ears. It dies when a test says so.
import { BroadcastChannel } from 'node:worker_threads';
import { openEars } from '../../src/hearing/ear-source.js';
import { serveHearing } from '../../src/hearing/hearing-service.js';
import { fadePlayout } from '../../src/media/playout.js';

const channel = new BroadcastChannel('hearing-worker-death');
channel.unref();
channel.onmessage = () => {
  throw new Error('the test ended this worker');
};

await serveHearing({ openEars, fade: fadePlayout });
