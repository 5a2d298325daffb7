// espeak-ng: optional, many languages, word times. Its package is under
// GPL-3.0: it is used only where somebody installed it, and only in a process
// of its own, which a worker thread keeps.
import { createRequire } from 'node:module';
import type { SpeechEngine } from '../engine.js';
import { CHILD_START_TIMEOUT_MS, type EspeakWorkerData } from './espeak-messages.js';
import { ESPEAK_VOICES } from './espeak-voices.js';
import { WorkerEngine, type EngineLimits } from '../worker-engine.js';

export const ESPEAK_PACKAGE = '@echogarden/espeak-ng-emscripten';

/** Primary tags. */
export const ESPEAK_LANGUAGES: readonly string[] = [
  ...new Set(ESPEAK_VOICES.flatMap((voice) => voice.languages.map((tag) => new Intl.Locale(tag).language))),
];

const RATE = 22_050;

/** Where a package is, or undefined when it is not installed. */
export type ResolvePackage = (name: string) => string | undefined;

export const installedPackage: ResolvePackage = (name) => {
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch {
    return undefined;
  }
};

export interface EspeakOptions extends EngineLimits {
  /** From a `ResolvePackage`. */
  readonly packageFile: string;
  /** The child's program; tests bring one that misbehaves. */
  readonly childFile?: string;
}

export function espeakEngine(options: EspeakOptions): SpeechEngine {
  const { packageFile, childFile, renderTimeoutMs } = options;
  const data: EspeakWorkerData = {
    packageFile,
    renderTimeoutMs,
    ...(childFile === undefined ? {} : { childFile }),
  };
  return new WorkerEngine({
    capabilities: {
      clone: false,
      design: false,
      instruct: false,
      sampling: false,
      wordTimes: true,
      textStreaming: false,
      languages: ESPEAK_LANGUAGES,
    },
    voices: ESPEAK_VOICES,
    rateOf: () => RATE,
    warmsUp: false, // the child does, whenever it is started
    limits: options,
    thread: {
      engine: 'espeak',
      file: new URL('./espeak-worker.js', import.meta.url),
      data,
      // The worker watches its child itself; the thread is only killed when
      // even that fails.
      renderTimeoutMs: renderTimeoutMs + CHILD_START_TIMEOUT_MS,
    },
  });
}
