// The models of TURN_MODEL, as the hearing worker sees them: they run in a worker of their own. If it dies,
// another one takes its place, and likewise if it does nothing for 10 s. A turn that it followed has no
// answer any more.
import { Worker } from 'node:worker_threads';
import type { TurnModelFile } from '../config/hearing-config.js';
import { CheckedAnswers, type ModelOptions, within } from './end-of-turn.js';
import type { CallTurnModel, TurnModels } from './turn-follower.js';
import type { FromTurnWorker, LoadedModel, ToTurnWorker, TurnWorkerData } from './turn-service.js';

interface Options extends ModelOptions {
  readonly files: readonly TurnModelFile[];
  /** The worker's program; another one in tests. */
  readonly script?: URL;
}

/** What a model of this name is asked: Smart Turn takes long, and its answer changes with the silence. */
const ASKS = { 'turn-1-mini': 'each step', 'Smart Turn': [200, 500, 1000] } as const;

const SLOT = 'TURN_MODEL';
const LOAD_LIMIT_MS = 10_000;
const MAX_FAILED_STARTS = 3; // workers in a row that die soon
const SHORT_LIFE_MS = 10_000;
/** A worker that has work and tells nothing for so long hangs: another one takes its place. */
const HANGS_MS = 10_000;
const CLOSE_LIMIT_MS = 1000;
/** Sounds of 160 ms that wait for the worker. Beyond that, the rest of a turn is not followed. */
const MOST_SOUNDS = 256;
/** Questions that wait: those of more calls would be answered too late. */
const MOST_QUESTIONS = 32;
const STEP_WINDOWS = 5; // that are sent together

interface Question {
  readonly resolve: (probability: number | undefined) => void;
  readonly reject: (error: Error) => void;
}

export class WorkerTurnModels implements TurnModels {
  readonly #options: Options;
  readonly #answers: CheckedAnswers;
  readonly #questions = new Map<number, Question>();
  #questionCount = 0;
  #listenerCount = 0;
  #worker: Worker | undefined;
  /** Number of the worker: one that has died knows nothing of the turns after it. */
  #generation = 0;
  /** Sounds that the worker has not taken. */
  #waiting = 0;
  #loaded: readonly LoadedModel[] = [];
  #failedStarts = 0;
  #readyMs = 0;
  #settleReady: () => void = () => undefined;
  /** Undefined if the worker has no work. */
  #cancelWatch: (() => void) | undefined;
  /** Workers that were ended because they hang, and that still run: the runtime cannot be interrupted. */
  #hanging = 0;
  #isClosed = false;

  private constructor(options: Options) {
    this.#options = options;
    this.#answers = new CheckedAnswers(SLOT, options);
  }

