// Reads the variables of the model hub and of its cache. The server never asks the hub: only `parley pull`
// does.
import { ParleyError } from '../errors.js';
import { ConfigReader, type Environment } from './environment.js';
import { hubCache, type ModelConfig } from './model-config.js';
import type { Variable } from './variables.js';

const PUBLIC_HUB = 'https://huggingface.co';
const MOONSHINE_SERVER = 'https://download.moonshine.ai';

interface HubConfig {
  /** The address of the hub, as it was set. */
  readonly endpoint: string;
  /** The address of the server with Moonshine's models, as it was set. */
  readonly moonshineEndpoint: string;
  /** Undefined: the hub is asked without a token. */
  readonly token: string | undefined;
  /** Folder of the cache that huggingface_hub and MODEL_ID share. */
  readonly cache: string;
}

export function readHubConfig(env: Environment): HubConfig {
  const read = new ConfigReader<Variable>(env);
  const endpoint = read.raw('HF_ENDPOINT') ?? PUBLIC_HUB;
  const moonshineEndpoint = read.raw('MOONSHINE_ENDPOINT') ?? MOONSHINE_SERVER;
  return { endpoint, moonshineEndpoint, token: read.raw('HF_TOKEN'), cache: hubCache(env) };
}

/** The places of checkpoints, and the way in which the server would load them. */
export interface CheckpointConfig {
  readonly cache: string;
  /** Folders that variables name. */
  readonly folders: readonly string[];
  readonly loadedAs: Pick<ModelConfig, 'quantize' | 'codecFormat'>;
}

/** Throws CONFIG_INVALID for a QUANTIZE or CODEC_FORMAT that does not exist. */
export function readCheckpointConfig(env: Environment): CheckpointConfig {
  const read = new ConfigReader<Variable>(env);
  const folders = (['MODEL_DIR', 'ASR_MODEL_DIR', 'ALIGNER_MODEL_DIR'] as const).map((name) =>
    read.raw(name),
  );
  const quantize = read.choice('QUANTIZE', ['none', 'int8', 'int8-talker', 'fp8'], 'none');
  const codecFormat = read.choice('CODEC_FORMAT', ['f32', 'f16', 'bf16'], 'f32');
  if (read.problems.length > 0) throw new ParleyError('CONFIG_INVALID', read.problems.join('; '));
  return {
    cache: hubCache(env),
    folders: folders.filter((folder) => folder !== undefined),
    loadedAs: { quantize, codecFormat },
  };
}
