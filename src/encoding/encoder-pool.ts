// The pool of encoder workers. A session goes to the worker with the fewest sessions. If a worker dies, its
// sessions reject with ENCODER_FAILED, and another worker replaces it. The load of each worker is sampled
// once a second; a busy worker begins sessions with a lower complexity (worker-load.ts).
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { TrimOptions } from '../audio/trimmer.js';
import { loadOpus, OPUS_SPEECH, type OpusSettings } from '../codecs/opus.js';
import type { Config } from '../config/config.js';
import { attempt, guarded, ParleyError } from '../errors.js';
import type { Log } from '../log.js';
import { systemTime, type Time } from '../time.js';
import { EncoderSession, Handover, type WorkerPort } from './encoder-session.js';
import {
  type HandoverMessage,
  type FromWorker,
  type EncoderSettings,
  type EncoderSink,
  MessageBatch,
  type ToWorker,
} from './encoder-messages.js';
import { COUNTERS, WorkerLoad, type WorkerSample } from './worker-load.js';

/** Settings of a session that override those of the pool. */
export interface EncoderOptions {
  readonly opus?: Partial<OpusSettings>;
  readonly trim?: TrimOptions | undefined;
}

interface PoolOptions extends EncoderOptions {
  /** Threads; by default one fewer than the machine has cores, at least one. */
  readonly workers?: number;
  /** The worker's program; another one in tests. */
  readonly script?: URL;
  /** Called for every worker that died, for the log. */
  readonly onWorkerLost?: (error: ParleyError) => void;
  /** Called when the complexity of the sessions that begin in a worker has changed, for the log. */
  readonly onComplexity?: (change: ComplexityChange) => void;
  /** Absent: the load is not sampled, and the complexity stays. */
  readonly time?: Time;
}

interface ComplexityChange extends WorkerSample {
  /** Number of the worker, from 0. */
  readonly worker: number;
  readonly from: number;
  readonly to: number;
}

const SAMPLE_MS = 1000;

export class EncoderPool {
  /** Settings of sessions that override none. */
  readonly settings: EncoderSettings;
  readonly #threads: readonly EncoderThread[];
  readonly #onComplexity: (change: ComplexityChange) => void;
  #cancelSample: () => void = () => undefined;
  #sessionCount = 0;
  #closed: Promise<void> | undefined;

