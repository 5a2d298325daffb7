// Saturates a core with what the product's encoder workers do all day: Opus, at
// the priority that they have.
import { workerData } from 'node:worker_threads';
import { loadAddon } from '../../src/addon.js';
import { frameEncoder } from '../../src/codecs/frame-encoder.js';
import { OPUS } from '../../src/codecs/codec.js';
import { OPUS_SPEECH } from '../../src/codecs/opus.js';

const NICENESS = 5; // as in src/encoding/encoder-worker.ts

loadAddon<{ lowerThreadPriority(nice: number): void }>().lowerThreadPriority(NICENESS);
const encoder = frameEncoder(OPUS, 20, OPUS_SPEECH);
const frame = Float32Array.from(
  { length: encoder.frameSamples },
  (_, at) => 0.3 * Math.sin(at / 17) * Math.sin(at / 400),
);
// Terminating the thread within the encoder would abort the process, so it looks whether it shall end.
const stop = new Int32Array(workerData as SharedArrayBuffer);
while (Atomics.load(stop, 0) === 0) encoder.encode(frame);
