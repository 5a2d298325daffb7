// Describes the engine flite, the embedded default: English, five voices, word times, no download, a BSD-like
// licence.
import type { SpeechEngine } from '../engine.js';
import { FLITE_VOICES } from './flite-program.js';
import { WorkerEngine, type EngineLimits } from '../worker-engine.js';

export const FLITE_LANGUAGES: readonly string[] = ['en'];

interface FliteOptions extends EngineLimits {
  /** Program of the worker, replaced in tests. */
  readonly workerFile?: URL;
}

export function fliteEngine(options: FliteOptions): SpeechEngine {
  return new WorkerEngine({
    capabilities: {
      clone: false,
      design: false,
      instruct: false,
      sampling: false,
      wordTimes: true,
      textStreaming: false,
      languages: FLITE_LANGUAGES,
    },
    voices: FLITE_VOICES,
    rateOf: (voice) => FLITE_VOICES.find(({ name }) => name === voice.name)?.rate ?? 16_000,
    warmsUp: true,
    limits: options,
    thread: {
      engine: 'flite',
      file: options.workerFile ?? new URL('./flite-worker.js', import.meta.url),
      renderTimeoutMs: options.renderTimeoutMs,
    },
  });
}
