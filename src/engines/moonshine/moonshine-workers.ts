// The workers of a recogniser. One that ends costs its own sessions only: it is started again while the
// others serve on.
import { asParleyError, ParleyError } from '../../errors.js';
import type { Time } from '../../time.js';
import type { EngineNews, Loadable } from '../engine-lifecycle.js';
import type { MoonshineWorkerData } from './moonshine-messages.js';
import { MoonshineThread } from './moonshine-thread.js';
import type { FileHashes } from './onnx-graphs.js';

const SHARE = 0.7; // of a worker that partial texts may take
const TALK = 0.4; // share of a call in which the caller speaks
const LEAST_INTERVAL_MS = 480; // under load partial texts become rarer than that
const MIN_RETRY_MS = 3000;
const MAX_RETRY_MS = 60_000;

export interface WorkersOptions {
  readonly data: MoonshineWorkerData;
  readonly count: number;
  readonly time: Time;
  readonly stallMs: number;
  readonly onNews: (news: EngineNews) => void;
  /** Called when no worker is left. */
  readonly onAllLost: (reason: string) => void;
  /** Module of the threads, replaced in tests. */
  readonly file?: URL | undefined;
}

export class MoonshineWorkers implements Loadable {
  readonly #options: WorkersOptions;
  readonly #threads: (MoonshineThread | undefined)[];
  /** Timers of workers that could not be started again. */
  readonly #retries = new Map<number, () => void>();
  /** The files of the first load. */
  #hashes: FileHashes | undefined;
  #passMs = 0;

  constructor(options: WorkersOptions) {
    this.#options = options;
    this.#threads = Array.from({ length: options.count }, () => undefined);
  }

  get facts(): Readonly<Record<string, string>> {
    const model = this.#options.data.models.map(({ directory }) => directory).join(', ');
    return { device: 'cpu', model, workers: String(this.#threads.length), passMs: this.#passMs.toFixed(1) };
  }

  /** Live sessions that the workers serve in time; undefined while that is not known. */
  get mostLive(): number | undefined {
    const serving = this.#serving.length;
    if (serving === 0 || this.#passMs === 0) return undefined;
    const interval = Math.max(this.#options.data.partialIntervalMs, LEAST_INTERVAL_MS);
    return serving * Math.max(1, Math.floor((SHARE * interval) / (TALK * this.#passMs)));
  }

  get live(): number {
    return this.#serving.reduce((sum, thread) => sum + thread.live, 0);
  }

  /** The worker with the fewest live sessions, or for a file the one with the least work. */
  take(use: 'live' | 'file'): MoonshineThread {
    const load = (thread: MoonshineThread) => (use === 'live' ? thread.live : thread.load);
    const [first] = this.#serving.toSorted((a, b) => load(a) - load(b));
    if (first !== undefined) return first;
    throw new ParleyError('ENGINE_UNAVAILABLE', 'no worker of the recogniser moonshine is left');
  }

  async load(): Promise<void> {
    await Promise.all(this.#threads.map((_, place) => this.#start(place)));
  }

  async unload(): Promise<void> {
    for (const cancel of this.#retries.values()) cancel();
    this.#retries.clear();
    const threads = this.#threads.splice(0, this.#threads.length, ...this.#threads.map(() => undefined));
    await Promise.all(threads.flatMap((thread) => (thread === undefined ? [] : [thread.close()])));
  }

  close(): Promise<void> {
    return this.unload();
  }

  get #serving(): MoonshineThread[] {
    return this.#threads
      .filter((thread) => thread?.isServing === true)
      .filter((thread) => thread !== undefined);
  }

  async #start(place: number): Promise<void> {
    const before = this.#threads[place];
    if (before !== undefined && !before.isOver) return;
    const { data, time, stallMs, file } = this.#options;
    const onLost = (reason: string) => this.#lost(place, reason);
    const thread = new MoonshineThread({ data, time, stallMs, file, onLost });
    this.#threads[place] = thread;
    const { passMs, hashes } = await thread.loaded;
    try {
      this.#checkFiles(hashes);
    } catch (error) {
      await thread.close();
      throw error;
    }
    this.#passMs = this.#passMs === 0 ? passMs : Math.min(this.#passMs, passMs);
  }

  /** Two workers, or two loads, with different models would answer differently. */
  #checkFiles(hashes: FileHashes): void {
    this.#hashes ??= hashes;
    for (const [file, hash] of Object.entries(this.#hashes)) {
      if (hashes[file] === hash) continue;
      const message = `${file} has changed since the server started; restart the server to use it`;
      throw new ParleyError('ENGINE_UNAVAILABLE', message);
    }
  }

  #lost(place: number, reason: string): void {
    if (this.#serving.length === 0) return this.#options.onAllLost(reason);
    this.#options.onNews({ what: 'lost', reason });
    return this.#restart(place, 0);
  }

  #restart(place: number, failures: number): void {
    const { time, onNews } = this.#options;
    void this.#start(place).then(
      () => this.#threads[place] && onNews({ ...this.facts, what: 'loaded', ms: 0 }),
      (error: unknown) => {
        if (this.#threads[place] === undefined) return; // unloaded meanwhile
        const againInMs = Math.min(MIN_RETRY_MS * 2 ** failures, MAX_RETRY_MS);
        onNews({ what: 'load failed', reason: asParleyError(error, 'ENGINE_FAILED').message, againInMs });
        this.#retries.set(
          place,
          time.after(againInMs, () => {
            this.#retries.delete(place);
            this.#restart(place, failures + 1);
          }),
        );
      },
    );
  }
}
