// Runs Silero VAD (version 5) with the ONNX runtime: the windows of all calls in one run.
//
// A row of the input is 64 samples of context, the end of the call's previous window, and 512 new samples.
// Without the context the probability of speech falls from 0.94 to 0.68.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ParleyError } from '../errors.js';
import { WINDOW_SAMPLES } from '../media/ears.js';
import { floats, floatTensor, type Graph, longs, longTensor, openGraph, type Tensor } from '../onnx/graph.js';
import { SAMPLE_RATE } from './ear-source.js';
import type { VoiceMemory, VoiceModel } from './voice-model.js';

const KIND = 'Silero VAD model of version 5';
const MODEL = join('src', 'hearing', 'models', 'silero_vad_v5.onnx');
const MODEL_SHA256 = '2623a2953f6ff3d2c1e61740c6cdb7168133479b267dfef114a4a3cc5bdd788f';

const CONTEXT_SAMPLES = 64;
const ROW_SAMPLES = CONTEXT_SAMPLES + WINDOW_SAMPLES;
const STATE = 128; // numbers in each of the two layers
const MOST_ROWS = 256;
const PORTS = {
  inputs: { input: floats('free', 'any'), state: floats(2, 'free', STATE), sr: longs() },
  outputs: { output: floats('free', 1), stateN: floats(2, 'free', STATE) },
};
const REST_WINDOWS = 30; // of silence, after which the state changes no more

/** Tensors of one number of rows: views of the same buffers. */
interface Batch {
  readonly feeds: Readonly<Record<string, Tensor>>;
  readonly fetches: Readonly<Record<'output' | 'stateN', Tensor>>;
}

class SileroMemory implements VoiceMemory {
  /** Both layers. */
  readonly state = new Float32Array(2 * STATE);
  readonly context = new Float32Array(CONTEXT_SAMPLES);
  readonly #atRest: Float32Array;

  /** `atRest`: the state after silence. */
  constructor(atRest: Float32Array) {
    this.#atRest = atRest;
    this.reset();
  }

  reset(): void {
    this.state.set(this.#atRest);
    this.context.fill(0);
  }

  skip(samples: Float32Array): void {
    this.context.set(samples.subarray(WINDOW_SAMPLES - CONTEXT_SAMPLES));
  }
}

export class SileroModel implements VoiceModel<SileroMemory> {
  readonly name = 'silero';
  readonly mostWindows = MOST_ROWS;
  /** SHA-256 of the model file. */
  readonly sha256: string;
  readonly #graph: Graph<typeof PORTS.outputs>;
  readonly #input = new Float32Array(MOST_ROWS * ROW_SAMPLES);
  readonly #state = new Float32Array(MOST_ROWS * 2 * STATE);
  readonly #output = new Float32Array(MOST_ROWS);
  readonly #newState = new Float32Array(MOST_ROWS * 2 * STATE);
  /** State after silence. From the zeros of its start the model finds an onset up to 200 ms later. */
  readonly #atRest = new Float32Array(2 * STATE);
  readonly #rate = longTensor([SAMPLE_RATE], []);
  readonly #batches: Batch[] = [];
  readonly #memories: SileroMemory[] = [];
  #isDone = false;

  private constructor(graph: Graph<typeof PORTS.outputs>, sha256: string) {
    this.#graph = graph;
    this.sha256 = sha256;
  }

  /**
   * Loads the file, by default the one that comes with the server. Throws CONFIG_INVALID if the file is
   * missing or is no such model, CAPABILITY_MISSING if the runtime cannot be loaded.
   */
  static async load(file?: string): Promise<SileroModel> {
    const path = file ?? findModel();
    const bytes = await readModel(path);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    if (file === undefined && sha256 !== MODEL_SHA256) {
      throw new ParleyError('CONFIG_INVALID', `${path} is damaged: its SHA-256 is ${sha256}`);
    }
    const graph = await openGraph({ file: path, bytes, kind: KIND }, PORTS);
    const model = new SileroModel(graph, sha256);
    await model.#warmUp(path);
    return model;
  }

  newMemory(): SileroMemory {
    return new SileroMemory(this.#atRest);
  }

  add(memory: SileroMemory, samples: Float32Array): void {
    if (this.#isDone) this.#memories.length = 0;
    this.#isDone = false;
    const row = this.#memories.push(memory) - 1;
    this.#input.set(memory.context, row * ROW_SAMPLES);
    this.#input.set(samples, row * ROW_SAMPLES + CONTEXT_SAMPLES);
    memory.skip(samples);
  }

  async run(): Promise<void> {
    const rows = this.#memories.length;
    this.#isDone = true;
    if (rows === 0) return;
    for (const [row, { state }] of this.#memories.entries()) {
      this.#state.set(state.subarray(0, STATE), row * STATE);
      this.#state.set(state.subarray(STATE), (rows + row) * STATE);
    }
    const { feeds, fetches } = (this.#batches[rows] ??= this.#newBatch(rows));
    await this.#graph.runInto(feeds, fetches);
    for (const [row, { state }] of this.#memories.entries()) {
      state.set(this.#newState.subarray(row * STATE, (row + 1) * STATE));
      state.set(this.#newState.subarray((rows + row) * STATE, (rows + row + 1) * STATE), STATE);
    }
  }

  probability(index: number): number {
    return this.#output[index] ?? 0;
  }

  close(): Promise<void> {
    return this.#graph.close();
  }

  #newBatch(rows: number): Batch {
    const state = [2, rows, STATE];
    const stateLength = 2 * rows * STATE;
    const input = this.#input.subarray(0, rows * ROW_SAMPLES);
    return {
      feeds: {
        input: floatTensor(input, [rows, ROW_SAMPLES]),
        state: floatTensor(this.#state.subarray(0, stateLength), state),
        sr: this.#rate,
      },
      fetches: {
        output: floatTensor(this.#output.subarray(0, rows), [rows, 1]),
        stateN: floatTensor(this.#newState.subarray(0, stateLength), state),
      },
    };
  }

  /** The first runs show that the graph takes these rows. They also warm it up, and bring it to rest. */
  async #warmUp(path: string): Promise<void> {
    try {
      const memory = this.newMemory();
      for (let window = 0; window < REST_WINDOWS; window++) {
        this.add(memory, new Float32Array(WINDOW_SAMPLES));
        await this.run();
      }
      this.#atRest.set(memory.state);
    } catch (error) {
      await this.close();
      throw new ParleyError('CONFIG_INVALID', `${path} is no ${KIND}: ${firstLine(error)}`, { cause: error });
    }
  }
}

/** The model file lies beside the sources, also when the program runs from its build. */
function findModel(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, MODEL))) {
    const parent = dirname(folder);
    if (parent === folder) throw new ParleyError('CONFIG_INVALID', `${MODEL} is not there`);
    folder = parent;
  }
  return join(folder, MODEL);
}

async function readModel(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new ParleyError('CONFIG_INVALID', `the model ${path} cannot be read: ${firstLine(error)}`, {
      cause: error,
    });
  }
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
}
