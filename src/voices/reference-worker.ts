// Decodes one file after the other in its thread.
import { parentPort } from 'node:worker_threads';
import { loadAddon } from '../addon.js';
import { asParleyError, ParleyError } from '../errors.js';
import type { DecodedReference, EncodedReference } from './reference-audio.js';
import { decodeSound } from './reference-decoders.js';

const NICENESS = 10; // below calls and their encoders

interface PriorityAddon {
  lowerThreadPriority(nice: number): void;
}

if (parentPort === null) throw new Error('reference-worker.js runs in a worker thread');
const port = parentPort;

loadAddon<PriorityAddon>().lowerThreadPriority(NICENESS);
port.on('message', (file: EncodedReference) => void answer(file));

async function answer({ bytes, use }: EncodedReference): Promise<void> {
  try {
    const sound = await decodeSound(bytes, use);
    port.postMessage(sound satisfies DecodedReference, [sound.samples.buffer]);
  } catch (error) {
    const { code, message } = asParleyError(error, 'AUDIO_INVALID');
    const hasCrashed = !isRefusal(error);
    port.postMessage({ code, message, hasCrashed } satisfies DecodedReference);
  }
}

/** False if the error, or what caused it, is of a decoder. */
function isRefusal(error: unknown): boolean {
  return error instanceof ParleyError && (error.cause === undefined || isRefusal(error.cause));
}
