// Reads the kind of a checkpoint from its config.json, or from its tensors if it has none. Computes what its
// weights need from the headers of its safetensors files. No weights are read.
import { open, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { CheckpointConfig } from '../config/hub-config.js';
import { POCKET_TOKENIZER, POCKET_WEIGHTS } from '../config/pocket-cache.js';
import { ParleyError } from '../errors.js';
import type { Kind, WeightNeeds } from './catalog.js';
import { FIRST_OF_ENCODER, isPocket, pocketNeeds, type Tensor } from './pocket-facts.js';

/** Settings of the server that change the weights as loaded. */
type LoadedAs = CheckpointConfig['loadedAs'];

const MOST_HEADER_BYTES = 64 * 1024 * 1024;
const VOICES: ReadonlySet<unknown> = new Set(['custom_voice', 'voice_design', 'base']);

/** Undefined for a folder that holds no checkpoint of Parley's engines. */
export async function kindOf(folder: string): Promise<Kind | undefined> {
  const config = (await json(join(folder, 'config.json'))) as
    Readonly<Record<string, unknown>> | null | undefined;
  if (config === undefined) return (await isPocketFolder(folder)) ? 'voice' : undefined;
  if (VOICES.has(config?.['tts_model_type'])) return 'voice';
  if (config?.['model_type'] !== 'qwen3_asr') return undefined;
  const thinker = config['thinker_config'] as Readonly<Record<string, unknown>> | undefined;
  return thinker?.['model_type'] === 'qwen3_forced_aligner' ? 'aligner' : 'recogniser';
}

async function isPocketFolder(folder: string): Promise<boolean> {
  const has = async (name: string) => (await stat(join(folder, name)).catch(() => undefined)) !== undefined;
  if (!(await has(POCKET_WEIGHTS)) || !(await has(POCKET_TOKENIZER))) return false;
  return isPocket(await tensorsOf(folder));
}

/** Throws MALFORMED if a file of weights is missing, cut off or no safetensors file. */
export async function needsOf(folder: string, kind: Kind, loadedAs: LoadedAs): Promise<WeightNeeds> {
  const tensors = await tensorsOf(folder);
  if (kind !== 'voice') return recognitionNeeds(folder, kind, tensors, loadedAs);
  if (isPocket(tensors)) return pocketNeeds(tensors, { ...loadedAs, clones: await clones(folder, tensors) });
  const codec = await tensorsOf(join(folder, 'speech_tokenizer'));
  const config = (await json(join(folder, 'config.json'))) as { tts_model_type?: unknown };
  return voiceNeeds({ tensors, codec, isBase: config.tts_model_type === 'base' }, loadedAs);
}

/** True if the encoder is there and not zeros, as the native engine decides it. */
async function clones(folder: string, tensors: readonly Tensor[]): Promise<boolean> {
  const first = tensors.find(({ name }) => name === FIRST_OF_ENCODER);
  if (first === undefined) return false;
  const file = await open(join(folder, POCKET_WEIGHTS));
  try {
    const values = Buffer.alloc(first.bytes);
    await file.read(values, 0, first.bytes, first.from);
    return values.some((byte) => byte !== 0);
  } finally {
    await file.close();
  }
}

const LAYER = /^(?:talker|thinker)\.model\.layers\.\d+\..*_proj\.weight$/;
const CODEC_HEAD = 'talker.codec_head.weight';
const PREDICTOR_LAYER =
  /^talker\.code_predictor\.(?:model\.layers\.\d+\..*_proj|small_to_mtp_projection)\.weight$/;
const PREDICTOR_HEAD = /^talker\.code_predictor\.lm_head\.\d+\.weight$/;

interface VoiceTensors {
  readonly tensors: readonly Tensor[];
  readonly codec: readonly Tensor[];
  /** Base checkpoints clone voices: they need the encoder of the codec, too. */
  readonly isBase: boolean;
}

function voiceNeeds({ tensors, codec, isBase }: VoiceTensors, loadedAs: LoadedAs): WeightNeeds {
  const isTalker = ({ name }: Tensor) => LAYER.test(name) || name === CODEC_HEAD;
  const isLayer = ({ name }: Tensor) => PREDICTOR_LAYER.test(name);
  const isHead = ({ name }: Tensor) => PREDICTOR_HEAD.test(name);
  const bytesOf = (tensor: Tensor) => {
    const isReduced =
      (loadedAs.quantize !== 'none' && isTalker(tensor)) ||
      (loadedAs.quantize === 'int8' && (isLayer(tensor) || isHead(tensor)));
    return isReduced ? Math.min(tensor.bytes, tensor.elements) : tensor.bytes;
  };
  const codecBytesOf = ({ bytes, elements }: Tensor) =>
    (loadedAs.codecFormat ?? 'f32') === 'f32' ? bytes : Math.min(bytes, 2 * elements);
  const decoder = codec.filter(({ name }) => name.startsWith('decoder.'));
  // A frame needs 16 rows of the codebooks, not all.
  const isCodebook = ({ name }: Tensor) => name.startsWith('decoder.quantizer.');
  const passes = tensors.filter(isHead).length; // one for each codebook but the first
  return {
    memoryBytes: total(tensors, bytesOf) + total(isBase ? codec : decoder, codecBytesOf),
    stepBytes:
      total(tensors.filter(isTalker), bytesOf) +
      passes * total(tensors.filter(isLayer), bytesOf) +
      total(tensors.filter(isHead), bytesOf) +
      total(
        decoder.filter((tensor) => !isCodebook(tensor)),
        codecBytesOf,
      ),
  };
}

async function recognitionNeeds(
  folder: string,
  kind: Kind,
  tensors: readonly Tensor[],
  { quantize }: LoadedAs,
): Promise<WeightNeeds> {
  const isLayer = ({ name }: Tensor) => LAYER.test(name);
  const bytesOf = (tensor: Tensor) =>
    quantize === 'int8' && isLayer(tensor) ? Math.min(tensor.bytes, tensor.elements) : tensor.bytes;
  const isHead = ({ name }: Tensor) => name === 'thinker.lm_head.weight';
  // Published files store a tied head a second time; it is not loaded.
  const isTied = await hasTiedHead(folder);
  const loaded = isTied ? tensors.filter((tensor) => !isHead(tensor)) : tensors;
  const memoryBytes = total(loaded, bytesOf);
  if (kind === 'aligner') return { memoryBytes, stepBytes: undefined };
  const isOutput = ({ name }: Tensor) =>
    name === (isTied ? 'thinker.model.embed_tokens.weight' : 'thinker.lm_head.weight');
  const stepBytes = total(loaded.filter(isLayer), bytesOf) + total(loaded.filter(isOutput), bytesOf);
  return { memoryBytes, stepBytes };
}

async function hasTiedHead(folder: string): Promise<boolean> {
  const config = (await json(join(folder, 'config.json'))) as {
    thinker_config?: { text_config?: { tie_word_embeddings?: unknown } };
  };
  return config.thinker_config?.text_config?.tie_word_embeddings === true;
}

/** The tensors of model.safetensors, or of the shards that its index names. */
async function tensorsOf(folder: string): Promise<readonly Tensor[]> {
  const index = (await json(join(folder, 'model.safetensors.index.json'))) as
    { weight_map?: Readonly<Record<string, string>> } | undefined;
  const shards = index === undefined ? ['model.safetensors'] : new Set(Object.values(index.weight_map ?? {}));
  const found: Tensor[] = [];
  for (const shard of shards) found.push(...(await headerOf(join(folder, shard))));
  return found;
}

/** Reads the header of a safetensors file: its length in 8 bytes, then JSON. */
async function headerOf(path: string): Promise<readonly Tensor[]> {
  const file = await open(path).catch((error: Error) => {
    throw new ParleyError('MALFORMED', `${path} cannot be read (${error.message})`, { cause: error });
  });
  try {
    const { size } = await file.stat();
    const length = Buffer.alloc(8);
    await file.read(length, 0, 8, 0);
    const headerBytes = Number(length.readBigUInt64LE());
    if (headerBytes > Math.min(size - 8, MOST_HEADER_BYTES)) throw cutOff(path);
    const header = Buffer.alloc(headerBytes);
    await file.read(header, 0, headerBytes, 8);
    return tensorsIn(header, { path, dataFrom: 8 + headerBytes, dataBytes: size - 8 - headerBytes });
  } finally {
    await file.close();
  }
}

interface WeightFile {
  readonly path: string;
  /** Bytes up to the end of the header. */
  readonly dataFrom: number;
  /** Bytes behind the header. */
  readonly dataBytes: number;
}

function tensorsIn(header: Buffer, { path, dataFrom, dataBytes }: WeightFile): readonly Tensor[] {
  let entries: unknown;
  try {
    entries = JSON.parse(header.toString('utf8'));
  } catch (error) {
    throw new ParleyError('MALFORMED', `${path} is no safetensors file`, { cause: error });
  }
  if (!isObject(entries)) throw new ParleyError('MALFORMED', `${path} is no safetensors file`);
  return Object.entries(entries).flatMap(([name, entry]) => {
    if (name === '__metadata__') return [];
    const { shape, data_offsets: offsets } = isObject(entry) ? entry : {};
    const [from = -1, to = -1] = sizesIn(offsets) ?? [];
    const sizes = sizesIn(shape);
    if (sizes === undefined || from < 0 || from > to) {
      throw new ParleyError('MALFORMED', `${path} describes ${name} without shape or place`);
    }
    if (to > dataBytes) throw cutOff(path);
    const elements = sizes.reduce((product, size) => product * size, 1);
    return [{ name, bytes: to - from, elements, from: dataFrom + from }];
  });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Undefined unless it is a list of whole numbers from 0. */
function sizesIn(value: unknown): readonly number[] | undefined {
  const isSize = (size: unknown) => Number.isSafeInteger(size) && (size as number) >= 0;
  return Array.isArray(value) && value.every(isSize) ? (value as readonly number[]) : undefined;
}

function cutOff(path: string): ParleyError {
  return new ParleyError('MALFORMED', `${path} is cut off, or no safetensors file`);
}

function total(tensors: readonly Tensor[], bytesOf: (tensor: Tensor) => number): number {
  return tensors.reduce((sum, tensor) => sum + bytesOf(tensor), 0);
}

/** Undefined if there is no such file. Throws MALFORMED for other content. */
async function json(path: string): Promise<unknown> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new ParleyError('MALFORMED', `${path} cannot be read as JSON`, { cause: error });
  }
}
