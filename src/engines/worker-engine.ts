// A speech engine whose work is done in a worker thread: one sentence at a time
// is rendered, the others wait in a bounded queue.
import type { PcmRing } from '../audio/pcm-ring.js';
import { ParleyError } from '../errors.js';
import { systemTime, type Time } from '../time.js';
import { EngineLifecycle, type EngineNews, type Loadable } from './engine-lifecycle.js';
import type {
  EngineCapabilities,
  EngineDevice,
  SpeechEnd,
  SpeechEngine,
  SpeechRequest,
  Voice,
} from './engine.js';
import { primaryTag } from './language-names.js';
import { Scheduler } from './scheduler.js';
import type { SpeechClass } from './urgency.js';
import { speakToNobody } from './warm-up.js';
import { EngineThread, type EngineThreadOptions } from './engine-thread.js';
import { keepRingContract } from './ring-contract.js';

/** What whoever runs the server decides about an engine. */
export interface EngineLimits {
  /** Sentences of each class that may wait for the engine. */
  readonly maxWaiting: number;
  /** Milliseconds that one of them may wait; without an end where absent. */
  readonly maxWaitMs?: number | undefined;
  /** Milliseconds that the rendering of one sentence may take; waiting for room in the ring does not count. */
  readonly renderTimeoutMs: number;
  /** Milliseconds without a sentence after which the engine is unloaded; 0, or absent, keeps it loaded. */
  readonly idleMs?: number | undefined;
  /** Codec frames of one sentence at most, of an engine that counts in them. */
  readonly maxNewTokens?: number | undefined;
  readonly onNews?: ((news: EngineNews) => void) | undefined;
  readonly time?: Time | undefined;
}

/** What an engine is. */
export interface WorkerEngineParts {
  readonly capabilities: EngineCapabilities;
  readonly voices: readonly Voice[];
  /** Hz. */
  readonly rateOf: (voice: Voice) => number;
  /** Later sentences are faster than the first ones, and the thread itself does nothing about it. */
  readonly warmsUp: boolean;
  readonly limits: EngineLimits;
  readonly thread: Omit<EngineThreadOptions, 'onLost'>;
}

export class WorkerEngine implements SpeechEngine {
  readonly name: string;
  readonly capabilities: EngineCapabilities;
  readonly #parts: WorkerEngineParts;
  readonly #time: Time;
  readonly #scheduler: Scheduler;
  readonly #thread: EngineThread;
  readonly #lifecycle: EngineLifecycle;

  constructor(parts: WorkerEngineParts) {
    this.#parts = parts;
    this.name = parts.thread.engine;
    this.capabilities = parts.capabilities;
    const { maxWaiting, maxWaitMs, idleMs = 0, time = systemTime, onNews } = parts.limits;
    this.#time = time;
    this.#scheduler = new Scheduler({ engine: this.name, concurrency: 1, maxWaiting, maxWaitMs, time });
    this.#thread = new EngineThread({ ...parts.thread, onLost: (reason) => this.#lifecycle.lost(reason) });
    const options = { engine: this.name, idleMs, time, onNews };
    this.#lifecycle = new EngineLifecycle(this.#loadable(), options);
  }

  get usable(): boolean {
    return this.#lifecycle.usable;
  }

  get trouble(): string | undefined {
    return this.#lifecycle.trouble;
  }

  get loaded(): boolean {
    return this.#lifecycle.loaded;
  }

  get waiting(): number {
    return this.#scheduler.waiting;
  }

  waitingOf(kind: SpeechClass): number {
    return this.#scheduler.waitingOf(kind);
  }

  device(): EngineDevice {
    return { name: 'cpu' };
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
    return keepRingContract(out, signal, () => this.#inTurn(request, out, signal));
  }

  load(): Promise<void> {
    return this.#lifecycle.load();
  }

  unload(): Promise<void> {
    return this.#lifecycle.unload();
  }

  close(): Promise<void> {
    this.#scheduler.close();
    return this.#lifecycle.close();
  }

  /** In the queue, then for the load if there is one, so that nobody who waits for a load passes the queue. */
  async #inTurn(request: SpeechRequest, out: PcmRing, signal: AbortSignal): Promise<SpeechEnd> {
    const askedAtMs = this.#time.now();
    const release = await this.#scheduler.enter(signal, request.urgency, request.text.length);
    const turnAtMs = this.#time.now();
    let letGo: () => void = () => undefined;
    let freeAtMs: number | undefined;
    const free = () => {
      freeAtMs ??= this.#time.now();
      release();
    };
    try {
      letGo = await this.#lifecycle.enter(signal);
      const readyAtMs = this.#time.now();
      const end = await this.#thread.speak(this.#limited(request), out, free);
      const inferMs = (freeAtMs ?? this.#time.now()) - readyAtMs;
      return {
        ...end,
        timing: { queueMs: turnAtMs - askedAtMs, loadMs: readyAtMs - turnAtMs, inferMs },
      };
    } finally {
      free();
      letGo();
    }
  }

  #limited(request: SpeechRequest): SpeechRequest {
    const { maxNewTokens } = this.#parts.limits;
    if (maxNewTokens === undefined || !this.capabilities.sampling) return request;
    const asked = request.options?.maxNewTokens ?? maxNewTokens;
    return { ...request, options: { ...request.options, maxNewTokens: Math.min(asked, maxNewTokens) } };
  }

  #loadable(): Loadable {
    const thread = this.#thread;
    const loadable: Loadable = {
      load: () => thread.load(),
      unload: () => thread.unload(),
      close: () => thread.close(),
    };
    const [voice] = this.#parts.voices;
    if (!this.#parts.warmsUp || voice === undefined) return loadable;
    const warmUp = {
      voice: voice.name,
      language: primaryTag(voice.languages[0] ?? ''),
      rate: this.#parts.rateOf(voice),
    };
    const speak = (request: SpeechRequest, out: PcmRing) => thread.speak(request, out, () => undefined);
    return { ...loadable, warmUp: () => speakToNobody(warmUp, speak) };
  }
}
