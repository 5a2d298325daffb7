// Describes the engine espeak-ng: optional, many languages, word times. Its package is under GPL-3.0. It is
// used only if it is installed, and only in a separate process that a worker thread keeps.
import { createRequire } from 'node:module';
import type { SpeechEngine } from '../engine.js';
import type { EspeakWorkerData } from './espeak-worker.js';
import { ESPEAK_VOICES } from './espeak-voices.js';
import { WorkerEngine, type EngineLimits } from '../worker-engine.js';

export const ESPEAK_PACKAGE = '@echogarden/espeak-ng-emscripten';

/** Primary tags. */
export const ESPEAK_LANGUAGES: readonly string[] = [
  ...new Set(ESPEAK_VOICES.flatMap((voice) => voice.languages.map((tag) => new Intl.Locale(tag).language))),
];

const RATE = 22_050;
const CHILD_START_TIMEOUT_MS = 20_000; // a cold disk; measured 0.2 s

/** The path of a package; undefined if it is not installed. */
type ResolvePackage = (name: string) => string | undefined;

export const installedPackage: ResolvePackage = (name) => {
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch {
    return undefined;
  }
};

export interface EspeakOptions extends EngineLimits {
  /** Path that a `ResolvePackage` returned. */
  readonly packageFile: string;
  /** Program of the child, replaced in tests. */
  readonly childFile?: string | undefined;
}

export function espeakEngine(options: EspeakOptions): SpeechEngine {
  const { packageFile, childFile, renderTimeoutMs } = options;
  const data: EspeakWorkerData = {
    packageFile,
    startTimeoutMs: CHILD_START_TIMEOUT_MS,
    renderTimeoutMs,
    childFile,
  };
  return new WorkerEngine({
    capabilities: {
      clone: false,
      design: false,
      instruct: false,
      sampling: false,
      wordTimes: true,
      hints: ['phoneme', 'emphasis', 'pitch'],
      textStreaming: false,
      languages: ESPEAK_LANGUAGES,
    },
    voices: ESPEAK_VOICES,
    rateOf: () => RATE,
    warmsUp: false, // the child warms up at each start
    limits: options,
    thread: {
      engine: 'espeak',
      file: new URL('./espeak-worker.js', import.meta.url),
      data,
      // The worker watches its child itself; this limit applies if the worker hangs.
      renderTimeoutMs: renderTimeoutMs + CHILD_START_TIMEOUT_MS,
    },
  });
}
