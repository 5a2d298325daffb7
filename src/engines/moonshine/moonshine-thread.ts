// Runs the service of a recogniser in one worker thread, and fails what the thread holds when it ends.
import { Worker } from 'node:worker_threads';
import { asParleyError, attempt, ParleyError } from '../../errors.js';
import { disableTelemetry } from '../../onnx/telemetry.js';
import type { Time } from '../../time.js';
import type {
  FromMoonshine,
  ListenRequest,
  MoonshineWorkerData,
  PlacedOrder,
  ToMoonshine,
  TurnMessage,
} from './moonshine-messages.js';
import type { FileHashes } from './onnx-graphs.js';

const LOAD_TIMEOUT_MS = 120_000; // several models on a cold disk
const CLOSE_GRACE_MS = 2000; // a run cannot be interrupted, and one that hangs never ends
const WORKER_FILE = new URL('./moonshine-worker.js', import.meta.url);

interface ThreadFacts {
  readonly passMs: number;
  readonly hashes: FileHashes;
}

export interface ThreadOptions {
  readonly data: MoonshineWorkerData;
  readonly time: Time;
  /** Milliseconds without an answer after which a thread counts as hung. */
  readonly stallMs: number;
  /** Called once if a loaded thread ends unexpectedly, before what it holds fails. */
  readonly onLost: (reason: string) => void;
  /** Module of the thread, replaced in tests. */
  readonly file?: URL | undefined;
}

interface Held {
  readonly onTurn: (turn: TurnMessage) => void;
  readonly resolve: (text: string) => void;
  readonly reject: (error: ParleyError) => void;
}

export class MoonshineThread {
  readonly loaded: Promise<ThreadFacts>;
  readonly #options: ThreadOptions;
  readonly #worker: Worker;
  readonly #held = new Map<number, Held>();
  #settle: { resolve: (facts: ThreadFacts) => void; reject: (error: ParleyError) => void } | undefined;
  #isLoaded = false;
  #isOver = false;
  #reason = 'its thread ended';
  #nextId = 1;
  #live = 0;
  #pingNumber = 0;
  #pongNumber = 0;
  #cancelTimer: () => void;
  readonly #exited: Promise<void>;

