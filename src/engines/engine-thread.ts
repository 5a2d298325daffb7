// Runs an engine's worker thread from the main thread.
//
//   none ──▶ loading ──▶ serving ──▶ none      unloaded, or lost after a crash or a timeout
//
// The jobs of a thread that ends or times out fail. The lifecycle decides whether another thread is started.
import { Worker } from 'node:worker_threads';
import type { PcmRing } from '../audio/pcm-ring.js';
import { ParleyError } from '../errors.js';
import type { SpeechEnd, SynthesisRequest } from './engine.js';
import type { ReleaseSlot } from './scheduler.js';
import type { FromEngine, SpeakJob, ToEngine } from './engine-service.js';

const LOAD_TIMEOUT_MS = 30_000; // a cold disk; measured 0.2 s
const CLOSE_GRACE_MS = 1000; // for a thread that has to end child processes

export interface EngineThreadOptions {
  readonly engine: string;
  readonly file: URL;
  /** Passed to the thread as its `workerData`. */
  readonly data?: unknown;
  /** Milliseconds that the rendering of one sentence may take; waiting for room in the ring does not count. */
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
    if (message.type === 'rendered') return held.onRendered?.(message);
    this.#held.delete(message.id);
    if (message.type === 'written') held.resolve({ samples: message.samples, words: message.words });
    else if (message.type === 'dropped') held.reject(new ParleyError('ABORTED', 'the ring was aborted'));
    else held.reject(this.#failure(message.message));
  }

  #fail(code: 'ENGINE_FAILED' | 'ABORTED' = 'ENGINE_FAILED'): void {
    if (this.over) return;
    this.over = true;
    clearTimeout(this.#loadTimer);
    if (this.#isLoaded && code !== 'ABORTED') this.#options.onLost?.(this.#reason);
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

export class EngineThread {
  readonly #options: EngineThreadOptions;
  #thread: OneThread | undefined;
  readonly #ending = new Set<Promise<void>>();
  #nextId = 1;
  #closed: Promise<void> | undefined;

  constructor(options: EngineThreadOptions) {
    this.#options = options;
  }

  /** Starts a thread if there is none. Resolves when it can speak; rejects with ENGINE_FAILED if it cannot be loaded. */
  load(): Promise<void> {
    if (this.#closed !== undefined) {
      return Promise.reject(new ParleyError('WRONG_STATE', `the engine ${this.#options.engine} is closed`));
    }
    if (this.#thread === undefined || this.#thread.over) this.#thread = this.#start();
    return this.#thread.loaded;
  }

  /** Speaks one sentence and releases the slot as soon as the thread is free for the next. */
  async speak(
    { text, voice, language, options, onRendered }: SynthesisRequest,
    out: PcmRing,
    release: ReleaseSlot,
  ): Promise<SpeechEnd> {
    try {
      const { engine } = this.#options;
      if (this.#thread === undefined)
        throw new ParleyError('WRONG_STATE', `the engine ${engine} is not loaded`);
      const ring = { ring: out.handle, rate: out.rate };
      const job: SpeakJob = { id: this.#nextId++, text, voice, language, ...ring };
      return await this.#thread.speak(options === undefined ? job : { ...job, options }, release, onRendered);
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
