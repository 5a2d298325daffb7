// Opens a folder with a Moonshine model: graphs, tokenizer and configuration.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkPulled, checksumsIn } from '../../config/onnx-cache.js';
import { asParleyError, ParleyError } from '../../errors.js';
import type { MoonshineGraphs } from './graphs.js';
import { rulesOfLanguage } from './moonshine-languages.js';
import type { StreamRules } from './moonshine-stream.js';
import { type FileHashes, OnnxGraphs } from './onnx-graphs.js';
import { readStreamingConfig, type StreamingConfig } from './streaming-config.js';
import { MoonshineTokenizer } from './tokenizer.js';

const CONFIG = 'streaming_config.json';
const TOKENIZER = 'tokenizer.bin';

export interface ModelFolder {
  readonly directory: string;
  /** BCP 47 primary tag. */
  readonly language: string;
}

/** Files of a model that are read without the graphs. */
interface ModelFiles {
  readonly config: StreamingConfig;
  readonly tokenizer: MoonshineTokenizer;
}

export interface MoonshineModel extends ModelFiles {
  readonly language: string;
  readonly rules: StreamRules;
  readonly hasSpaces: boolean;
  readonly graphs: MoonshineGraphs;
  /** Of all files that were read. */
  readonly hashes: FileHashes;
}

/** Rejects with ENGINE_UNAVAILABLE, naming the folder and the defect. Graphs are not opened. */
export async function readModelFiles({ directory }: ModelFolder): Promise<ModelFiles> {
  try {
    const config = await readStreamingConfig(join(directory, CONFIG));
    const tokenizer = await MoonshineTokenizer.read(join(directory, TOKENIZER), config.sizes.vocabulary);
    return { config, tokenizer };
  } catch (cause) {
    throw unusable(directory, cause);
  }
}

/**
 * Rejects with ENGINE_UNAVAILABLE, naming the folder and the defect, also for a file that is not as it was
 * pulled.
 */
export async function openModel(folder: ModelFolder): Promise<MoonshineModel> {
  const { directory, language } = folder;
  const files = await readModelFiles(folder);
  try {
    await checkPulled([...checksumsIn(directory).keys()].map((name) => join(directory, name)));
    const others = await hashesOf([CONFIG, TOKENIZER].map((name) => join(directory, name)));
    const { graphs, hashes } = await OnnxGraphs.open(directory, files.config.sizes);
    const { tokensPerSecond, hasSpaces } = rulesOfLanguage(language);
    return {
      ...files,
      graphs,
      hashes: { ...others, ...hashes },
      language,
      rules: { tokensPerSecond },
      hasSpaces,
    };
  } catch (cause) {
    throw unusable(directory, cause);
  }
}

async function hashesOf(paths: readonly string[]): Promise<FileHashes> {
  const one = async (path: string) =>
    createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
  return Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await one(path)])));
}

function unusable(directory: string, cause: unknown): ParleyError {
  const { message } = asParleyError(cause, 'ENGINE_UNAVAILABLE');
  const text = `the Moonshine model of ${directory} cannot be used: ${message}`;
  return new ParleyError('ENGINE_UNAVAILABLE', text, { cause });
}
