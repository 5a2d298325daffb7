// A server that records a hundred calls in real time until it is killed. One in ten is Opus. It prints how
// much sound it was given:
//
//   node killed-recorder.js FOLDER
import { randomBytes } from 'node:crypto';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { Recordings } from '../../src/recording/recordings.js';
import { systemTime } from '../../src/time.js';
import { SILENT_LOG } from '../../src/log.js';

const CALLS = 100;
const QUANTUM_MS = 16;
const ignore = () => undefined;

const recordings = await Recordings.open({
  config: { folder: process.argv[2] ?? '', format: 'wav', maxMs: 3_600_000, keepBytes: 0, keepMs: 0 },
  time: systemTime,
  unixMs: Date.now,
  randomBytes,
  log: { ...SILENT_LOG, warn: ignore, error: ignore },
});

const rings = await Promise.all(
  Array.from({ length: CALLS }, async (_, n) => {
    const format = n % 10 === 0 ? 'opus' : 'wav';
    const ring = PcmRing.open(16_000, 2 * 16_000 * 4);
    await new Promise<void>((opened) => {
      const listener = { opened, grown: ignore, starved: ignore, ended: ignore };
      recordings.begin({ call: `call_${n}`, owner: undefined, format, ring: ring.handle }, listener);
    });
    return ring;
  }),
);

const quantum = new Float32Array(2 * 16 * QUANTUM_MS).fill(0.25);
const beganMs = performance.now();
let fedMs = 0;
setInterval(() => {
  for (; fedMs + QUANTUM_MS <= performance.now() - beganMs; fedMs += QUANTUM_MS) {
    for (const ring of rings) ring.write(quantum);
  }
  process.stdout.write(`${fedMs}\n`);
}, QUANTUM_MS);