  constructor(options: PoolOptions = {}) {
    const workers = options.workers ?? Math.max(1, availableParallelism() - 1);
    if (!Number.isInteger(workers) || workers < 1) {
      throw new ParleyError('INVALID_FIELD', `workers must be 1 or more, not ${workers}`, {
        field: 'workers',
      });
    }
    this.settings = { opus: { ...OPUS_SPEECH, ...options.opus }, trim: { ...options.trim } };
    const script = options.script ?? new URL('./encoder-worker.js', import.meta.url);
    const onLost = options.onWorkerLost ?? (() => undefined);
    const { complexity } = this.settings.opus;
    this.#threads = Array.from(
      { length: workers },
      () => new EncoderThread(script, onLost, new WorkerLoad(complexity)),
    );
    this.#onComplexity = options.onComplexity ?? (() => undefined);
    if (options.time !== undefined) this.#planSample(options.time);
  }

  /** Resolves when every worker is loaded and warm; rejects when one cannot start. */
  async ready(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.ready()));
  }

  /** True if a session can be opened: a worker runs or is being started. */
  get usable(): boolean {
    return this.#closed === undefined && this.#threads.some((thread) => thread.usable);
  }

  /** Open sessions, worker by worker. */
  get sessions(): readonly number[] {
    return this.#threads.map((thread) => thread.sessions);
  }

  /**
   * Load of the workers in the last second, 0 to 1, on average: the fraction of the time in which they worked
   * for calls, or 1 for a worker in which calls' sessions waited too long in two seconds on end. Lower
   * complexities lower it too.
   */
  get load(): number {
    return this.#threads.reduce((sum, thread) => sum + thread.load.load, 0) / this.#threads.length;
  }

  /** The lowest complexity with which sessions begin now. */
  get complexity(): number {
    return Math.min(...this.#threads.map((thread) => thread.load.complexity));
  }

  /** Sessions and handovers opened so far. */
  get opened(): number {
    return this.#sessionCount;
  }

  /** Throws ENCODER_FAILED when no worker can be started, WRONG_STATE after a close. */
  open(sink: EncoderSink, options: EncoderOptions = {}): EncoderSession {
    const thread = this.#leastLoaded();
    const { complexity } = thread.load;
    const settings = {
      opus: { ...this.settings.opus, complexity, ...options.opus },
      trim: { ...this.settings.trim, ...options.trim },
    };
    const session = ++this.#sessionCount;
    const begin = (port: WorkerPort) => new EncoderSession(session, sink, settings.opus, port);
    return thread.take({ type: 'open', session, sink, settings }, begin);
  }

  /**
   * Moves the queued payloads of a playout to its successor. The payloads of the sessions `after` follow; at
   * most one of these sessions is still encoding. `opus` overrides the pool's settings. Throws as `open`
   * does.
   */
  handOver(
    sound: Pick<HandoverMessage, 'from' | 'to' | 'entries'>,
    after: readonly { readonly number: number }[],
    opus: Partial<OpusSettings> = {},
  ): Handover {
    const numbers = after.map(({ number }) => number);
    const thread =
      this.#threads.find((one) => one.usable && numbers.some((number) => one.holds(number))) ??
      this.#leastLoaded();
    const session = ++this.#sessionCount;
    const { complexity } = thread.load;
    const settings = { ...this.settings, opus: { ...this.settings.opus, complexity, ...opus } };
    const message = { ...sound, type: 'handover', session, after: numbers, settings } as const;
    return thread.take(message, (port) => new Handover(session, port));
  }

  /** Aborts every session and ends every worker. Idempotent. */
  close(): Promise<void> {
    this.#cancelSample();
    this.#closed ??= Promise.all(this.#threads.map((thread) => thread.close())).then(() => undefined);
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #planSample(time: Time): void {
    const beganMs = time.now();
    this.#cancelSample = time.after(SAMPLE_MS, () => {
      this.#planSample(time);
      const nowMs = time.now(); // later if the event loop was blocked
      for (const [worker, thread] of this.#threads.entries()) {
        this.#sample(thread, worker, { ms: nowMs - beganMs, nowMs });
      }
    });
  }

  #sample(
    thread: EncoderThread,
    worker: number,
    { ms, nowMs }: { readonly ms: number; readonly nowMs: number },
  ): void {
    const from = thread.load.complexity;
    const sample = thread.sample(ms, nowMs);
    const to = thread.load.complexity;
    if (to !== from) this.#onComplexity({ worker, from, to, ...sample });
  }

  #leastLoaded(): EncoderThread {
    if (this.#closed !== undefined) throw new ParleyError('WRONG_STATE', 'the encoder pool is closed');
    const usable = this.#threads.filter((thread) => thread.usable);
    const [first, ...others] = usable;
    if (first === undefined) throw new ParleyError('ENCODER_FAILED', 'no encoder worker can be started');
    return others.reduce((least, thread) => (thread.sessions < least.sessions ? thread : least), first);
  }
}

const MAX_FAILED_STARTS = 3; // workers in a row that die before `ready`; another start would fail, too
const CLOSE_TIMEOUT_MS = 2000; // a worker that does not end by itself by then is ended

/**
 * One place in the pool: the worker thread, its sessions, and its successor when it dies.
 *
 *     starting ──▶ ready ──▶ (dies) ──▶ starting …        closing ──▶ gone, from any
 *        └── fails MAX_FAILED_STARTS times in a row ──▶ gone
 */
class EncoderThread {
  readonly #script: URL;
  readonly #onLost: (error: ParleyError) => void;
  readonly #sessions = new Map<number, EncoderSession | Handover>();
  readonly #batch = new MessageBatch<ToWorker>((messages) => this.#worker?.postMessage(messages));
  #worker: Worker | undefined;
  #failure: Error | undefined;
  #failedStarts = 0;
  #ready!: Promise<void>;
  #settleReady!: { resolve: () => void; reject: (error: ParleyError) => void };
  #closed: Promise<void> | undefined;
  #resolveGone: (() => void) | undefined;
  /** Written by the worker. */
  readonly #counters = new Int32Array(new SharedArrayBuffer(8));
  readonly load: WorkerLoad;

  constructor(script: URL, onLost: (error: ParleyError) => void, load: WorkerLoad) {
    this.#script = script;
    this.#onLost = onLost;
    this.load = load;
    this.#awaitReady();
    this.#start();
  }

  /** Sessions that are open here. */
  get sessions(): number {
    return this.#sessions.size;
  }

  /** False once it gave up starting. */
  get usable(): boolean {
    return this.#worker !== undefined;
  }

  /** Resolves when the worker, or the one after it, is warm; rejects when no start succeeds. */
  ready(): Promise<void> {
    return this.#ready;
  }

