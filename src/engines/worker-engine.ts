// Runs a speech engine in a worker thread. The engine renders one sentence at a time, and the others wait in
// a bounded queue.
//
//   none ──▶ loading ──▶ serving ──▶ none      unloaded, or lost after a crash or a timeout
//
// The jobs of a thread that ends or times out fail. The lifecycle decides whether another thread is started.
import { Worker } from 'node:worker_threads';
import { PcmRing } from '../audio/pcm-ring.js';
import { attempt, guarded, ParleyError } from '../errors.js';
import { systemTime, type Time } from '../time.js';
import { EngineLifecycle, type EngineNews, type Loadable } from './engine-lifecycle.js';
import type { FromEngine, SpeakJob, ToEngine } from './engine-service.js';
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
import { type ReleaseSlot, Scheduler } from './scheduler.js';

const LOAD_TIMEOUT_MS = 30_000; // a cold disk; measured 0.2 s
const CLOSE_GRACE_MS = 1000; // for a thread that has to end child processes

interface EngineThreadOptions {
  readonly engine: string;
  readonly file: URL;
  /** Passed to the thread as its `workerData`. */
  readonly data?: unknown;
  /**
   * Milliseconds that the rendering of one sentence may take; waiting for room in the ring does not count.
   */
  readonly renderTimeoutMs: number;
  /** Called once for each loaded thread that ends unexpectedly, before its jobs fail. */
  readonly onLost?: ((reason: string) => void) | undefined;
}

interface Held {
  readonly release: ReleaseSlot;
  readonly timer: NodeJS.Timeout;
  readonly onRendered: SynthesisRequest['onRendered'];
  readonly resolve: (end: SpeechEnd) => void;
  readonly reject: (error: ParleyError) => void;
}

/** One thread, from its start to its end. */
class OneThread {
  readonly loaded: Promise<void>;
  readonly ended: Promise<void>;
  /** The thread has ended or is being ended. */
  over = false;
  #isLoaded = false;
  #reason = 'its thread ended';
  readonly #options: EngineThreadOptions;
  readonly #worker: Worker;
  readonly #held = new Map<number, Held>();
  readonly #loadTimer: NodeJS.Timeout;
  #settleLoad: { resolve: () => void; reject: (error: ParleyError) => void } | undefined;

