// Recognises a Pocket TTS checkpoint by its tensors, and computes what its weights need.
import type { CheckpointConfig } from '../config/hub-config.js';
import type { WeightNeeds } from './catalog.js';

export interface Tensor {
  readonly name: string;
  readonly bytes: number;
  readonly elements: number;
  /** Bytes of its file before it. */
  readonly from: number;
}

type LoadedAs = CheckpointConfig['loadedAs'];

/** True for the tensors of a Pocket TTS model, whose folder has no config.json. */
export function isPocket(tensors: readonly Tensor[]): boolean {
  return tensors.some(({ name }) => name === 'flow_lm.bos_emb');
}

/** The encoder makes voices of recordings. Open repositories have zeros in its place. */
const ENCODER = /^mimi\.(?:encoder|encoder_transformer|downsample)\./;
const BACKBONE_MATRIX = /^flow_lm\.transformer\.layers\.\d+\..*(?:proj|linear\d)\.weight$/;
/** Tensors that a frame does not read, or of which it reads a row. */
const NOT_OF_A_FRAME = /^flow_lm\.(?:conditioner|speaker_proj|bos|flow_net\.time_embed)/;

/** The native engine loads the encoder unless this tensor has zeros alone. */
export const FIRST_OF_ENCODER = 'mimi.encoder.model.0.conv.weight';

interface PocketLoad extends Pick<LoadedAs, 'quantize'> {
  /** A model that clones loads the encoder with its other weights. */
  readonly clones: boolean;
}

export function pocketNeeds(tensors: readonly Tensor[], { quantize, clones }: PocketLoad): WeightNeeds {
  const isOfFrame = ({ name }: Tensor) => !NOT_OF_A_FRAME.test(name) && !ENCODER.test(name);
  const loaded = tensors.filter(({ name }) => clones || !ENCODER.test(name));
  const bytesOf = ({ name, bytes, elements }: Tensor) =>
    quantize !== 'none' && BACKBONE_MATRIX.test(name) ? Math.min(bytes, elements) : bytes;
  const sumOf = (some: readonly Tensor[]) => some.reduce((sum, tensor) => sum + bytesOf(tensor), 0);
  return {
    memoryBytes: sumOf(loaded),
    stepBytes: sumOf(loaded.filter(isOfFrame)),
  };
}

const PUBLISHED_ENCODER_BYTES = 19e6;

/** Figures of the published files with QUANTIZE=none, for a model that is not in the cache. */
export function publishedPocketNeeds(layers: 6 | 24, clones: boolean): WeightNeeds {
  const encoder = clones ? PUBLISHED_ENCODER_BYTES : 0;
  const [memoryBytes, stepBytes] = layers === 6 ? [200e6, 190e6] : [653e6, 643e6];
  return { memoryBytes: memoryBytes + encoder, stepBytes };
}
