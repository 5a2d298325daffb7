// Runs turn-1-mini (p99lab) with the ONNX runtime: one step for each 160 ms of a turn.
//
//   sound:   |— 2,560 samples —|— 2,560 —|— rest …
//   state:   zeros ──▶ step ──▶ state ──▶ step ──▶ state      each step tells a probability for every 20 ms
//
// Between two steps the rest of the sound is filled with zeros and runs on the same state. Its result is not
// kept. One bad sample would poison the state for the rest of the turn. Therefore the sound is cleaned. A
// result that is no number begins the state anew.
import { ParleyError } from '../errors.js';
import { ANY_FLOATS, floats, floatTensor, type FloatTensor, type Graph, openGraph } from '../onnx/graph.js';
import { cleaned, type TurnListener, type TurnModel } from './turn-model.js';

export const STEP_SAMPLES = 2560;
const FRAME_SAMPLES = 320; // of one probability
const FRAMES = STEP_SAMPLES / FRAME_SAMPLES;
const KIND = 'turn-1-mini model';
// prettier-ignore
const STATES = [
  'state_audio', 'state_conv1', 'state_conv2', 'state_k', 'state_v', 'state_k_valid', 'state_h6',
] as const;
const NEXT_STATES = STATES.map((name) => `new_${name}` as const);
const PORTS = {
  inputs: { audio: floats(1, STEP_SAMPLES), ...portsOf(STATES) },
  outputs: { probs: floats(FRAMES), ...portsOf(NEXT_STATES) },
};
const FETCHES = ['probs', ...NEXT_STATES] as const;

type StepGraph = Pick<Graph<typeof PORTS.outputs>, 'run' | 'inputShape' | 'close'>;
type States = Readonly<Record<(typeof STATES)[number], FloatTensor>>;

export class Turn1Mini implements TurnModel {
  readonly name = 'turn-1-mini';
  readonly #graph: StepGraph;
  readonly #shapes: ReadonlyMap<string, readonly number[]>;

  /** Throws CONFIG_INVALID if the graph leaves the size of a state free. */
  constructor(graph: StepGraph, file: string) {
    this.#graph = graph;
    this.#shapes = new Map(STATES.map((name) => [name, fixedShape(graph.inputShape(name), name, file)]));
  }

  /** Throws CONFIG_INVALID if the file is missing, damaged or another model. */
  static async load(file: string): Promise<Turn1Mini> {
    const graph = await openGraph({ file, kind: KIND }, PORTS);
    const model = new Turn1Mini(graph, file);
    const listener = model.open();
    await listener.push(new Float32Array(STEP_SAMPLES));
    if (listener.probability() !== undefined) return model;
    await graph.close();
    throw new ParleyError('CONFIG_INVALID', `${file} is no ${KIND}: it answers silence with no number`);
  }

  open(): Turn1MiniListener {
    return new Turn1MiniListener(this.#graph, () => this.#zeros());
  }

  close(): Promise<void> {
    return this.#graph.close();
  }

  #zeros(): States {
    const zeros = [...this.#shapes].map(([name, shape]) => {
      const count = shape.reduce((product, size) => product * size, 1);
      return [name, floatTensor(new Float32Array(count), shape)];
    });
    return Object.fromEntries(zeros) as States;
  }
}

class Turn1MiniListener implements TurnListener {
  readonly #graph: StepGraph;
  readonly #zeros: () => States;
  readonly #step = new Float32Array(STEP_SAMPLES);
  #filled = 0;
  #states: States | undefined;
  /** At the end of the last step. */
  #last: number | undefined;

  constructor(graph: StepGraph, zeros: () => States) {
    this.#graph = graph;
    this.#zeros = zeros;
  }

  async push(sound: Float32Array): Promise<void> {
    for (const sample of sound) {
      this.#step[this.#filled++] = cleaned(sample);
      if (this.#filled === STEP_SAMPLES) await this.#advance();
    }
  }

  probability(): number | undefined | Promise<number | undefined> {
    const frames = Math.floor(this.#filled / FRAME_SAMPLES);
    return frames === 0 ? this.#last : this.#peek(frames);
  }

  reset(): void {
    this.#filled = 0;
    this.#states = undefined;
    this.#last = undefined;
  }

  async #advance(): Promise<void> {
    const { probs, states } = await this.#run();
    this.reset();
    if (!probs.every((value) => Number.isFinite(value))) return;
    this.#states = states;
    this.#last = probs[FRAMES - 1];
  }

  /** `frames`: whole frames of sound in the step that has begun. */
  async #peek(frames: number): Promise<number | undefined> {
    this.#step.fill(0, this.#filled);
    const { probs } = await this.#run();
    const probability = probs[frames - 1];
    if (Number.isFinite(probability)) return probability;
    this.reset();
    return undefined;
  }

  async #run(): Promise<{ probs: Float32Array; states: States }> {
    this.#states ??= this.#zeros();
    const audio = floatTensor(this.#step, [1, STEP_SAMPLES]);
    const results = await this.#graph.run({ audio, ...this.#states }, FETCHES);
    const states = Object.fromEntries(STATES.map((name) => [name, results[`new_${name}`]])) as States;
    return { probs: results.probs.data, states };
  }
}

function portsOf<N extends string>(names: readonly N[]): Record<N, typeof ANY_FLOATS> {
  return Object.fromEntries(names.map((name) => [name, ANY_FLOATS])) as Record<N, typeof ANY_FLOATS>;
}

function fixedShape(shape: readonly (number | undefined)[], name: string, file: string): number[] {
  return shape.map((size) => {
    if (size !== undefined) return size;
    throw new ParleyError('CONFIG_INVALID', `${file} is no ${KIND}: its input ${name} has a free size`);
  });
}