  /** Resolves when the models are loaded, or when it is reported why not. Never rejects. */
  static async start(options: Options): Promise<WorkerTurnModels> {
    const models = new WorkerTurnModels(options);
    const ready = new Promise<void>((resolve) => (models.#settleReady = resolve));
    models.#start();
    await within(LOAD_LIMIT_MS, options.time, ready).catch((error: unknown) => models.#answers.failed(error));
    return models;
  }

  get names(): readonly string[] {
    return this.#loaded.flatMap(({ name }) => name ?? []);
  }

  open(language: string | undefined): CallTurnModel | undefined {
    const index = this.#modelFor(language);
    const name = index === undefined ? undefined : this.#loaded[index]?.name;
    if (index === undefined || name === undefined) return undefined;
    const listener = new WorkerListener(++this.#listenerCount, index, (message) => this.#send(message));
    return {
      name,
      asks: ASKS[name],
      push: (sound) => listener.push(sound, this.#generation),
      ask: () => this.#ask(listener),
      reset: () => listener.reset(),
      close: () => listener.reset(),
    };
  }

  /** Resolves after a second at the latest, also if the worker hangs. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#endWatch();
    const worker = this.#worker;
    if (worker === undefined) return;
    const gone = new Promise((resolve) => worker.once('exit', resolve));
    worker.postMessage({ type: 'close' } satisfies ToTurnWorker);
    await within(CLOSE_LIMIT_MS, this.#options.time, gone).catch(() => void worker.terminate());
  }

  /** The first model of a language. If the language is not known: the one that knows most languages. */
  #modelFor(language: string | undefined): number | undefined {
    const primary = language?.split(/[-_]/, 1)[0]?.toLowerCase();
    const usable = [...this.#options.files.entries()].filter(([index]) => this.#loaded[index]?.name);
    const knows = ({ languages }: TurnModelFile) =>
      primary === undefined || languages?.includes(primary) !== false;
    const able = usable.filter(([, file]) => knows(file));
    if (primary !== undefined) return able[0]?.[0];
    const countOf = ({ languages }: TurnModelFile) => languages?.length ?? Infinity;
    return able.toSorted(([, one], [, other]) => countOf(other) - countOf(one))[0]?.[0];
  }

  #ask(listener: WorkerListener): Promise<number | undefined> {
    return this.#answers.answer(() => {
      if (this.#worker === undefined || !listener.isKnown(this.#generation)) return undefined;
      if (this.#questions.size >= MOST_QUESTIONS) throw new Error('too many calls pause at once');
      const question = ++this.#questionCount;
      listener.flush();
      const answer = new Promise<number | undefined>((resolve, reject) => {
        this.#questions.set(question, { resolve, reject });
      });
      this.#worker.postMessage({ type: 'ask', listener: listener.number, question } satisfies ToTurnWorker);
      this.#watch();
      return answer;
    }, true);
  }

  /** False if too much waits for the worker, or there is none. */
  #send(message: ToTurnWorker): boolean {
    if (this.#worker === undefined) return false;
    if (message.type === 'push' && this.#waiting >= MOST_SOUNDS) {
      this.#answers.failed(new Error('the models are too slow for the calls'));
      return false;
    }
    this.#worker.postMessage(message);
    if (message.type === 'push') {
      this.#waiting++;
      this.#watch();
    }
    return true;
  }

  #start(): void {
    const { script, files, time } = this.#options;
    const workerData: TurnWorkerData = { files: files.map(({ file }) => file) };
    const worker = new Worker(script ?? new URL('./turn-worker.js', import.meta.url), {
      name: 'parley-turns',
      workerData,
    });
    let failure = '';
    this.#generation++;
    this.#waiting = 0;
    this.#readyMs = time.now();
    // A worker that hangs is forgotten before it ends.
    const ofPresent = (action: () => void) => (this.#worker === worker ? action() : undefined);
    worker.on('message', (message: FromTurnWorker) => ofPresent(() => this.#receive(message)));
    worker.on('error', (error: Error) => (failure = error.message));
    worker.on('exit', (code) =>
      ofPresent(() => this.#gone(failure === '' ? `its worker exited with ${code}` : failure)),
    );
    this.#worker = worker;
  }

  /** Begins to wait for a sign of the worker, unless that is awaited. */
  #watch(): void {
    this.#cancelWatch ??= this.#options.time.after(HANGS_MS, () => this.#hangs());
  }

  #endWatch(): void {
    this.#cancelWatch?.();
    this.#cancelWatch = undefined;
  }

  #hangs(): void {
    this.#cancelWatch = undefined;
    const worker = this.#worker;
    if (worker === undefined) return;
    this.#hanging++;
    const ended = () => this.#hanging--;
    void worker.terminate().then(ended, ended);
    this.#gone(`its worker did nothing for ${HANGS_MS} ms`, HANGS_MS);
  }

  #receive(message: FromTurnWorker): void {
    if (message.type === 'taken') this.#waiting--;
    else if (message.type === 'ready') this.#ready(message.models);
    else this.#answered(message);
    this.#endWatch();
    if (this.#waiting > 0 || this.#questions.size > 0) this.#watch();
  }

  #ready(models: readonly LoadedModel[]): void {
    this.#loaded = models;
    this.#readyMs = this.#options.time.now();
    const problems = models.flatMap(({ problem }) => problem ?? []);
    if (problems.length > 0) this.#options.onProblem(`${SLOT}: ${problems.join('; ')}`);
    this.#settleReady();
  }

  #answered({ question, probability, problem }: Extract<FromTurnWorker, { readonly type: 'answer' }>): void {
    const asked = this.#questions.get(question);
    this.#questions.delete(question);
    if (problem === undefined) asked?.resolve(probability);
    else asked?.reject(new Error(problem));
  }

  /** `idleMs`: how long the worker has done nothing. */
  #gone(reason: string, idleMs = 0): void {
    this.#worker = undefined;
    this.#endWatch();
    for (const { reject } of this.#questions.values()) reject(new Error(reason));
    this.#questions.clear();
    if (this.#isClosed) return;
    this.#answers.failed(new Error(reason));
    const livedMs = this.#options.time.now() - this.#readyMs - idleMs;
    this.#failedStarts = livedMs < SHORT_LIFE_MS ? this.#failedStarts + 1 : 0;
    if (this.#failedStarts < MAX_FAILED_STARTS && this.#hanging < MAX_FAILED_STARTS) this.#start();
    else this.#giveUp(reason);
  }

  /** No model is used until the server is started again, and the operator is told so in any case. */
  #giveUp(reason: string): void {
    this.#loaded = [];
    this.#options.onProblem(`${SLOT} is not used any more: ${reason}`);
    this.#settleReady();
  }
}

/** One call's listener in the worker. It sends five windows together. */
class WorkerListener {
  readonly number: number;
  readonly #model: number;
  readonly #send: (message: ToTurnWorker) => boolean;
  #windows: Float32Array[] = [];
  /** The worker that follows the turn; undefined between turns, 0 if it misses a part of it. */
  #generation: number | undefined;

  constructor(number: number, model: number, send: (message: ToTurnWorker) => boolean) {
    this.number = number;
    this.#model = model;
    this.#send = send;
  }

  isKnown(generation: number): boolean {
    return this.#generation === generation;
  }

  push(window: Float32Array, generation: number): void {
    this.#generation ??= generation;
    if (this.#generation !== generation) return;
    this.#windows.push(window.slice());
    if (this.#windows.length === STEP_WINDOWS) this.flush();
  }

  flush(): void {
    if (this.#windows.length === 0) return;
    const length = this.#windows.reduce((sum, window) => sum + window.length, 0);
    const sound = new Float32Array(length);
    let at = 0;
    for (const window of this.#windows) {
      sound.set(window, at);
      at += window.length;
    }
    this.#windows = [];
    if (!this.#send({ type: 'push', listener: this.number, model: this.#model, sound })) this.#generation = 0;
  }

  reset(): void {
    this.#windows = [];
    if (this.#generation !== undefined) this.#send({ type: 'reset', listener: this.number });
    this.#generation = undefined;
  }
}
