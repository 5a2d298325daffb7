// A process or worker that opens a plane with a running stream and then ends in
// the way its argument names, without closing anything.
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { MediaPlane } from '../../src/media/media-plane.js';
import { TELEPHONE } from './plane-under-test.js';

const plane = MediaPlane.open({ clock: 'real', seed: 1 });
const playout = plane.openStream({ ...TELEPHONE, rtcpIntervalMs: 5000 });
playout.target({ capture: true });
playout.push(playout.generation, 1, new Uint8Array(160));
playout.mark(playout.generation, 1, 1, true);
playout.onMark = () => {
  const how: unknown = isMainThread ? process.argv[2] : workerData;
  if (how === 'exit') process.exit(7);
  clearTimeout(patience);
  parentPort?.postMessage('sent');
};
// A plane keeps no process alive; until the mark is reported this does.
const patience = setTimeout(() => process.exit(1), 10_000);
