// Reads the streaming_config.json of a Moonshine model.
import { readFile } from 'node:fs/promises';

/** Sizes of the graphs of a model. */
export interface MoonshineSizes {
  /** Numbers of a feature, and of an encoded frame. */
  readonly encoder: number;
  /** Numbers of a frame of memory. */
  readonly decoder: number;
  readonly layers: number;
  readonly heads: number;
  /** Numbers of a key or a value in a head. */
  readonly headWidth: number;
  readonly vocabulary: number;
}

export interface StreamingConfig {
  readonly sizes: MoonshineSizes;
  /** The token that begins each text. */
  readonly begin: number;
  /** The token that ends each text. */
  readonly end: number;
  /** Features behind a frame that the encoder looks at. */
  readonly lookAhead: number;
  /** Most tokens of a text. */
  readonly mostTokens: number;
}

const MOST_TOKENS = 448; // readers of the published files use this where the file states none

/** Rejects with an Error that names the file and the field. */
export async function readStreamingConfig(path: string): Promise<StreamingConfig> {
  const text = await readFile(path, 'utf8');
  let fields: unknown;
  try {
    fields = JSON.parse(text);
  } catch (cause) {
    throw new Error(`${path}: is no JSON`, { cause });
  }
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields))
    throw new Error(`${path}: must hold a JSON object`);
  const known = fields as Readonly<Record<string, unknown>>;
  const number = (field: string, least: number, most: number, absent?: number): number => {
    const value = known[field] ?? absent;
    if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
    throw new Error(`${path}: ${field} must be an integer from ${least} to ${most}`);
  };
  const vocabulary = number('vocab_size', 4, 1_000_000);
  if (number('frame_len', 1, 1000) !== 80) throw new Error(`${path}: frame_len must be 80`);
  return {
    sizes: {
      encoder: number('encoder_dim', 1, 8192),
      decoder: number('decoder_dim', 1, 8192),
      layers: number('depth', 1, 128),
      heads: number('nheads', 1, 128),
      headWidth: number('head_dim', 1, 1024),
      vocabulary,
    },
    begin: number('bos_id', 0, vocabulary - 1),
    end: number('eos_id', 0, vocabulary - 1),
    lookAhead: number('total_lookahead', 0, 256),
    mostTokens: number('max_seq_len', 1, 4096, MOST_TOKENS),
  };
}
