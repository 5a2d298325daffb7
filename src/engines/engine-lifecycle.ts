// When an engine is loaded, and when it is let go.
//
//   unloaded ──▶ loading ──▶ loaded ──▶ unloading ──▶ unloaded      nothing in hand for the idle time
//                 ▲   │         └──▶ lost: loaded again at once
//                 │   ▼
//                failed: again after a while, for a request or by itself
//
// A sentence holds the engine from `enter` until it lets go; nothing that is
// held is unloaded. What cannot be loaded is tried again, never in a hurry.
import { asParleyError, isAborted, ParleyError } from '../errors.js';
import type { Time } from '../time.js';

/** What has to be loaded before it can speak. */
export interface Loadable {
  /** Resolves when it can speak; rejects, in bounded time, when it cannot be made so. */
  load(): Promise<void>;
  /** Called after each load, before anybody else; absent where later sentences are no faster than the first. */
  warmUp?(): Promise<void>;
  /** What the log says of what was loaded: on which device, for example. */
  readonly facts?: Readonly<Record<string, string>>;
  /** Frees what `load` took; also after a load that failed. */
  unload(): Promise<void>;
  /** Frees everything for good, also while it loads. */
  close(): Promise<void>;
}

/** For the log. */
export type EngineNews =
  | { readonly what: 'loaded'; readonly ms: number; readonly [fact: string]: string | number }
  | { readonly what: 'load failed'; readonly reason: string; readonly againInMs: number }
  | { readonly what: 'unloaded' }
  | { readonly what: 'unload failed'; readonly reason: string }
  /** A sentence outlived its text, and was cut off. */
  | { readonly what: 'runaway'; readonly reason: string }
  /** It ended by itself: a crash, or a sentence that took too long. */
  | { readonly what: 'lost'; readonly reason: string };

export interface LifecycleOptions {
  /** Named in refusals. */
  readonly engine: string;
  /** Milliseconds without a sentence after which it is unloaded; 0 keeps it loaded. */
  readonly idleMs: number;
  readonly time: Time;
  readonly onNews?: ((news: EngineNews) => void) | undefined;
}

/** Told once that the sentence is done; any further time does nothing. */
export type LetGo = () => void;

const MIN_RETRY_MS = 3000; // between a load that failed and the next
const MAX_RETRY_MS = 60_000; // unless somebody asks, twice as long each time up to this

export class EngineLifecycle {
  readonly #engine: Loadable;
  readonly #options: LifecycleOptions;
  readonly #gone = new AbortController();
  #loaded = false;
  #loadedAtMs = 0;
  /** Since it was loaded. */
  #served = false;
  /** Sentences that have entered and not let go, those that wait for a load included. */
  #inHand = 0;
  readonly #whenFree = new Set<() => void>();
  #loading: Promise<void> | undefined;
  #unloading: Promise<void> | undefined;
  #failure: ParleyError | undefined;
  #failures = 0;
  #failedAtMs = 0;
  /** Ends the wait for the idle time while it is loaded, for the next try after a failure. */
  #callOff: () => void = () => undefined;
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
   * Resolves when the engine can speak, loading it where it is not loaded; it stays so until the holder lets go.
   * Rejects with ENGINE_UNAVAILABLE when it cannot be loaded (now), and ABORTED as soon as the signal is aborted
   * or the engine closed.
   */
  async enter(signal: AbortSignal): Promise<LetGo> {
    this.#inHand++;
    if (this.#loaded) this.#callOff();
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

  /** Resolves when it can speak; rejects with what keeps it from that, sooner after a failure without trying. */
  load(): Promise<void> {
    if (this.#isClosed) return Promise.reject(this.#closedError());
    if (this.#loaded) return Promise.resolve();
    if (this.#loading !== undefined) return this.#loading;
    if (this.#failure !== undefined && this.#holdOffMs() > 0) return Promise.reject(this.#failure);
    return this.#start();
  }

  /** Unloads it as soon as no sentence is in hand; whoever comes later has it loaded again. */
  async unload(): Promise<void> {
    while (!this.#isClosed && (this.#loading !== undefined || this.#inHand > 0)) {
      await (this.#loading?.catch(() => undefined) ?? this.#free());
    }
    if (this.#loaded) this.#startUnload();
    await this.#unloading;
  }

  /** To be told when the loaded engine has ended by itself. */
  lost(reason: string): void {
    if (!this.#loaded) return;
    this.#loaded = false;
    this.#callOff();
    this.#tell({ what: 'lost', reason });
    // One that ends by itself whenever it is loaded would be loaded over and over.
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
    this.#callOff();
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
    this.#callOff();
    this.#loading = this.#run();
    this.#loading.catch(() => undefined); // `lost` and the timer have nobody who waits
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
      await this.#engine.unload().catch(() => undefined); // what is there is of no use
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
    this.#tell({ ...this.#engine.facts, what: 'loaded', ms });
    if (this.#inHand === 0) this.#rest();
  }

  #fail(error: ParleyError): void {
    this.#failure = error;
    this.#failedAtMs = this.#now();
    const againInMs = Math.min(MIN_RETRY_MS * 2 ** this.#failures++, MAX_RETRY_MS);
    this.#callOff = this.#options.time.after(againInMs, () => void this.#start().catch(() => undefined));
    this.#tell({ what: 'load failed', reason: error.message, againInMs });
  }

  #letGo(): void {
    this.#inHand--;
    if (this.#inHand > 0) return;
    this.#wakeWaiters();
    if (this.#loaded) this.#rest();
  }

  #rest(): void {
    const { idleMs, time } = this.#options;
    if (idleMs > 0) this.#callOff = time.after(idleMs, () => this.#startUnload());
  }

  #startUnload(): void {
    this.#loaded = false;
    this.#callOff();
    this.#unloading = this.#engine
      .unload()
      .then(
        () => this.#tell({ what: 'unloaded' }),
        (error: unknown) => this.#tell({ what: 'unload failed', reason: (error as Error).message }),
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

  /** What went wrong is for the log: it may name files of this machine. */
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

  #tell(news: EngineNews): void {
    this.#options.onNews?.(news);
  }
}

/** The promise, or ABORTED as soon as the signal is aborted. */
function unlessAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new ParleyError('ABORTED', 'nobody waits for the engine any more'));
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}
