// Serves the end-of-turn models of TURN_MODEL from a worker thread of their own. Smart Turn takes up to 65 ms
// for an answer. In the hearing worker it would hold up the interruptions of all other calls, and their
// sound, of which only 256 ms wait.
//
// The worker does one piece of work after another. The hearing worker bounds how many wait.
import { parentPort, workerData } from 'node:worker_threads';
import { checkPulled } from '../config/onnx-cache.js';
import { ParleyError } from '../errors.js';
import { openGraph } from '../onnx/graph.js';
import { SmartTurn } from './smart-turn.js';
import { Turn1Mini } from './turn-1-mini.js';
import type { TurnListener, TurnModel } from './turn-model.js';

/** `listener`: number that the hearing worker has given a call's listener. */
export type ToTurnWorker =
  /** The listener begins with its first sound. */
  | {
      readonly type: 'push';
      readonly listener: number;
      readonly model: number;
      readonly sound: Float32Array;
    }
  | { readonly type: 'ask'; readonly listener: number; readonly question: number }
  | { readonly type: 'reset'; readonly listener: number }
  | { readonly type: 'close' };

export type FromTurnWorker =
  /** For each file, the name of its model, or the problem. */
  | { readonly type: 'ready'; readonly models: readonly LoadedModel[] }
  /** A sound was taken. */
  | { readonly type: 'taken' }
  | {
      readonly type: 'answer';
      readonly question: number;
      readonly probability?: number | undefined;
      readonly problem?: string;
    };

export interface LoadedModel {
  readonly name?: TurnModel['name'];
  readonly problem?: string;
}

export interface TurnWorkerData {
  readonly files: readonly string[];
}

/** A listener of one turn. */
interface Followed {
  readonly listener: TurnListener;
  /** The reason why the model could not take its sound. */
  problem?: string;
}

/** Opens an ONNX file. Its inputs tell which model it is. Throws CONFIG_INVALID if it is none, or damaged. */
export async function openTurnModel(file: string): Promise<TurnModel> {
  const graph = await openGraph({ file, kind: 'end-of-turn model' }, { inputs: {}, outputs: {} });
  const inputs = graph.otherInputs;
  await graph.close();
  if (inputs.includes('input_features')) return SmartTurn.load(file);
  if (inputs.includes('state_k')) return Turn1Mini.load(file);
  const message = `${file} is neither turn-1-mini nor Smart Turn v3: its inputs are ${inputs.join(', ')}`;
  throw new ParleyError('CONFIG_INVALID', message);
}

/** Loads the models and answers until the hearing worker closes it. Called once, in a worker thread. */
export async function serveTurns(): Promise<void> {
  if (parentPort === null) throw new Error('the service of turns runs in a worker thread');
  const port = parentPort;
  const post = (message: FromTurnWorker): void => port.postMessage(message);
  const models: (TurnModel | undefined)[] = [];
  const loaded: LoadedModel[] = [];
  for (const file of (workerData as TurnWorkerData).files) {
    const result = await load(file);
    models.push(result.model);
    loaded.push(result.model === undefined ? { problem: result.problem } : { name: result.model.name });
  }
  const turns = new Turns(models, post);
  let working = Promise.resolve();
  port.on('message', (message: ToTurnWorker) => {
    if (message.type === 'close') port.close();
    else working = working.then(() => turns.handle(message));
  });
  post({ type: 'ready', models: loaded });
}

async function load(
  file: string,
): Promise<{ model: TurnModel; problem?: never } | { model?: never; problem: string }> {
  try {
    await checkPulled([file]);
    return { model: await openTurnModel(file) };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

/** The turns of all callers that are followed. */
class Turns {
  readonly #models: readonly (TurnModel | undefined)[];
  readonly #post: (message: FromTurnWorker) => void;
  readonly #followed = new Map<number, Followed>();

  constructor(models: readonly (TurnModel | undefined)[], post: (message: FromTurnWorker) => void) {
    this.#models = models;
    this.#post = post;
  }

  /** Never rejects. */
  async handle(message: Exclude<ToTurnWorker, { readonly type: 'close' }>): Promise<void> {
    if (message.type === 'reset') return void this.#followed.delete(message.listener);
    if (message.type === 'ask') return this.#answer(message.listener, message.question);
    await this.#push(message.listener, message.model, message.sound);
    this.#post({ type: 'taken' });
  }

  async #push(number: number, model: number, sound: Float32Array): Promise<void> {
    let followed = this.#followed.get(number);
    const opened = this.#models[model];
    if (followed === undefined && opened !== undefined) {
      followed = { listener: opened.open() };
      this.#followed.set(number, followed);
    }
    if (followed === undefined || followed.problem !== undefined) return;
    try {
      await followed.listener.push(sound);
    } catch (error) {
      followed.problem = messageOf(error);
    }
  }

  async #answer(number: number, question: number): Promise<void> {
    const followed = this.#followed.get(number);
    try {
      if (followed?.problem !== undefined) throw new Error(followed.problem);
      const probability = await followed?.listener.probability();
      this.#post({ type: 'answer', question, probability });
    } catch (error) {
      this.#post({ type: 'answer', question, problem: messageOf(error) });
    }
  }
}

function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n', 1)[0] ?? '';
}
