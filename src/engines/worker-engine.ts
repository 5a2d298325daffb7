// A speech engine in a worker thread: it renders one sentence at a time, and the others wait in a bounded queue.
import { PcmRing } from '../audio/pcm-ring.js';
import { ParleyError } from '../errors.js';
import { systemTime, type Time } from '../time.js';
import { EngineLifecycle, type EngineNews, type Loadable } from './engine-lifecycle.js';
import { EngineThread, type EngineThreadOptions } from './engine-thread.js';
import {
  type EngineCapabilities,
  type EngineDevice,
  keepRingContract,
  type SpeechClass,
  type SpeechEnd,
  type SpeechEngine,
  type SynthesisRequest,
  type Voice,
} from './engine.js';
import { primaryTag } from './language-names.js';
import { Scheduler } from './scheduler.js';

/** Limits of an engine that the operator sets. */
export interface EngineLimits {
  /** Sentences of each class that may wait for the engine. */
  readonly maxWaiting: number;
  /** Milliseconds that a sentence may wait; no limit by default. */
  readonly maxWaitMs?: number | undefined;
  /** Milliseconds that the rendering of one sentence may take; waiting for room in the ring does not count. */
  readonly renderTimeoutMs: number;
  /** Milliseconds without a sentence after which the engine is unloaded; 0, or absent, keeps it loaded. */
  readonly idleMs?: number | undefined;
  /** Most codec frames of one sentence, for engines with frames. */
  readonly maxNewTokens?: number | undefined;
  readonly onNews?: ((news: EngineNews) => void) | undefined;
  readonly time?: Time | undefined;
}

/** Properties of one worker engine. */
interface WorkerEngineParts {
  readonly capabilities: EngineCapabilities;
  readonly voices: readonly Voice[];
  /** Hz. */
  readonly rateOf: (voice: Voice) => number;
  /** True if the first sentences are slow and the thread does not warm up by itself. */
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

  synthesize(request: SynthesisRequest, out: PcmRing, signal: AbortSignal): Promise<SpeechEnd> {
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

  /** Waits in the queue first and for the load second, so that waiting for a load does not bypass the queue. */
  async #inTurn(request: SynthesisRequest, out: PcmRing, signal: AbortSignal): Promise<SpeechEnd> {
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

  #limited(request: SynthesisRequest): SynthesisRequest {
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
    const speak = (request: SynthesisRequest, out: PcmRing) => thread.speak(request, out, () => undefined);
    return { ...loadable, warmUp: () => warmUpWith(warmUp, speak) };
  }
}

/** Texts of several lengths: the first sentence of each length after a load is slow (compilation, buffer growth). */
export const WARM_UP_TEXTS: readonly string[] = [
  'Yes.',
  'Hello, this is a short sentence.',
  'This one is longer: your order of May 3rd, over 12.50 dollars, has left our house and arrives on Tuesday.',
];

const RING_SECONDS = 1;

interface WarmUp {
  readonly voice: string;
  /** BCP 47 primary tag. */
  readonly language: string;
  /** Hz, of the voice. */
  readonly rate: number;
}

/** Speaks each warm-up text into a ring that is drained; rejects with the error of `speak`. */
async function warmUpWith(
  { rate, ...voice }: WarmUp,
  speak: (request: SynthesisRequest, out: PcmRing) => Promise<unknown>,
): Promise<void> {
  for (const text of WARM_UP_TEXTS) {
    const ring = PcmRing.open(rate, rate * RING_SECONDS);
    const drain = () => {
      const status = ring.status();
      if (status === null || status.aborted) return;
      ring.read(new Float32Array(status.readable));
      if (!status.ended) ring.onReadable(drain);
    };
    drain();
    try {
      await speak({ text, ...voice }, ring);
    } finally {
      ring.close();
    }
  }
}
