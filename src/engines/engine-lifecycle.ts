// Loads and unloads an engine.
//
//   unloaded ──▶ loading ──▶ loaded ──▶ unloading ──▶ unloaded      no sentence for the idle time
//                 ▲   │         └──▶ lost: loaded again at once
//                 │   ▼
//                failed: retried after a while, by a request or a timer
//
// A sentence holds the engine from `enter` until it lets go; a held engine is not unloaded.
import { asParleyError, isAborted, ParleyError } from '../errors.js';
import type { Time } from '../time.js';

/** The part of an engine that is loaded and unloaded. */
export interface Loadable {
  /** Resolves when it can speak; rejects, in bounded time, when it cannot be made so. */
  load(): Promise<void>;
  /**
   * Called after each load, before the first sentence; absent if the first sentence is as fast as later ones.
   */
  warmUp?(): Promise<void>;
  /** Fields for the log line of a load, for example the device. */
  readonly facts?: Readonly<Record<string, string>>;
  /** Frees what `load` took; also after a load that failed. */
  unload(): Promise<void>;
  /** Frees everything for good, also while it loads. */
  close(): Promise<void>;
}

/** Events for the log. */
export type EngineNews =
  | { readonly what: 'loaded'; readonly ms: number; readonly [fact: string]: string | number }
  | { readonly what: 'load failed'; readonly reason: string; readonly againInMs: number }
  | { readonly what: 'unloaded' }
  | { readonly what: 'unload failed'; readonly reason: string }
  /** A sentence did not end with its text, and was cut off. */
  | { readonly what: 'runaway'; readonly reason: string }
  /** A voice of its folder cannot be used; the others can. */
  | { readonly what: 'voice refused'; readonly reason: string }
  /** A model of the cache cannot be used; the engine has others, or none. */
  | { readonly what: 'model refused'; readonly reason: string }
  /** The engine ended unexpectedly: a crash, or a sentence that took too long. */
  | { readonly what: 'lost'; readonly reason: string };

interface LifecycleOptions {
  /** Name in error messages. */
  readonly engine: string;
  /** Milliseconds without a sentence after which it is unloaded; 0 keeps it loaded. */
  readonly idleMs: number;
  readonly time: Time;
  readonly onNews?: ((news: EngineNews) => void) | undefined;
}

/** Releases the engine after a sentence; further calls do nothing. */
type LetGo = () => void;

const MIN_RETRY_MS = 3000; // between a load that failed and the next
const MAX_RETRY_MS = 60_000; // limit of the doubling interval, unless a request retries earlier

export class EngineLifecycle {
  readonly #engine: Loadable;
  readonly #options: LifecycleOptions;
  readonly #gone = new AbortController();
  #loaded = false;
  #loadedAtMs = 0;
  /** Since it was loaded. */
  #served = false;
  /** Sentences that have entered and not let go, including those that wait for a load. */
  #inHand = 0;
  readonly #whenFree = new Set<() => void>();
  #loading: Promise<void> | undefined;
  #unloading: Promise<void> | undefined;
  #failure: ParleyError | undefined;
  #failures = 0;
  #failedAtMs = 0;
  /** Cancels the idle timer of a loaded engine, or the retry timer after a failure. */
  #cancelTimer: () => void = () => undefined;
  #closed: Promise<void> | undefined;

  constructor(engine: Loadable, options: LifecycleOptions) {
    this.#engine = engine;
    this.#options = options;
  }

  get loaded(): boolean {
    return this.#loaded;
  }

  /** False after a load that failed, until one succeeds, and after a close. */
  get usable(): boolean {
    return this.trouble === undefined;
  }

  /** Why it is not usable. */
  get trouble(): string | undefined {
    return this.#isClosed ? 'it is closed' : this.#failure?.message;
  }

