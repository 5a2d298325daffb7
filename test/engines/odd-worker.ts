// An engine's worker thread that does what the text says: `crash`, `hang`,
// `fail`; any other text is rendered as a step of 100 samples per character.
// The word of `tokens` is how many it may have. `workerData` says what is wrong
// with the thread, or where it counts its jobs.
import { parentPort, workerData } from 'node:worker_threads';
import { type Rendering, serveEngine, type SpeakJob } from '../../src/engines/engine-service.js';

const SAMPLES_PER_CHARACTER = 100;

const DEEDS: Readonly<Record<string, () => void>> = {
  crash: () => process.exit(3),
  hang: () => {
    for (;;);
  },
  fail: () => {
    throw new Error('no such word');
  },
};

const counter = (workerData as { jobs?: Int32Array } | undefined)?.jobs;

function render({ text, options }: SpeakJob): Promise<Rendering> {
  DEEDS[text]?.();
  if (workerData === 'mute') throw new Error('no voice at all');
  if (counter !== undefined) Atomics.add(counter, 0, 1);
  const word = text === 'tokens' ? String(options?.maxNewTokens ?? 'none') : text;
  const samples = new Int16Array(text.length * SAMPLES_PER_CHARACTER).fill(0x4000);
  return Promise.resolve({ samples, gain: 1, words: [{ word, textOffset: 0, startMs: 0 }] });
}

const failing = workerData instanceof Int32Array && Atomics.sub(workerData, 0, 1) > 0; // so many loads fail
if (failing || workerData === 'crash at load') throw new Error('the voices are missing');
if (workerData === 'hang at load') await new Promise(() => parentPort?.once('message', () => process.exit()));
serveEngine({ render: async (job) => render(job) });
