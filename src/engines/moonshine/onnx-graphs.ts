// Opens the graphs of a Moonshine model with the ONNX runtime.
//
// The frontend is one file, or two: a graph whose weights are inputs, and a graph without inputs that gives
// them. The names of the weights are those that both files share. Each graph serves all streams of its
// thread.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ParleyError } from '../../errors.js';
import {
  type FloatTensor,
  floats,
  floatTensor,
  type Graph,
  longs,
  longTensor,
  openGraph,
  type Port,
  type Tensor,
} from '../../onnx/graph.js';
import { type AttentionCache, FEATURE_SAMPLES, type FrontendState, type MoonshineGraphs } from './graphs.js';
import type { MoonshineSizes } from './streaming-config.js';

const SAMPLE_BUFFER = 79; // samples of a frame that is not complete, which we never leave to the graph
const CONVOLUTION = 4; // frames that a convolution remembers
const STATES = ['sample_buffer', 'sample_len', 'conv1_buffer', 'conv2_buffer', 'frame_count'] as const;
const STATE_OUTPUTS = STATES.map((name) => `${name}_out` as const);
const EMPTY = new Float32Array(0);

type Ports = Readonly<Record<string, Port>>;
type State = Readonly<Record<(typeof STATES)[number], Tensor>>;

/** SHA-256 of each file that was opened. */
export type FileHashes = Readonly<Record<string, string>>;

interface OpenGraphs {
  readonly frontend: Graph;
  readonly encoder: Graph;
  readonly adapter: Graph;
  readonly crossKv: Graph;
  readonly decoder: Graph;
}

export class OnnxGraphs implements MoonshineGraphs {
  readonly sizes: MoonshineSizes;
  readonly #graphs: OpenGraphs;
  /** Inputs of the frontend that are the same in each run. */
  readonly #weights: Readonly<Record<string, Tensor>>;

  private constructor(sizes: MoonshineSizes, graphs: OpenGraphs, weights: Readonly<Record<string, Tensor>>) {
    this.sizes = sizes;
    this.#graphs = graphs;
    this.#weights = weights;
  }