  /**
   * Resolves when the engine can speak, loading it where it is not loaded; it stays so until the holder lets
   * go. Rejects with ENGINE_UNAVAILABLE when it cannot be loaded (now), and ABORTED as soon as the signal is
   * aborted or the engine closed.
   */
  async enter(signal: AbortSignal): Promise<LetGo> {
    this.#inHand++;
    if (this.#loaded) this.#cancelTimer();
    let held = true;
    const letGo = () => {
      if (held) this.#letGo();
      held = false;
    };
    try {
      while (!this.#loaded) await this.#loadFor(signal);
    } catch (error) {
      letGo();
      throw error;
    }
    this.#served = true;
    return letGo;
  }

  /** Resolves when it can speak. Rejects with the cause; soon after a failure without another attempt. */
  load(): Promise<void> {
    if (this.#isClosed) return Promise.reject(this.#closedError());
    if (this.#loaded) return Promise.resolve();
    if (this.#loading !== undefined) return this.#loading;
    if (this.#failure !== undefined && this.#holdOffMs() > 0) return Promise.reject(this.#failure);
    return this.#start();
  }

  /** Unloads when no sentence is being spoken; a later sentence loads it again. */
  async unload(): Promise<void> {
    while (!this.#isClosed && (this.#loading !== undefined || this.#inHand > 0)) {
      await (this.#loading?.catch(() => undefined) ?? this.#free());
    }
    if (this.#loaded) this.#startUnload();
    await this.#unloading;
  }

  /** Called when the loaded engine has ended unexpectedly. */
  lost(reason: string): void {
    if (!this.#loaded) return;
    this.#loaded = false;
    this.#cancelTimer();
    this.#report({ what: 'lost', reason });
    // An engine that ends at each load must not be loaded over and over.
    const hasWorked = this.#served || this.#now() - this.#loadedAtMs >= MIN_RETRY_MS;
    if (hasWorked) void this.#start().catch(() => undefined);
    else this.#fail(new ParleyError('ENGINE_FAILED', reason));
  }

  /** Ends every wait and closes the engine. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  #close(): Promise<void> {
    this.#gone.abort();
    this.#loaded = false;
    this.#cancelTimer();
    this.#wakeWaiters();
    return this.#engine.close();
  }

  get #isClosed(): boolean {
    return this.#gone.signal.aborted;
  }

  async #loadFor(signal: AbortSignal): Promise<void> {
    if (this.#isClosed) throw this.#closedError();
    try {
      await unlessAborted(this.load(), AbortSignal.any([signal, this.#gone.signal]));
    } catch (error) {
      throw isAborted(error) ? error : this.#unavailable(error);
    }
  }

  #start(): Promise<void> {
    this.#cancelTimer();
    this.#loading = this.#run();
    this.#loading.catch(() => undefined); // `lost` and the timer do not await it
    return this.#loading;
  }

  async #run(): Promise<void> {
    try {
      await this.#unloading;
      if (this.#isClosed) throw this.#closedError();
      const startedAtMs = this.#now();
      await this.#engine.load();
      await this.#engine.warmUp?.();
      if (this.#isClosed) throw this.#closedError();
      this.#ready(startedAtMs);
    } catch (cause) {
      if (this.#isClosed) throw this.#closedError();
      await this.#engine.unload().catch(() => undefined); // frees the partial load
      if (this.#isClosed) throw this.#closedError();
      const error = asParleyError(cause, 'ENGINE_FAILED');
      this.#fail(error);
      throw error;
    } finally {
      this.#loading = undefined;
    }
  }

  #ready(startedAtMs: number): void {
    this.#loaded = true;
    this.#served = false;
    this.#failure = undefined;
    this.#failures = 0;
    this.#loadedAtMs = this.#now();
    const ms = Math.round(this.#loadedAtMs - startedAtMs);
    this.#report({ ...this.#engine.facts, what: 'loaded', ms });
    if (this.#inHand === 0) this.#startIdleTimer();
  }

  #fail(error: ParleyError): void {
    this.#failure = error;
    this.#failedAtMs = this.#now();
    const againInMs = Math.min(MIN_RETRY_MS * 2 ** this.#failures++, MAX_RETRY_MS);
    this.#cancelTimer = this.#options.time.after(againInMs, () => void this.#start().catch(() => undefined));
    this.#report({ what: 'load failed', reason: error.message, againInMs });
  }

  #letGo(): void {
    this.#inHand--;
    if (this.#inHand > 0) return;
    this.#wakeWaiters();
    if (this.#loaded) this.#startIdleTimer();
  }

  #startIdleTimer(): void {
    const { idleMs, time } = this.#options;
    if (idleMs > 0) this.#cancelTimer = time.after(idleMs, () => this.#startUnload());
  }

  #startUnload(): void {
    this.#loaded = false;
    this.#cancelTimer();
    this.#unloading = this.#engine
      .unload()
      .then(
        () => this.#report({ what: 'unloaded' }),
        (error: unknown) => this.#report({ what: 'unload failed', reason: (error as Error).message }),
      )
      .finally(() => (this.#unloading = undefined));
  }

  #free(): Promise<void> {
    return new Promise((resolve) => this.#whenFree.add(resolve));
  }

  #wakeWaiters(): void {
    for (const wake of this.#whenFree) wake();
    this.#whenFree.clear();
  }

  #holdOffMs(): number {
    return this.#failedAtMs + MIN_RETRY_MS - this.#now();
  }

  /** The cause is only logged: it may contain file names of this machine. */
  #unavailable(cause: unknown): ParleyError {
    const { engine } = this.#options;
    const retryAfterSeconds = Math.max(0, this.#holdOffMs()) / 1000;
    const message = `the engine ${engine} cannot be loaded at the moment; it is tried again`;
    return new ParleyError('ENGINE_UNAVAILABLE', message, { cause, retryAfterSeconds });
  }

  #closedError(): ParleyError {
    return new ParleyError('WRONG_STATE', `the engine ${this.#options.engine} is closed`);
  }

  #now(): number {
    return this.#options.time.now();
  }

  #report(news: EngineNews): void {
    this.#options.onNews?.(news);
  }
}

/** Settles like the promise, or rejects with ABORTED at the abort. */
function unlessAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new ParleyError('ABORTED', 'no sentence waits for the engine any more'));
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}
