// How much what one far end heard is like what another one has said.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

export type SaidAndHeard = readonly [said: Float32Array, heard: Float32Array];

/** The least of the likenesses, found by a worker: far ends that this thread paces go on meanwhile. */
export async function leastLikeness(pairs: readonly SaidAndHeard[]): Promise<number> {
  const worker = new Worker(new URL('likeness-worker.js', import.meta.url), { workerData: pairs });
  const [least] = (await once(worker, 'message')) as [number];
  await worker.terminate();
  return least;
}
