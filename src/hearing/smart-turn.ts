// Runs Smart Turn v3 (Pipecat) with the ONNX runtime: it judges the last 8 s of a turn at once.
//
// A shorter turn has silence in front. The output is named `logits`, but the graph ends in a sigmoid: it is a
// probability. One answer takes 25 to 65 ms of a core.
import { ParleyError } from '../errors.js';
import { floats, floatTensor, type Graph, openGraph } from '../onnx/graph.js';
import { LogMels, MEL_BANDS, MEL_FRAMES, MEL_SAMPLES } from './log-mels.js';
import { cleaned, type TurnListener, type TurnModel } from './turn-model.js';

const KIND = 'Smart Turn v3 model';
const PORTS = {
  inputs: { input_features: floats(1, MEL_BANDS, MEL_FRAMES) },
  outputs: { logits: floats(1, 1) },
};
type TurnGraph = Pick<Graph<typeof PORTS.outputs>, 'run' | 'close'>;

export class SmartTurn implements TurnModel {
  readonly name = 'Smart Turn';
  readonly #graph: TurnGraph;
  readonly #mels = new LogMels();

  constructor(graph: TurnGraph) {
    this.#graph = graph;
  }

  /** Throws CONFIG_INVALID if the file is missing, damaged or another model. */
  static async load(file: string): Promise<SmartTurn> {
    const model = new SmartTurn(await openGraph({ file, kind: KIND }, PORTS));
    if ((await model.judge(new Float32Array(MEL_SAMPLES))) !== undefined) return model;
    await model.close();
    throw new ParleyError('CONFIG_INVALID', `${file} is no ${KIND}: it answers silence with no number`);
  }

  open(): TurnListener {
    return new SmartTurnListener(this);
  }

  /** `sound`: 8 s. Undefined if the answer is no number. */
  async judge(sound: Float32Array): Promise<number | undefined> {
    const features = floatTensor(this.#mels.of(sound), [1, MEL_BANDS, MEL_FRAMES]);
    const { logits } = await this.#graph.run({ input_features: features }, ['logits']);
    const [probability] = logits.data;
    return Number.isFinite(probability) ? probability : undefined;
  }

  close(): Promise<void> {
    return this.#graph.close();
  }
}

class SmartTurnListener implements TurnListener {
  readonly #model: SmartTurn;
  /** The last 8 s, in a ring; undefined between turns. */
  #ring: Float32Array | undefined;
  #next = 0;

  constructor(model: SmartTurn) {
    this.#model = model;
  }

  push(sound: Float32Array): void {
    this.#ring ??= new Float32Array(MEL_SAMPLES);
    for (const sample of sound) {
      this.#ring[this.#next] = cleaned(sample);
      this.#next = (this.#next + 1) % MEL_SAMPLES;
    }
  }

  probability(): undefined | Promise<number | undefined> {
    if (this.#ring === undefined) return undefined;
    const sound = new Float32Array(MEL_SAMPLES);
    sound.set(this.#ring.subarray(this.#next));
    sound.set(this.#ring.subarray(0, this.#next), MEL_SAMPLES - this.#next);
    return this.#model.judge(sound);
  }

  reset(): void {
    this.#ring = undefined;
    this.#next = 0;
  }
}
