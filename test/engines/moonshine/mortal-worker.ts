// A worker of Moonshine that dies of one sound and hangs at another.
import { PcmRing } from '../../../src/audio/pcm-ring.js';

const read = PcmRing.prototype.read;
PcmRing.prototype.read = function (into: Float32Array): number {
  const count = read.call(this, into);
  const [first = 0] = into.subarray(0, Math.max(0, count));
  if (first === Math.fround(0.123)) process.exit(3);
  if (first === Math.fround(0.321)) for (;;);
  return count;
};
await import('../../../src/engines/moonshine/moonshine-worker.js');
