// The main thread's side of the recording worker. The worker starts with the first recording. If it dies, its
// recordings fail, and the next recording starts another.
import { Worker } from 'node:worker_threads';
import { attempt, guarded } from '../errors.js';
import { stated } from '../stated.js';
import type { Time } from '../time.js';
import type {
  FromRecorder,
  KeptSound,
  RecordingOrder,
  RecordingResult,
  RecordingSize,
  StopReason,
  ToRecorder,
} from './recording-messages.js';

export interface RecordingListener {
  /** The file is there. */
  opened(): void;
  grown(size: RecordingSize): void;
  /** The ring has ended, because the worker did not read it in time. Sound is lost until another follows. */
  starved(): void;
  /** The worker wrote this much silence in the place of lost sound. */
  filled(ms: number): void;
  /** Called once, and last. */
  ended(result: RecordingResult): void;
}

interface ThreadOptions {
  readonly time: Time;
  /** The worker's program; another one in tests. */
  readonly script?: URL;
  /** The worker died, for the log. */
  readonly onLost: (detail: string) => void;
}

const RECORDING = { work: 'recording' };
const CLOSE_MS = 5000; // a worker whose disk hangs longer is terminated

export class RecordingThread {
  readonly #options: ThreadOptions;
  readonly #listeners = new Map<number, RecordingListener>();
  #worker: Worker | undefined;
  #gone: Promise<void> = Promise.resolve();
  #count = 0;
  #closed: Promise<void> | undefined;

  constructor(options: ThreadOptions) {
    this.#options = options;
  }

  /** Recordings in progress. */
  get size(): number {
    return this.#listeners.size;
  }

  /** Returns the id of the recording. */
  open(order: RecordingOrder, listener: RecordingListener): number {
    const id = ++this.#count;
    this.#listeners.set(id, listener);
    this.#worker ??= this.#start();
    this.#post({ type: 'open', id, ...order });
    return id;
  }

  mute(id: number, muted: boolean, atMs: number): void {
    this.#post({ type: 'mute', id, muted, atMs });
  }

  follow(id: number, ring: number): void {
    this.#post({ type: 'follow', id, ring });
  }

  stop(id: number, end: StopReason, kept?: KeptSound): void {
    this.#post({ type: 'stop', id, end, ...stated({ kept }) });
  }

  /** Ends every recording and the worker. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  #post(message: ToRecorder): void {
    this.#worker?.postMessage(message);
  }

  #start(): Worker {
    const script = this.#options.script ?? new URL('./recording-worker.js', import.meta.url);
    const worker = new Worker(script, { name: 'parley-recorder' });
    let failure: string | undefined;
    worker.on('message', (message: FromRecorder) => this.#take(message));
    worker.on('error', (error: Error) => (failure = error.message));
    this.#gone = new Promise((resolve) => {
      worker.on('exit', (code) => {
        this.#worker = undefined;
        this.#lose(failure ?? `it exited with ${code}`);
        resolve();
      });
    });
    return worker;
  }

  #take(message: FromRecorder): void {
    switch (message.type) {
      case 'opened':
        return this.#tell(message.id, (listener) => listener.opened());
      case 'grown':
        for (const size of message.sizes) this.#tell(size.id, (listener) => listener.grown(size));
        return undefined;
      case 'starved':
        return this.#tell(message.id, (listener) => listener.starved());
      case 'filled':
        return this.#tell(message.id, (listener) => listener.filled(message.ms));
      case 'ended': {
        const listener = this.#listeners.get(message.id);
        this.#listeners.delete(message.id);
        return attempt(RECORDING, () => listener?.ended(message.result));
      }
    }
  }

  /** A recording whose listener throws fails, and no other. */
  #tell(id: number, action: (listener: RecordingListener) => void): void {
    const listener = this.#listeners.get(id);
    if (listener === undefined) return;
    const fail = () => {
      this.#listeners.delete(id);
      this.stop(id, 'call-ended');
      listener.ended(failed('the server failed while it recorded'));
    };
    guarded(RECORDING, () => action(listener), fail)();
  }

  #lose(detail: string): void {
    const lost = [...this.#listeners.values()];
    this.#listeners.clear();
    if (this.#closed === undefined || lost.length > 0) this.#options.onLost(detail);
    const result = failed('the recording worker died');
    for (const listener of lost) attempt(RECORDING, () => listener.ended(result));
  }

  async #close(): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return;
    this.#post({ type: 'close' });
    const cancel = this.#options.time.after(CLOSE_MS, () => void worker.terminate());
    await this.#gone;
    cancel();
  }
}

function failed(message: string): RecordingResult {
  return { end: 'failed', frames: 0, bytes: 0, error: { code: 'RECORDING_FAILED', message } };
}
