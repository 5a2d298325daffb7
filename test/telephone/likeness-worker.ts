// Compares sounds beside a thread that has far ends to pace; see wave-likeness.ts.
import { parentPort, workerData } from 'node:worker_threads';
import { waveLikeness } from './heard-calls.js';
import type { SaidAndHeard } from './wave-likeness.js';

const pairs = workerData as readonly SaidAndHeard[];
parentPort?.postMessage(Math.min(...pairs.map(([said, heard]) => waveLikeness(said, heard))));
