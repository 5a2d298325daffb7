// A speech engine whose work is done in a worker thread: one sentence at a time
// is rendered, the others wait in a bounded queue.
import type { PcmRing } from '../../audio/pcm-ring.js';
import { ParleyError } from '../../errors.js';
import type { EngineCapabilities, SpeechEnd, SpeechEngine, SpeechRequest, Voice } from '../engine.js';
import { Scheduler } from '../scheduler.js';
import { EngineThread, type EngineThreadOptions, type LoadedEnd } from './engine-thread.js';
import { keepRingContract } from './ring-contract.js';

/** What whoever runs the server decides about an engine. */
export interface EngineLimits {
  /** Sentences of each class that may wait for the engine. */
  readonly maxWaiting: number;
  /** Milliseconds that one of them may wait; without an end where absent. */
  readonly maxWaitMs?: number | undefined;
  /** Milliseconds that the rendering of one sentence may take; waiting for room in the ring does not count. */
  readonly renderTimeoutMs: number;
  /** Told each time the engine's thread crashed or hung and was replaced. */
  readonly onReplaced?: ((reason: string) => void) | undefined;
}

/** What an engine is. */
export interface WorkerEngineParts {
  readonly capabilities: EngineCapabilities;
  readonly voices: readonly Voice[];
  /** Hz. */
  readonly rateOf: (voice: Voice) => number;
  readonly maxWaiting: number;
  readonly maxWaitMs?: number | undefined;
  readonly thread: EngineThreadOptions;
}

export class WorkerEngine implements SpeechEngine {
  readonly name: string;
  readonly capabilities: EngineCapabilities;
  readonly #parts: WorkerEngineParts;
  readonly #scheduler: Scheduler;
  readonly #thread: EngineThread;

  constructor(parts: WorkerEngineParts) {
    this.#parts = parts;
    this.name = parts.thread.engine;
    this.capabilities = parts.capabilities;
    const { maxWaiting, maxWaitMs } = parts;
    this.#scheduler = new Scheduler({ engine: this.name, concurrency: 1, maxWaiting, maxWaitMs });
    this.#thread = new EngineThread(parts.thread);
  }

  get usable(): boolean {
    return this.#thread.usable;
  }

  get waiting(): number {
    return this.#scheduler.waiting;
  }

  voices(): Promise<readonly Voice[]> {
    return Promise.resolve(this.#parts.voices);
  }

  sampleRate(voice: string): number {
    const found = this.#parts.voices.find(({ name }) => name === voice);
    if (found === undefined) throw new ParleyError('VOICE_UNKNOWN', `${this.name} has no voice "${voice}"`);
    return this.#parts.rateOf(found);
  }

  synthesize(request: SpeechRequest, out: PcmRing, signal: AbortSignal): Promise<SpeechEnd> {
    return keepRingContract(out, signal, async () => {
      const askedAtMs = performance.now();
      const release = await this.#scheduler.enter(signal, request.urgency, request.text.length);
      const queueMs = performance.now() - askedAtMs;
      return timed(queueMs, release, (freed) => this.#thread.speak(request, out, freed));
    });
  }

  load(): Promise<void> {
    return this.#thread.load();
  }

  unload(): Promise<void> {
    return this.#thread.unload();
  }

  close(): Promise<void> {
    this.#scheduler.close();
    return this.#thread.close();
  }
}

/** The end of a sentence with what it took: the engine worked on it from its slot's begin until it gave it back. */
async function timed(
  queueMs: number,
  release: () => void,
  speak: (release: () => void) => Promise<LoadedEnd>,
): Promise<SpeechEnd> {
  const begunAtMs = performance.now();
  let heldMs = 0;
  const { loadMs, ...end } = await speak(() => {
    heldMs ||= performance.now() - begunAtMs;
    release();
  });
  return { ...end, timing: { queueMs, loadMs, inferMs: Math.max(0, heldMs - loadMs) } };
}