  constructor(options: ThreadOptions) {
    this.#options = options;
    this.loaded = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    this.loaded.catch(() => undefined);
    disableTelemetry();
    this.#worker = new Worker(options.file ?? WORKER_FILE, { workerData: options.data });
    this.#cancelTimer = options.time.after(LOAD_TIMEOUT_MS, () => this.kill('it did not load in time'));
    this.#worker.on('message', (message: FromMoonshine) => this.#take(message));
    this.#worker.on('error', (error) => {
      this.#reason = error instanceof Error ? error.message : String(error);
    });
    this.#exited = new Promise((resolve) => {
      this.#worker.on('exit', () => {
        this.#end('ENGINE_LOST');
        resolve();
      });
    });
  }

  /** Loaded, and not ended. */
  get isServing(): boolean {
    return this.#isLoaded && !this.#isOver;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Live sessions. */
  get live(): number {
    return this.#live;
  }

  /** Sessions and pieces. */
  get load(): number {
    return this.#held.size;
  }

  /** Resolves when the session has told every text. Rejects with its error, or ENGINE_LOST. */
  listen(
    request: Omit<ListenRequest, 'id'>,
    onTurn: (turn: TurnMessage) => void,
  ): {
    readonly ended: Promise<void>;
    readonly order: (order: PlacedOrder) => void;
    readonly stop: () => void;
  } {
    const id = this.#nextId++;
    this.#live++;
    const ended = this.#hold(id, onTurn)
      .then(() => undefined)
      .finally(() => this.#live--);
    this.#post({ type: 'listen', request: { ...request, id } });
    return {
      ended,
      order: (order) => this.#post({ type: 'order', id, order }),
      stop: () => this.#giveUp(id),
    };
  }

  /** The text of a sound of 16 kHz. Rejects with ABORTED as soon as the signal is aborted. */
  async piece(language: string, samples: Float32Array, signal: AbortSignal): Promise<string> {
    const id = this.#nextId++;
    const text = this.#hold(id, () => undefined);
    const stop = () => this.#giveUp(id);
    this.#post({ type: 'piece', id, language, samples });
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    try {
      return await text;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  /** Fails what the thread holds and ends it: by force where it does not end by itself within 2 s. */
  kill(reason: string): void {
    if (this.#isOver) return;
    this.#reason = reason;
    this.#end('ENGINE_LOST');
    this.#askToEnd();
    const cancel = this.#options.time.after(CLOSE_GRACE_MS, () => void this.#worker.terminate());
    void this.#exited.then(cancel);
  }

  /** Ends the thread. Resolves when it has ended, or after 2 s. What it holds fails with ABORTED. */
  async close(): Promise<void> {
    this.#reason = 'it was closed';
    this.#end('ABORTED');
    this.#askToEnd();
    let cancel: () => void = () => undefined;
    const late = new Promise<void>((resolve) => (cancel = this.#options.time.after(CLOSE_GRACE_MS, resolve)));
    await Promise.race([this.#exited, late]);
    cancel();
    this.#worker.unref(); // one that hangs does not keep the process
  }

  /**
   * The thread ends itself between two runs. The runtime aborts the whole process if its thread is terminated
   * within one, as soon as the run returns.
   */
  #askToEnd(): void {
    this.#worker.postMessage({ type: 'close' } satisfies ToMoonshine);
  }

  #hold(id: number, onTurn: (turn: TurnMessage) => void): Promise<string> {
    if (this.#isOver) return Promise.reject(this.#failure('ENGINE_LOST'));
    const held = new Promise<string>((resolve, reject) => this.#held.set(id, { onTurn, resolve, reject }));
    if (this.#held.size === 1) this.#watch();
    return held;
  }

  #giveUp(id: number): void {
    const held = this.#held.get(id);
    this.#held.delete(id);
    if (held === undefined) return;
    this.#post({ type: 'stop', id });
    held.reject(new ParleyError('ABORTED', 'the recognition was given up'));
  }

  #post(message: ToMoonshine): void {
    if (!this.#isOver) this.#worker.postMessage(message);
  }

  #take(message: FromMoonshine): void {
    if (this.#isOver) return;
    if (message.type === 'loaded') return this.#load(message);
    if (message.type === 'refused') return this.#refuse(message.message);
    if (message.type === 'pong') return this.#takePong(message);
    const held = this.#held.get(message.id);
    if (held === undefined) return;
    if (message.type === 'turn') {
      try {
        return held.onTurn(message.turn);
      } catch (error) {
        held.reject(asParleyError(error, 'ENGINE_FAILED'));
        return this.#giveUp(message.id);
      }
    }
    this.#held.delete(message.id);
    if (message.type === 'failed') held.reject(new ParleyError(message.code, message.message));
    else held.resolve(message.type === 'piece' ? message.text : '');
  }

  /** A thread may answer while a graph that computes elsewhere never ends. */
  #takePong({ number, runMs }: Extract<FromMoonshine, { readonly type: 'pong' }>): void {
    const { stallMs } = this.#options;
    this.#pongNumber = number;
    if (runMs >= stallMs) this.kill(`a run of a graph has not ended within ${stallMs} ms`);
  }

  #load(facts: ThreadFacts): void {
    this.#cancelTimer();
    this.#isLoaded = true;
    this.#settle?.resolve(facts);
  }

  #refuse(message: string): void {
    this.#cancelTimer();
    this.#isOver = true;
    this.#settle?.reject(new ParleyError('ENGINE_UNAVAILABLE', message));
    void this.#worker.terminate();
  }

  /** Kills a thread that does not answer between two looks although it has work. */
  #watch(): void {
    const { time, stallMs } = this.#options;
    this.#cancelTimer();
    this.#post({ type: 'ping', number: ++this.#pingNumber });
    this.#cancelTimer = time.after(stallMs, () => {
      if (this.#pongNumber !== this.#pingNumber) this.kill(`nothing was recognised for ${stallMs} ms`);
      else if (this.#held.size > 0) this.#watch();
    });
  }

  #end(code: 'ENGINE_LOST' | 'ABORTED'): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelTimer();
    if (this.#isLoaded && code === 'ENGINE_LOST')
      attempt({ work: 'recognition' }, () => this.#options.onLost(this.#reason));
    this.#settle?.reject(this.#failure('ENGINE_UNAVAILABLE'));
    for (const { reject } of this.#held.values()) reject(this.#failure(code));
    this.#held.clear();
  }

  #failure(code: 'ENGINE_LOST' | 'ENGINE_UNAVAILABLE' | 'ABORTED'): ParleyError {
    return new ParleyError(code, `the worker of the recogniser moonshine has ended: ${this.#reason}`);
  }
}