  /**
   * Opens the graphs of a folder. Throws CONFIG_INVALID, naming the file, for a graph that is missing,
   * damaged or of another model.
   */
  static async open(
    folder: string,
    sizes: MoonshineSizes,
  ): Promise<{ readonly graphs: OnnxGraphs; readonly hashes: FileHashes }> {
    const hashes: Record<string, string> = {};
    const opened: Graph[] = [];
    const open = async (name: string, inputs: Ports, outputs: Ports): Promise<Graph> => {
      const file = findGraph(folder, name);
      const bytes = await readFile(file);
      hashes[file] = createHash('sha256').update(bytes).digest('hex');
      const graph = await openGraph({ file, bytes, kind: `${name} of Moonshine` }, { inputs, outputs });
      opened.push(graph);
      return graph;
    };
    try {
      const graphs = await openAll(folder, sizes, open);
      const weights = await readWeights(folder, graphs.frontend, open);
      return { graphs: new OnnxGraphs(sizes, graphs, weights), hashes };
    } catch (error) {
      await Promise.all(opened.map((graph) => graph.close().catch(() => undefined)));
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.#graphs).map((graph: Graph) => graph.close()));
  }

  async frontend(samples: Float32Array, state: FrontendState | undefined) {
    const before = (state as State | undefined) ?? this.#firstState();
    const feeds = { audio_chunk: floatTensor(samples, [1, samples.length]), ...before, ...this.#weights };
    const got = await this.#graphs.frontend.run(feeds, ['features', ...STATE_OUTPUTS]);
    const after = Object.fromEntries(STATES.map((name) => [name, got[`${name}_out`]]));
    const features = floatsOf(got['features'], (samples.length / FEATURE_SAMPLES) * this.sizes.encoder);
    return { features, state: after };
  }

  async encoder(features: Float32Array): Promise<Float32Array> {
    const feeds = { features: this.#rows(features, this.sizes.encoder) };
    const { encoded } = await this.#graphs.encoder.run(feeds, ['encoded']);
    return floatsOf(encoded, features.length);
  }

  async adapter(encoded: Float32Array, offset: number): Promise<Float32Array> {
    const { encoder, decoder } = this.sizes;
    const feeds = { encoded: this.#rows(encoded, encoder), pos_offset: longTensor([offset], [1]) };
    const { memory } = await this.#graphs.adapter.run(feeds, ['memory']);
    return floatsOf(memory, (encoded.length / encoder) * decoder);
  }

  async crossKv(memory: Float32Array): Promise<AttentionCache> {
    const frames = memory.length / this.sizes.decoder;
    const feeds = { memory: this.#rows(memory, this.sizes.decoder) };
    const got = await this.#graphs.crossKv.run(feeds, ['k_cross', 'v_cross']);
    return this.#cache(frames, got['k_cross'], got['v_cross']);
  }

  async decoder(tokens: readonly number[], self: AttentionCache | undefined, cross: AttentionCache) {
    const past = self ?? { frames: 0, keys: EMPTY, values: EMPTY };
    const feeds = {
      token: longTensor(tokens, [1, tokens.length]),
      k_self: this.#attention(past.frames, past.keys),
      v_self: this.#attention(past.frames, past.values),
      // The published graph names these inputs like outputs.
      out_k_cross: this.#attention(cross.frames, cross.keys),
      out_v_cross: this.#attention(cross.frames, cross.values),
    };
    // The graph also passes the cross caches through, which would be copied at each token.
    const got = await this.#graphs.decoder.run(feeds, ['logits', 'out_k_self', 'out_v_self']);
    return {
      logits: floatsOf(got['logits'], tokens.length * this.sizes.vocabulary),
      self: this.#cache(past.frames + tokens.length, got['out_k_self'], got['out_v_self']),
    };
  }

  #rows(data: Float32Array, width: number): FloatTensor {
    return floatTensor(data, [1, data.length / width, width]);
  }

  #attention(frames: number, data: Float32Array): FloatTensor {
    const { layers, heads, headWidth } = this.sizes;
    return floatTensor(data, [layers, 1, heads, frames, headWidth]);
  }

  #cache(frames: number, keys: Tensor | undefined, values: Tensor | undefined): AttentionCache {
    const { layers, heads, headWidth } = this.sizes;
    const count = layers * heads * frames * headWidth;
    return { frames, keys: floatsOf(keys, count), values: floatsOf(values, count) };
  }

  #firstState(): State {
    const zeros = (name: string) => {
      const shape = this.#graphs.frontend.inputShape(name).map((size) => size ?? 1);
      return floatTensor(new Float32Array(shape.reduce((all, size) => all * size, 1)), shape);
    };
    return {
      sample_buffer: zeros('sample_buffer'),
      sample_len: longTensor([0], [1]),
      conv1_buffer: zeros('conv1_buffer'),
      conv2_buffer: zeros('conv2_buffer'),
      frame_count: longTensor([0], [1]),
    };
  }
}

type OpenOne = (name: string, inputs: Ports, outputs: Ports) => Promise<Graph>;

/** Opens the graphs with the names and shapes of the published models. */
async function openAll(folder: string, sizes: MoonshineSizes, open: OpenOne): Promise<OpenGraphs> {
  const { encoder, decoder, layers, heads, headWidth, vocabulary } = sizes;
  const cache = floats(layers, 1, heads, 'free', headWidth);
  const frontendState = {
    sample_buffer: floats(1, SAMPLE_BUFFER),
    sample_len: longs(1),
    conv1_buffer: floats(1, encoder, CONVOLUTION),
    conv2_buffer: floats(1, 'any', CONVOLUTION),
    frame_count: longs(1),
  };
  const stateOutputs = Object.fromEntries(
    Object.entries(frontendState).map(([name, port]) => [`${name}_out`, port]),
  );
  return {
    frontend: await open(
      isSplit(folder) ? 'frontend.model' : 'frontend',
      { audio_chunk: floats(1, 'free'), ...frontendState },
      { features: floats(1, 'free', encoder), ...stateOutputs },
    ),
    encoder: await open(
      'encoder',
      { features: floats(1, 'free', encoder) },
      { encoded: floats(1, 'free', encoder) },
    ),
    adapter: await open(
      'adapter',
      { encoded: floats(1, 'free', encoder), pos_offset: longs(1) },
      { memory: floats(1, 'free', decoder) },
    ),
    crossKv: await open(
      'cross_kv',
      { memory: floats(1, 'free', decoder) },
      { k_cross: cache, v_cross: cache },
    ),
    decoder: await open(
      'decoder_kv',
      { token: longs(1, 'free'), k_self: cache, v_self: cache, out_k_cross: cache, out_v_cross: cache },
      { logits: floats(1, 'free', vocabulary), out_k_self: cache, out_v_self: cache },
    ),
  };
}

/** The inputs of a frontend in two files that are no sound and no state. */
async function readWeights(folder: string, frontend: Graph, open: OpenOne) {
  const names = frontend.otherInputs;
  if (!isSplit(folder)) {
    if (names.length === 0) return {};
    throw damaged(folder, `the frontend has inputs that are not known: ${names.join(', ')}`);
  }
  const graph = await open('frontend.weights', {}, {});
  try {
    const missing = names.filter((name) => !graph.outputNames.includes(name));
    if (missing.length > 0)
      throw damaged(folder, `frontend.weights gives no ${missing.join(', ')}, which frontend.model needs`);
    return names.length === 0 ? {} : await graph.run({}, names);
  } finally {
    await graph.close();
  }
}

function isSplit(folder: string): boolean {
  return pathOf(folder, 'frontend') === undefined;
}

function findGraph(folder: string, name: string): string {
  const path = pathOf(folder, name);
  if (path === undefined) throw damaged(folder, `has no ${name}.ort and no ${name}.onnx`);
  return path;
}

function pathOf(folder: string, name: string): string | undefined {
  return [`${name}.ort`, `${name}.onnx`].map((file) => join(folder, file)).find((path) => existsSync(path));
}

function damaged(folder: string, message: string): ParleyError {
  return new ParleyError('CONFIG_INVALID', `${folder}: ${message}`);
}

/** The numbers of an output. The shapes of outputs are not always in the file, so the count is checked. */
function floatsOf(tensor: Tensor | undefined, count: number): Float32Array {
  const data = tensor?.data;
  if (data instanceof Float32Array && data.length === count) return data;
  const found = data instanceof Float32Array ? data.length : 'no';
  throw new ParleyError('ENGINE_FAILED', `a graph of the speech model gave ${found} floats, not ${count}`);
}