  constructor(options: EngineThreadOptions) {
    this.#options = options;
    this.loaded = new Promise((resolve, reject) => {
      this.#settleLoad = { resolve, reject };
    });
    this.loaded.catch(() => undefined);
    this.#worker = new Worker(options.file, { workerData: options.data });
    this.#loadTimer = setTimeout(() => this.kill('it did not load in time'), LOAD_TIMEOUT_MS);
    this.#worker.on('message', (message: FromEngine) => this.#take(message));
    this.#worker.on('error', (error) => {
      this.#reason = error instanceof Error ? error.message : String(error);
    });
    this.ended = new Promise((resolve) => {
      this.#worker.on('exit', () => {
        this.#fail();
        resolve();
      });
    });
  }

  speak(job: SpeakJob, release: ReleaseSlot, onRendered: SynthesisRequest['onRendered']): Promise<SpeechEnd> {
    if (this.over) return Promise.reject(this.#failure(this.#reason));
    return new Promise((resolve, reject) => {
      const timeout = this.#options.renderTimeoutMs;
      const timer = setTimeout(() => this.kill(`a sentence took longer than ${timeout} ms`), timeout);
      this.#held.set(job.id, { release, timer, onRendered, resolve, reject });
      this.#worker.postMessage({ type: 'speak', job } satisfies ToEngine);
    });
  }

  /** Ends the thread at once and fails what it held. */
  kill(reason: string): void {
    if (this.over) return;
    this.#reason = reason;
    this.#fail();
    void this.#worker.terminate();
  }

  /** Asks the thread to end, and terminates it after CLOSE_GRACE_MS. */
  async close(): Promise<void> {
    this.#worker.postMessage({ type: 'close' } satisfies ToEngine);
    const timer = setTimeout(() => void this.#worker.terminate(), CLOSE_GRACE_MS);
    this.#reason = 'the engine was closed';
    this.#fail('ABORTED');
    await this.ended;
    clearTimeout(timer);
  }

  #take(message: FromEngine): void {
    if (message.type === 'loaded') {
      clearTimeout(this.#loadTimer);
      this.#isLoaded = true;
      this.#settleLoad?.resolve();
      return;
    }
    const held = this.#held.get(message.id);
    if (held === undefined) return;
    clearTimeout(held.timer);
    held.release();
    if (message.type === 'rendered') {
      const fail = (error: ParleyError) => {
        this.#held.delete(message.id);
        held.reject(error);
      };
      return guarded({ work: 'sentence' }, () => held.onRendered?.(message), fail)();
    }
    this.#held.delete(message.id);
    if (message.type === 'written') held.resolve({ samples: message.samples, words: message.words });
    else if (message.type === 'dropped') held.reject(new ParleyError('ABORTED', 'the ring was aborted'));
    else held.reject(this.#failure(message.message));
  }

  #fail(code: 'ENGINE_FAILED' | 'ABORTED' = 'ENGINE_FAILED'): void {
    if (this.over) return;
    this.over = true;
    clearTimeout(this.#loadTimer);
    if (this.#isLoaded && code !== 'ABORTED')
      attempt({ work: 'engine worker' }, () => this.#options.onLost?.(this.#reason));
    const error = this.#failure(this.#reason, code);
    this.#settleLoad?.reject(error);
    for (const held of this.#held.values()) {
      clearTimeout(held.timer);
      held.reject(error);
      held.release();
    }
    this.#held.clear();
  }

  #failure(why: string, code: 'ENGINE_FAILED' | 'ABORTED' = 'ENGINE_FAILED'): ParleyError {
    return new ParleyError(code, `the engine ${this.#options.engine} failed: ${why}`);
  }
}

class EngineThread {
  readonly #options: EngineThreadOptions;
  #thread: OneThread | undefined;
  readonly #ending = new Set<Promise<void>>();
  #nextId = 1;
  #closed: Promise<void> | undefined;

  constructor(options: EngineThreadOptions) {
    this.#options = options;
  }

  /**
   * Starts a thread if there is none. Resolves when it can speak; rejects with ENGINE_FAILED if it cannot be
   * loaded.
   */
  load(): Promise<void> {
    if (this.#closed !== undefined) {
      return Promise.reject(new ParleyError('WRONG_STATE', `the engine ${this.#options.engine} is closed`));
    }
    if (this.#thread === undefined || this.#thread.over) this.#thread = this.#start();
    return this.#thread.loaded;
  }

  /** Speaks one sentence and releases the slot as soon as the thread is free for the next. */
  async speak(
    { text, voice, language, options, hints, onRendered }: SynthesisRequest,
    out: PcmRing,
    release: ReleaseSlot,
  ): Promise<SpeechEnd> {
    try {
      const { engine } = this.#options;
      if (this.#thread === undefined)
        throw new ParleyError('WRONG_STATE', `the engine ${engine} is not loaded`);
      const ring = { ring: out.handle, rate: out.rate };
      const job: SpeakJob = { id: this.#nextId++, text, voice, language, ...ring, options, hints };
      return await this.#thread.speak(job, release, onRendered);
    } finally {
      release();
    }
  }

  /** Ends the thread; its jobs fail with ABORTED. */
  async unload(): Promise<void> {
    await this.#thread?.close();
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.unload();
    await Promise.all(this.#ending);
  }

  #start(): OneThread {
    const thread = new OneThread(this.#options);
    this.#ending.add(thread.ended);
    void thread.ended.then(() => this.#ending.delete(thread.ended));
    return thread;
  }
}

/** Limits of an engine that the operator sets. */
export interface EngineLimits {
  /** Sentences of each class that may wait for the engine. */
  readonly maxWaiting: number;
  /** Milliseconds that a sentence may wait; no limit by default. */
  readonly maxWaitMs?: number | undefined;
  /**
   * Milliseconds that the rendering of one sentence may take; waiting for room in the ring does not count.
   */
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

  /**
   * Waits in the queue first and for the load second, so that waiting for a load does not bypass the queue.
   */
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

/**
 * Texts of several lengths: the first sentence of each length after a load is slow (compilation, buffer
 * growth).
 */
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
