// Runs Silero VAD (version 5) with the ONNX runtime: the windows of all calls in one run.
//
// A row of the input is 64 samples of context, the end of the call's previous window, and 512 new samples.
// Without the context the probability of speech falls from 0.94 to 0.68.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type * as Onnx from 'onnxruntime-node';
import type { InferenceSession, Tensor, TensorConstructor } from 'onnxruntime-node';
import { ParleyError } from '../errors.js';
import { WINDOW_SAMPLES } from '../media/ears.js';
import { SAMPLE_RATE } from './ear-source.js';
import type { VoiceMemory, VoiceModel } from './voice-model.js';

const MODEL = join('src', 'hearing', 'models', 'silero_vad_v5.onnx');
const MODEL_SHA256 = '2623a2953f6ff3d2c1e61740c6cdb7168133479b267dfef114a4a3cc5bdd788f';

const CONTEXT_SAMPLES = 64;
const ROW_SAMPLES = CONTEXT_SAMPLES + WINDOW_SAMPLES;
const STATE = 128; // numbers in each of the two layers
const MOST_ROWS = 256;
const INPUTS = ['input', 'state', 'sr'];
const OUTPUTS = ['output', 'stateN'];
const REST_WINDOWS = 30; // of silence, after which the state changes no more

/** Tensors of one number of rows: views of the same buffers. */
interface Batch {
  readonly feeds: Readonly<Record<string, Tensor>>;
  readonly fetches: Readonly<Record<string, Tensor>>;
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
  readonly #session: InferenceSession;
  readonly #Tensor: TensorConstructor;
  readonly #input = new Float32Array(MOST_ROWS * ROW_SAMPLES);
  readonly #state = new Float32Array(MOST_ROWS * 2 * STATE);
  readonly #output = new Float32Array(MOST_ROWS);
  readonly #newState = new Float32Array(MOST_ROWS * 2 * STATE);
  /** State after silence. From the zeros of its start the model finds an onset up to 200 ms later. */
  readonly #atRest = new Float32Array(2 * STATE);
  readonly #rate: Tensor;
  readonly #batches: Batch[] = [];
  readonly #memories: SileroMemory[] = [];
  #isDone = false;

  private constructor(session: InferenceSession, tensor: TensorConstructor, sha256: string) {
    this.#session = session;
    this.#Tensor = tensor;
    this.#rate = new tensor('int64', BigInt64Array.of(BigInt(SAMPLE_RATE)), []);
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
    const runtime = await loadRuntime();
    const session = await runtime.InferenceSession.create(bytes, {
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      executionMode: 'sequential',
      logSeverityLevel: 3,
    }).catch((error: unknown) => {
      throw new ParleyError('CONFIG_INVALID', `${path} is no ONNX model: ${firstLine(error)}`, {
        cause: error,
      });
    });
    const model = new SileroModel(session, runtime.Tensor, sha256);
    await model.#check(path);
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
    await this.#session.run(feeds, fetches);
    for (const [row, { state }] of this.#memories.entries()) {
      state.set(this.#newState.subarray(row * STATE, (row + 1) * STATE));
      state.set(this.#newState.subarray((rows + row) * STATE, (rows + row + 1) * STATE), STATE);
    }
  }

  probability(index: number): number {
    return this.#output[index] ?? 0;
  }

  close(): Promise<void> {
    return this.#session.release();
  }

  #newBatch(rows: number): Batch {
    const state = [2, rows, STATE];
    const stateLength = 2 * rows * STATE;
    const input = this.#input.subarray(0, rows * ROW_SAMPLES);
    return {
      feeds: {
        input: new this.#Tensor('float32', input, [rows, ROW_SAMPLES]),
        state: new this.#Tensor('float32', this.#state.subarray(0, stateLength), state),
        sr: this.#rate,
      },
      fetches: {
        output: new this.#Tensor('float32', this.#output.subarray(0, rows), [rows, 1]),
        stateN: new this.#Tensor('float32', this.#newState.subarray(0, stateLength), state),
      },
    };
  }

  /** Another model has other names or shapes. Its first runs also warm it up, and bring it to rest. */
  async #check(path: string): Promise<void> {
    const { inputNames, outputNames } = this.#session;
    const isSame =
      inputNames.toSorted().join() === INPUTS.toSorted().join() && outputNames.join() === OUTPUTS.join();
    try {
      if (!isSame) throw new Error(`its inputs are ${inputNames.join(', ')}`);
      const memory = this.newMemory();
      for (let window = 0; window < REST_WINDOWS; window++) {
        this.add(memory, new Float32Array(WINDOW_SAMPLES));
        await this.run();
      }
      this.#atRest.set(memory.state);
    } catch (error) {
      await this.close();
      const message = `${path} is no Silero VAD model of version 5: ${firstLine(error)}`;
      throw new ParleyError('CONFIG_INVALID', message, { cause: error });
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

async function loadRuntime(): Promise<typeof Onnx> {
  try {
    const loaded = (await import('onnxruntime-node')) as typeof Onnx & { default?: typeof Onnx };
    return loaded.default ?? loaded;
  } catch (error) {
    throw new ParleyError('CAPABILITY_MISSING', `onnxruntime-node cannot be loaded: ${firstLine(error)}`, {
      cause: error,
    });
  }
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
}
