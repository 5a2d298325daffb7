// The other end of a ring, in a worker thread: does one thing and reports.
import { parentPort, workerData } from 'node:worker_threads';
import { PcmRing } from '../../src/audio/pcm-ring.js';

export interface PeerJob {
  readonly kind: 'write' | 'read-all' | 'wait-to-read' | 'wait-to-write';
  readonly handle: number;
  /** Samples to write: 0, 1, 2, … */
  readonly count: number;
}

interface ReadAll {
  readonly count: number;
  /** Samples that were not the next number. */
  readonly wrong: number;
  readonly error: string;
}

const PORTION = 333; // not a divisor of any ring size in the tests

async function write(ring: PcmRing, count: number): Promise<string> {
  for (let at = 0; at < count; at += PORTION) {
    await ring.writeAll(Float32Array.from({ length: Math.min(PORTION, count - at) }, (_, i) => at + i));
  }
  ring.end();
  return 'written';
}

async function readAll(ring: PcmRing): Promise<ReadAll | string> {
  const block = new Float32Array(PORTION);
  let count = 0;
  let wrong = 0;
  for (;;) {
    const taken = ring.read(block);
    for (const sample of block.subarray(0, Math.max(0, taken))) if (sample !== count++) wrong++;
    const status = ring.status();
    if (taken < 0 || status === null) return 'gone';
    if (taken === 0 && status.ended) return { count, wrong, error: status.error };
    if (taken === 0) await ring.readable();
  }
}

async function run(job: PeerJob): Promise<unknown> {
  const ring = PcmRing.attach(job.handle, 16_000);
  if (job.kind === 'write') return await write(ring, job.count);
  if (job.kind === 'read-all') return await readAll(ring);
  if (job.kind === 'wait-to-write') ring.write(new Float32Array(job.count));
  const waiting = job.kind === 'wait-to-read' ? ring.readable() : ring.writable();
  parentPort?.postMessage('waiting');
  await waiting;
  return 'woken';
}

parentPort?.on('message', (message) => {
  if (message === 'end') parentPort?.close();
});
run(workerData as PeerJob).then(
  (result) => parentPort?.postMessage(result),
  (error: unknown) => parentPort?.postMessage(String((error as { code?: string }).code ?? error)),
);
