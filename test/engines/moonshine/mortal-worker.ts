// A worker of Moonshine with mishaps: one sound ends it, another stops it. After two further sounds the next
// run of a graph never ends, or has no memory.
import { PcmRing } from '../../../src/audio/pcm-ring.js';
import { OnnxGraphs } from '../../../src/engines/moonshine/onnx-graphs.js';

let mishap: 'endless run' | 'no memory' | undefined;

const read = PcmRing.prototype.read;
PcmRing.prototype.read = function (into: Float32Array): number {
  const count = read.call(this, into);
  const [first = 0] = into.subarray(0, Math.max(0, count));
  if (first === Math.fround(0.123)) process.exit(3);
  if (first === Math.fround(0.321)) for (;;);
  if (first === Math.fround(0.213)) mishap = 'endless run';
  if (first === Math.fround(0.231)) mishap = 'no memory';
  return count;
};

const encoder = OnnxGraphs.prototype.encoder;
OnnxGraphs.prototype.encoder = function (features: Float32Array): Promise<Float32Array> {
  const present = mishap;
  mishap = undefined;
  if (present === 'endless run') return new Promise(() => undefined);
  if (present === 'no memory') return Promise.reject(new Error('std::bad_alloc'));
  return encoder.call(this, features);
};

await import('../../../src/engines/moonshine/moonshine-worker.js');
