// The slot of an end-of-turn model: loads the operator's module, checks its answers, and keeps the sound that
// it is asked about.
//
// A model that fails or is late decides nothing: then the silence of the settings ends the turn.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ParleyError } from '../errors.js';
import { WINDOW_SAMPLES } from '../media/ears.js';
import type { Time } from '../time.js';
import { SAMPLE_RATE } from './ear-source.js';

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

const MOST_SECONDS = 30;
const LOAD_LIMIT_MS = 10_000;
/** An answer that comes later is ignored. The longest default silence of a turn. */
const ANSWER_LIMIT_MS = 2000;

interface ModelOptions {
  readonly time: Time;
  /** Called with the reason when a question gets no answer, and with undefined at the next answer. */
  readonly onProblem: (problem: string | undefined) => void;
}

/** Imports a module whose default export is the model. Throws CONFIG_INVALID with the reason. */
export async function loadEndOfTurnModel(
  file: string,
  options: ModelOptions,
): Promise<CheckedEndOfTurnModel> {
  const path = resolve(file);
  const importing = import(pathToFileURL(path).href) as Promise<{ readonly default?: unknown }>;
  const { default: model } = await within(LOAD_LIMIT_MS, options.time, importing).catch((error: unknown) => {
    throw new ParleyError(
      'CONFIG_INVALID',
      `END_OF_TURN_MODULE ${path} cannot be loaded: ${reasonOf(error)}`,
      {
        cause: error,
      },
    );
  });
  const problem = problemOf(model);
  if (problem !== undefined) {
    throw new ParleyError('CONFIG_INVALID', `END_OF_TURN_MODULE ${path}: its default export ${problem}`);
  }
  return new CheckedEndOfTurnModel(model as EndOfTurnModel, options);
}

/** The reason why a default export is no model. */
function problemOf(model: unknown): string | undefined {
  if (typeof model !== 'object' || model === null) return 'must be an object with seconds and ask';
  const { seconds, ask } = model as Partial<Record<keyof EndOfTurnModel, unknown>>;
  if (typeof seconds !== 'number' || !(seconds > 0 && seconds <= MOST_SECONDS)) {
    return `must have seconds: a number above 0, at most ${MOST_SECONDS}, not ${String(seconds)}`;
  }
  return typeof ask === 'function' ? undefined : `must have a function ask, not ${String(ask)}`;
}

/** A model whose questions end within a bound of time, and whose failures are reported. */
export class CheckedEndOfTurnModel {
  readonly seconds: number;
  readonly #model: EndOfTurnModel;
  readonly #options: ModelOptions;
  #hasProblem = false;

  constructor(model: EndOfTurnModel, options: ModelOptions) {
    this.seconds = model.seconds;
    this.#model = model;
    this.#options = options;
  }

  /** The probability that the turn is over; undefined if the model gave no answer. Never rejects. */
  async ask(sound: Float32Array): Promise<number | undefined> {
    try {
      const answering = Promise.resolve(this.#model.ask(sound));
      const finished = await within(ANSWER_LIMIT_MS, this.#options.time, answering);
      if (!(typeof finished === 'number' && finished >= 0 && finished <= 1)) {
        throw new Error(`it answered ${String(finished)}, not a number from 0 to 1`);
      }
      if (this.#hasProblem) this.#options.onProblem(undefined);
      this.#hasProblem = false;
      return finished;
    } catch (error) {
      if (!this.#hasProblem) this.#options.onProblem(`END_OF_TURN_MODULE gave no answer: ${reasonOf(error)}`);
      this.#hasProblem = true;
      return undefined;
    }
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

async function within<T>(ms: number, time: Time, promise: Promise<T>): Promise<T> {
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

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n', 1)[0] ?? '';
}
