// Decodes one file in its own thread, so that a crash or hang of the decoder affects nothing else.
import { parentPort, workerData } from 'node:worker_threads';
import { loadAddon } from '../addon.js';
import { asParleyError } from '../errors.js';
import type { DecodedReference, EncodedReference } from './reference-audio.js';
import { decodeReference } from './reference-decoders.js';

const NICENESS = 10; // below calls and their encoders

interface PriorityAddon {
  lowerThreadPriority(nice: number): void;
}

if (parentPort === null) throw new Error('reference-worker.js runs in a worker thread');
const port = parentPort;

loadAddon<PriorityAddon>().lowerThreadPriority(NICENESS);
try {
  const { bytes, use } = workerData as EncodedReference;
  const samples = await decodeReference(bytes, use);
  port.postMessage({ samples } satisfies DecodedReference, [samples.buffer]);
} catch (error) {
  const { code, message } = asParleyError(error, 'AUDIO_INVALID');
  port.postMessage({ code, message } satisfies DecodedReference);
}
