// The slot of an end-of-turn model: loads the operator's module, checks its answers, and keeps the sound that
// it is asked about. A module has one of two forms: `ask` judges the last seconds of sound at a pause, `open`
// gives listeners that follow each turn.
//
// A model that fails or is late decides nothing: then the silence of the settings ends the turn.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ParleyError } from '../errors.js';
import { WINDOW_SAMPLES } from '../media/ears.js';
import type { Time } from '../time.js';
import { SAMPLE_RATE } from './ear-source.js';
import type { CallTurnModel, TurnModels } from './turn-follower.js';
import type { TurnListener } from './turn-model.js';

/** Estimates from the last sound whether the caller has finished. */
interface EndOfTurnModel {
  /** Length of the sound that `ask` gets, which ends with the present pause: more than 0, at most 30. */
  readonly seconds: number;
  /**
   * Called at a pause of the caller, with 16 kHz mono samples from -1 to 1. Resolves with the probability
   * that the turn is over, 0 to 1.
   */
  ask(sound: Float32Array): number | Promise<number>;
}

/** Follows the turns of callers. */
interface FollowingModule {
  /** `language`: the BCP 47 tag of the caller's words; undefined if it is not known yet. */
  open(language: string | undefined): TurnListener;
}

const SLOT = 'END_OF_TURN_MODULE';
const MOST_SECONDS = 30;
const LOAD_LIMIT_MS = 10_000;
/** An answer that comes later is ignored. The longest default silence of a turn. */
const ANSWER_LIMIT_MS = 2000;
/** Calls of one listener that may wait: 2 s of sound. Beyond them, the rest of the turn is not followed. */
const MOST_CALLS = 64;
/** A model that fails and answers in turn, as one under load does, must not fill the log. */
const REPORT_INTERVAL_MS = 60_000;

export interface ModelOptions {
  readonly time: Time;
  /** Called with the reason when a question gets no answer, and with undefined at the next answer. */
  readonly onProblem: (problem: string | undefined) => void;
}

/** Imports a module whose default export is the model. Throws CONFIG_INVALID with the reason. */
export async function loadEndOfTurnModel(
  file: string,
  options: ModelOptions,
): Promise<CheckedEndOfTurnModel | TurnModels> {
  const path = resolve(file);
  const importing = import(pathToFileURL(path).href) as Promise<{ readonly default?: unknown }>;
  const { default: model } = await within(LOAD_LIMIT_MS, options.time, importing).catch((cause: unknown) => {
    throw new ParleyError('CONFIG_INVALID', `${SLOT} ${path} cannot be loaded: ${reasonOf(cause)}`, {
      cause,
    });
  });
  const problem = problemOf(model);
  if (problem !== undefined) {
    throw new ParleyError('CONFIG_INVALID', `${SLOT} ${path}: its default export ${problem}`);
  }
  if (isFollowing(model)) return new FollowingModules(model, options);
  return new CheckedEndOfTurnModel(model as EndOfTurnModel, options);
}

function isFollowing(model: unknown): model is FollowingModule {
  return typeof (model as Partial<Record<keyof FollowingModule, unknown>>).open === 'function';
}

/** The reason why a default export is no model. */
function problemOf(model: unknown): string | undefined {
  if (typeof model !== 'object' || model === null) return 'must be an object with open, or seconds and ask';
  if (isFollowing(model)) return undefined;
  const { seconds, ask } = model as Partial<Record<keyof EndOfTurnModel, unknown>>;
  if (typeof seconds !== 'number' || !(seconds > 0 && seconds <= MOST_SECONDS)) {
    return `must have seconds: a number above 0, at most ${MOST_SECONDS}, not ${String(seconds)}`;
  }
  return typeof ask === 'function' ? undefined : `must have a function ask, not ${String(ask)}`;
}

/** Answers of a model, each within a bound of time. A failure is reported once, and at most once a minute. */
export class CheckedAnswers {
  readonly #slot: string;
  readonly #options: ModelOptions;
  #isReported = false;
  #quietUntilMs = -Infinity;

  /** `slot`: the variable that names the model, for reports. */
  constructor(slot: string, options: ModelOptions) {
    this.#slot = slot;
    this.#options = options;
  }

