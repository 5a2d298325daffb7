// Opens graphs of ONNX models with the ONNX runtime. The rooms that run models import it, and no other room.
//
//     const graph = await openGraph({ file, kind: 'turn-1-mini model' }, {
//       inputs: { audio: floats(1, 2560), state_k: floats(2, 1, 'any', 'any', 4) },
//       outputs: { probs: floats(8) },
//     });
//     const { probs } = await graph.run({ audio: floatTensor(samples, [1, 2560]), … }, ['probs']);
//
// `openGraph` compares names, types and shapes with what the caller expects, before the first run. Its error
// names the file, the input or output, what was expected and what was found.
// A number is a size: a graph that leaves that size free also passes. 'free' is a size that the graph must
// leave free, because the caller varies it. 'any' is a size that the caller reads from the graph
// (`inputShape`).
// A graph may have inputs that are not expected: `otherInputs` names them, and the caller decides.
//
// One run blocks its thread until it is done. Therefore graphs run in worker threads. A graph has no state:
// all streams of a worker share it.
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import type * as Onnx from 'onnxruntime-node';
import type { InferenceSession, Tensor as AnyTensor, TypedTensor } from 'onnxruntime-node';
import { ParleyError } from '../errors.js';
import { disableTelemetry } from './telemetry.js';

type NumberType = 'float32' | 'int64';
type Size = number | 'free' | 'any';

/** An input or output as the caller expects it. */
export interface Port<T extends NumberType = NumberType> {
  readonly type: T;
  /** Undefined: any number of any sizes. */
  readonly shape: readonly Size[] | undefined;
}

type Ports = Readonly<Record<string, Port>>;
type TensorOf<P extends Port> = TypedTensor<P['type']>;

export type Tensor = AnyTensor;
export type FloatTensor = TypedTensor<'float32'>;
export type LongTensor = TypedTensor<'int64'>;

interface Expected<O extends Ports> {
  readonly inputs: Ports;
  readonly outputs: O;
}

interface GraphSource {
  /** Path of the file (.onnx or .ort), which error messages name. */
  readonly file: string;
  /** Contents of the file, if the caller has read it. Else the runtime reads the path. */
  readonly bytes?: Uint8Array;
  /** What the file should be, for error messages: "encoder of Moonshine". */
  readonly kind: string;
}

const OPTIONS: InferenceSession.SessionOptions = {
  // The callers run in parallel by having workers. Threads of the runtime would wait in loops of their own.
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  executionMode: 'sequential',
  logSeverityLevel: 3,
  extra: { session: { intra_op: { allow_spinning: '0' }, inter_op: { allow_spinning: '0' } } },
};
const MOST_DIFFERENCES = 3; // in one error message

/** The port of 32-bit floats with these sizes. */
export function floats(...shape: readonly Size[]): Port<'float32'> {
  return { type: 'float32', shape };
}

/** The port of 32-bit floats whose shape the caller reads from the graph. */
export const ANY_FLOATS: Port<'float32'> = { type: 'float32', shape: undefined };

/** The port of 64-bit integers with these sizes; without sizes, a scalar. */
export function longs(...shape: readonly Size[]): Port<'int64'> {
  return { type: 'int64', shape };
}

/** A view of the numbers, not a copy. Throws RangeError before the first `openGraph` of the thread. */
export function floatTensor(data: Float32Array, shape: readonly number[]): FloatTensor {
  return new (loadedRuntime().Tensor)('float32', data, shape);
}

/** Integers as the runtime takes them. */
export function longTensor(data: readonly number[], shape: readonly number[]): LongTensor {
  return new (loadedRuntime().Tensor)('int64', BigInt64Array.from(data, BigInt), shape);
}

/**
 * Throws CONFIG_INVALID if the file cannot be read, is damaged or is another model. Throws CAPABILITY_MISSING
 * if the runtime cannot be loaded.
 */
export async function openGraph<O extends Ports>(
  source: GraphSource,
  expected: Expected<O>,
): Promise<Graph<O>> {
  const { file, bytes, kind } = source;
  if (bytes === undefined) await checkReadable(file);
  const { InferenceSession: sessions } = await loadRuntime();
  const creating = bytes === undefined ? sessions.create(file, OPTIONS) : sessions.create(bytes, OPTIONS);
  const session = await creating.catch((cause: unknown) => {
    throw new ParleyError('CONFIG_INVALID', `${file} is no ONNX model: ${firstLine(cause)}`, { cause });
  });
  const differences = [
    ...differencesOf('input', session.inputMetadata, expected.inputs),
    ...differencesOf('output', session.outputMetadata, expected.outputs),
  ];
  if (differences.length > 0) {
    await session.release();
    const more = differences.length > MOST_DIFFERENCES ? '; …' : '';
    const told = differences.slice(0, MOST_DIFFERENCES).join('; ');
    throw new ParleyError('CONFIG_INVALID', `${file} is no ${kind}: ${told}${more}`);
  }
  return new Graph(session, Object.keys(expected.inputs));
}

