// Measures how fast this machine reads memory: the limit of a model that is larger than the caches.
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

const ALL_BYTES = 512 * 1024 * 1024; // more than the caches of a processor; weights do not fit there, either
const MEASURED_MS = 300;
const MOST_THREADS = 8;

/** A measurement of reading. */
export interface ReadingRate {
  readonly bytesPerSecond: number;
  readonly threads: number;
}

/** Reads 512 MB with all processors, eight at most, for 300 ms. */
export async function measuredReadingRate(
  threads = Math.min(availableParallelism(), MOST_THREADS),
): Promise<ReadingRate> {
  const workerData = { bytes: Math.floor(ALL_BYTES / threads), ms: MEASURED_MS };
  const script = new URL('./reading-worker.js', import.meta.url);
  const workers = Array.from({ length: threads }, () => new Worker(script, { workerData }));
  try {
    await Promise.all(workers.map((worker) => once(worker, 'message')));
    const results = workers.map((worker) => once(worker, 'message'));
    for (const worker of workers) worker.postMessage('begin');
    const rates = (await Promise.all(results)).map(([rate]) => rate as number);
    return { bytesPerSecond: rates.reduce((sum, rate) => sum + rate, 0), threads };
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}