  /**
   * The probability that the model answers; undefined if it gave no answer. Never rejects. `mayBeUnknown`:
   * the model may answer undefined, because it cannot tell yet.
   */
  async answer(ask: () => unknown, mayBeUnknown = false): Promise<number | undefined> {
    try {
      const answering = Promise.resolve(ask());
      const probability = await within(ANSWER_LIMIT_MS, this.#options.time, answering);
      if (probability === undefined && mayBeUnknown) return undefined;
      if (!(typeof probability === 'number' && probability >= 0 && probability <= 1)) {
        throw new Error(`it answered ${String(probability)}, not a number from 0 to 1`);
      }
      if (this.#isReported) this.#options.onProblem(undefined);
      this.#isReported = false;
      return probability;
    } catch (error) {
      this.failed(error);
      return undefined;
    }
  }

  failed(error: unknown): void {
    const nowMs = this.#options.time.now();
    if (this.#isReported || nowMs < this.#quietUntilMs) return;
    this.#isReported = true;
    this.#quietUntilMs = nowMs + REPORT_INTERVAL_MS;
    this.#options.onProblem(`${this.#slot} gave no answer: ${reasonOf(error)}`);
  }
}

/** A model whose questions end within a bound of time, and whose failures are reported. */
export class CheckedEndOfTurnModel {
  readonly names = [SLOT];
  readonly seconds: number;
  readonly #model: EndOfTurnModel;
  readonly #answers: CheckedAnswers;

  constructor(model: EndOfTurnModel, options: ModelOptions) {
    this.seconds = model.seconds;
    this.#model = model;
    this.#answers = new CheckedAnswers(SLOT, options);
  }

  /** The probability that the turn is over; undefined if the model gave no answer. Never rejects. */
  ask(sound: Float32Array): Promise<number | undefined> {
    return this.#answers.answer(() => this.#model.ask(sound));
  }

  close(): Promise<void> {
    return Promise.resolve(); // nothing of the operator's module is ours to end
  }
}

/** The operator's module, which follows the turns of all calls in whatever language. */
class FollowingModules implements TurnModels {
  readonly names = [SLOT];
  readonly #module: FollowingModule;
  readonly #answers: CheckedAnswers;

  constructor(module: FollowingModule, options: ModelOptions) {
    this.#module = module;
    this.#answers = new CheckedAnswers(SLOT, options);
  }

  open(language: string | undefined): CallTurnModel | undefined {
    const answers = this.#answers;
    try {
      return new OrderedListener(this.#module.open(language), answers);
    } catch (error) {
      answers.failed(error);
      return undefined;
    }
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** Calls a listener of the operator's module one call after another, and reports what it throws. */
class OrderedListener implements CallTurnModel {
  readonly name = SLOT;
  readonly asks = 'each step';
  readonly #listener: TurnListener;
  readonly #answers: CheckedAnswers;
  #last: Promise<unknown> = Promise.resolve();
  /** Calls that are not done, without resets. */
  #waiting = 0;
  /** Number of the turn: what waits for one that is over is dropped. */
  #turn = 0;
  /** The listener has missed a part of the turn. */
  #isGivenUp = false;
  #isResetting = false;

  constructor(listener: TurnListener, answers: CheckedAnswers) {
    this.#listener = listener;
    this.#answers = answers;
  }

  push(sound: Float32Array): void {
    if (this.#isGivenUp) return;
    const copy = sound.slice(); // the caller uses its buffer again
    this.#inOrder(() => this.#listener.push(copy)).catch((error: unknown) => this.#answers.failed(error));
  }

  ask(): Promise<number | undefined> {
    if (this.#isGivenUp) return Promise.resolve(undefined);
    return this.#answers.answer(() => this.#inOrder(() => this.#listener.probability()), true);
  }

  reset(): void {
    this.#turn++;
    this.#isGivenUp = false;
    if (this.#isResetting) return; // no call of the turn that is over has come after that reset
    this.#isResetting = true;
    this.#last = this.#last.then(() => {
      this.#isResetting = false;
      try {
        this.#listener.reset();
      } catch (error) {
        this.#answers.failed(error);
      }
    });
  }

  close(): void {
    this.#turn++; // what waits is dropped
    this.#isGivenUp = true;
  }

  /** Undefined if the turn is over before the call's time comes. */
  #inOrder<T>(call: () => T | Promise<T>): Promise<T | undefined> {
    if (this.#waiting >= MOST_CALLS) {
      this.#isGivenUp = true;
      return Promise.reject(new Error('it is too slow for the turn'));
    }
    const turn = this.#turn;
    this.#waiting++;
    const result = this.#last.then(() => (turn === this.#turn ? call() : undefined));
    this.#last = result.then(
      () => this.#waiting--,
      () => this.#waiting--,
    );
    return result;
  }
}

/** The last seconds of one caller. */
export class RecentSound {
  readonly #ring: Float32Array;
  readonly #length: number;
  #next = 0;

  constructor(seconds: number) {
    this.#length = Math.ceil(seconds * SAMPLE_RATE);
    this.#ring = new Float32Array(Math.ceil(this.#length / WINDOW_SAMPLES) * WINDOW_SAMPLES);
  }

  add(window: Float32Array): void {
    this.#ring.set(window, this.#next);
    this.#next = (this.#next + WINDOW_SAMPLES) % this.#ring.length;
  }

  /** A copy, in order of time. What was before the first window is silence. */
  get(): Float32Array {
    const sound = new Float32Array(this.#ring.length);
    sound.set(this.#ring.subarray(this.#next));
    sound.set(this.#ring.subarray(0, this.#next), this.#ring.length - this.#next);
    return sound.subarray(sound.length - this.#length);
  }
}

export async function within<T>(ms: number, time: Time, promise: Promise<T>): Promise<T> {
  let cancel = (): void => undefined;
  const late = new Promise<never>((_, reject) => {
    cancel = time.after(ms, () => reject(new Error(`nothing came within ${ms} ms`)));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    cancel();
  }
}

export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n', 1)[0] ?? '';
}