/** A checked graph. Made by `openGraph`. */
export class Graph<O extends Ports = Ports> {
  /** Inputs that the caller of `openGraph` did not expect, in the order of the file. */
  readonly otherInputs: readonly string[];
  readonly outputNames: readonly string[];
  readonly #session: InferenceSession;

  constructor(session: InferenceSession, expectedInputs: readonly string[]) {
    this.#session = session;
    this.otherInputs = session.inputNames.filter((name) => !expectedInputs.includes(name));
    this.outputNames = session.outputNames;
  }

  /** The sizes of an input; undefined for a size that the graph leaves free. */
  inputShape(name: string): readonly (number | undefined)[] {
    const found = this.#session.inputMetadata.find((one) => one.name === name);
    if (found?.isTensor !== true) throw new RangeError(`the graph has no input ${name}`);
    return found.shape.map((size) => (typeof size === 'number' ? size : undefined));
  }

  /**
   * Computes the outputs that `fetches` names. The others are not copied. Rejects with the runtime's error,
   * for example for an input that is missing or has another size.
   */
  async run<N extends keyof O & string>(
    feeds: Readonly<Record<string, Tensor>>,
    fetches: readonly N[],
  ): Promise<{ readonly [name in N]: TensorOf<O[name]> }> {
    // `openGraph` has checked the types of the outputs.
    return (await this.#session.run(feeds, fetches)) as unknown as { [name in N]: TensorOf<O[name]> };
  }

  /** Computes into the tensors of the caller. */
  async runInto(
    feeds: Readonly<Record<string, Tensor>>,
    fetches: Readonly<Record<keyof O & string, Tensor>>,
  ): Promise<void> {
    await this.#session.run(feeds, fetches);
  }

  close(): Promise<void> {
    return this.#session.release();
  }
}

/** One sentence for each port that is missing, or differs in type or shape. */
function differencesOf(
  role: 'input' | 'output',
  found: readonly InferenceSession.ValueMetadata[],
  expected: Ports,
): string[] {
  return Object.entries(expected).flatMap(([name, port]) => {
    const one = found.find((value) => value.name === name);
    if (one === undefined) {
      return [`its ${role} ${name} is missing (it has ${found.map((value) => value.name).join(', ')})`];
    }
    const isSame = one.isTensor && one.type === port.type && isShapeOf(one.shape, port.shape, role);
    const foundText = one.isTensor ? textOf(one.type, one.shape) : 'no tensor';
    return isSame ? [] : [`its ${role} ${name} is ${foundText}, not ${textOf(port.type, port.shape)}`];
  });
}

/** A graph may leave the shape of an output open: then it has no sizes, or free ones. */
function isShapeOf(
  found: readonly (number | string)[],
  expected: readonly Size[] | undefined,
  role: 'input' | 'output',
): boolean {
  if (expected === undefined) return true;
  if (role === 'output' && found.length === 0) return true;
  if (found.length !== expected.length) return false;
  return expected.every((size, axis) => {
    if (size === 'any' || typeof found[axis] !== 'number') return true;
    return size === 'free' ? role === 'output' : size === found[axis];
  });
}

function textOf(type: string, shape: readonly (number | string)[] | undefined): string {
  if (shape === undefined) return type;
  return `${type} [${shape.map((size) => (typeof size === 'number' ? size : size || 'free')).join(', ')}]`;
}

async function checkReadable(file: string): Promise<void> {
  try {
    await access(file, constants.R_OK);
    if (!(await stat(file)).isFile()) throw new Error('it is no file');
  } catch (cause) {
    const message = `the model ${file} cannot be read: ${firstLine(cause)}`;
    throw new ParleyError('CONFIG_INVALID', message, { cause });
  }
}

let runtime: typeof Onnx | undefined;

async function loadRuntime(): Promise<typeof Onnx> {
  if (runtime !== undefined) return runtime;
  disableTelemetry();
  try {
    const loaded = (await import('onnxruntime-node')) as typeof Onnx & { default?: typeof Onnx };
    runtime = loaded.default ?? loaded;
    return runtime;
  } catch (cause) {
    const message = `onnxruntime-node cannot be loaded: ${firstLine(cause)}`;
    throw new ParleyError('CAPABILITY_MISSING', message, { cause });
  }
}

function loadedRuntime(): typeof Onnx {
  if (runtime === undefined) throw new RangeError('no graph was opened in this thread');
  return runtime;
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
}