  /** Gives the worker a session or a handover. */
  take<Work extends EncoderSession | Handover>(
    message: Extract<ToWorker, { readonly type: 'open' | 'handover' }>,
    begin: (port: WorkerPort) => Work,
  ): Work {
    const number = message.session;
    const work = begin({
      post: (next) => {
        this.#batch.add(next);
        // The worker must know where a part ends before samples beyond the end arrive.
        if (next.type === 'cut') this.#batch.flush();
      },
      over: () => this.#sessions.delete(number),
    });
    this.#sessions.set(number, work);
    this.#batch.add(message);
    return work;
  }

  /** True if the thread works for this session. */
  holds(session: number): boolean {
    return this.#sessions.has(session);
  }

  /** Samples the load of the worker over the last `ms` milliseconds. One that is still loading is idle. */
  sample(ms: number, nowMs: number): WorkerSample {
    const workedUs = Atomics.exchange(this.#counters, COUNTERS.workedUs, 0);
    const longestWaitMs = Atomics.exchange(this.#counters, COUNTERS.longestWaitMs, 0);
    const sample = { busy: Math.min(1, workedUs / 1000 / ms), longestWaitMs };
    this.load.sample(sample, nowMs);
    return sample;
  }

  /** Aborts the sessions and waits for the thread's end; every caller gets the same promise. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  #awaitReady(): void {
    this.#ready = new Promise((resolve, reject) => (this.#settleReady = { resolve, reject }));
    this.#ready.catch(() => undefined); // it need not be awaited
  }

  #start(): void {
    let isReady = false;
    this.#failure = undefined;
    const workerData = { counters: this.#counters };
    const worker = new Worker(this.#script, { name: 'parley-encoder', workerData });
    const onMessage = (message: FromWorker): void => {
      if (message.type !== 'ready') return this.#tell(message);
      isReady = true;
      this.#failedStarts = 0;
      this.#settleReady.resolve();
    };
    worker.on('message', (messages: readonly FromWorker[]) => messages.forEach(onMessage));
    worker.on('error', (error: Error) => (this.#failure = error));
    worker.on('exit', (code) => this.#gone(isReady, code));
    this.#worker = worker;
  }

  /** A session whose callback throws is lost, and no other. */
  #tell(message: Exclude<FromWorker, { type: 'ready' }>): void {
    const session = this.#sessions.get(message.session);
    if (session === undefined) return;
    const fail = (error: ParleyError) => {
      this.#batch.add({ type: 'abort', session: message.session });
      session.lost(error);
    };
    guarded({ work: 'encoder line', line: message.session }, () => session.onMessage(message), fail)();
  }

  #gone(wasReady: boolean, code: number): void {
    const why = this.#failure?.message ?? `it exited with ${code}`;
    const error = new ParleyError('ENCODER_FAILED', `an encoder worker died: ${why}`, {
      cause: this.#failure,
    });
    this.#worker = undefined;
    this.#batch.drop();
    if (this.#closed === undefined) {
      if (wasReady) this.#awaitReady();
      else this.#failedStarts++;
      if (this.#failedStarts < MAX_FAILED_STARTS) this.#start();
    }
    if (this.#worker === undefined) this.#settleReady.reject(error);
    for (const session of this.#sessions.values())
      attempt({ work: 'encoder line' }, () => session.lost(error));
    if (this.#closed === undefined) this.#onLost(error);
    this.#resolveGone?.();
  }

  async #close(): Promise<void> {
    const sessions = [...this.#sessions.values()];
    for (const session of sessions) session.abort();
    const worker = this.#worker;
    if (worker === undefined) return;
    const gone = new Promise<void>((resolve) => (this.#resolveGone = resolve));
    this.#batch.add({ type: 'close' });
    this.#batch.flush();
    const timer = setTimeout(() => void worker.terminate(), CLOSE_TIMEOUT_MS);
    await gone;
    clearTimeout(timer);
    // One that was ended by force may not have read that they were aborted.
    for (const session of sessions) session.lost(new ParleyError('ABORTED', 'the encoder was closed'));
  }
}

/**
 * Opens the pool that the configuration describes. Throws ADDON_MISSING if the Opus encoder does not load.
 */
export function openEncoders(config: Config['encoders'], log: Log): EncoderPool {
  loadOpus(); // fails here with its reason; a worker could only report that it died
  return new EncoderPool({
    workers: config.workers,
    trim: { thresholdDb: config.silenceThresholdDb },
    opus: config.opus,
    onWorkerLost: (error) =>
      log.error({ code: error.code, detail: error.message }, 'encoder worker replaced'),
    time: systemTime,
    onComplexity: ({ to, from, ...change }) =>
      log.warn({ ...change, from, complexity: to }, 'encoder complexity changed'),
  });
}
