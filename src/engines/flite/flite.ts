// Flite: the embedded default. English, five voices, no download, a BSD-like
// licence. It gives no word times: its program prints either the words or the
// times of single sounds, never both.
import type { SpeechEngine } from '../engine.js';
import { FLITE_VOICES } from './flite-voices.js';
import { WorkerEngine, type EngineLimits } from '../worker-engine.js';

export const FLITE_LANGUAGES: readonly string[] = ['en'];

export interface FliteOptions extends EngineLimits {
  /** The worker's program; tests bring one that misbehaves. */
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
