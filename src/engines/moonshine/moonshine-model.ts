// Opens a folder with a Moonshine model: graphs, tokenizer and configuration.
import { join } from 'node:path';
import { asParleyError, ParleyError } from '../../errors.js';
import type { MoonshineGraphs } from './graphs.js';
import { rulesOfLanguage } from './moonshine-languages.js';
import type { StreamRules } from './moonshine-stream.js';
import { type FileHashes, OnnxGraphs } from './onnx-graphs.js';
import { readStreamingConfig, type StreamingConfig } from './streaming-config.js';
import { MoonshineTokenizer } from './tokenizer.js';

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
  /** Of the graphs. */
  readonly hashes: FileHashes;
}

/** Rejects with ENGINE_UNAVAILABLE, naming the folder and the defect. Graphs are not opened. */
export async function readModelFiles({ directory }: ModelFolder): Promise<ModelFiles> {
  try {
    const config = await readStreamingConfig(join(directory, 'streaming_config.json'));
    const { vocabulary } = config.sizes;
    const tokenizer = await MoonshineTokenizer.read(join(directory, 'tokenizer.bin'), vocabulary);
    return { config, tokenizer };
  } catch (cause) {
    throw unusable(directory, cause);
  }
}

/** Rejects with ENGINE_UNAVAILABLE, naming the folder and the defect. */
export async function openModel(folder: ModelFolder): Promise<MoonshineModel> {
  const files = await readModelFiles(folder);
  try {
    const opened = await OnnxGraphs.open(folder.directory, files.config.sizes);
    const { tokensPerSecond, hasSpaces } = rulesOfLanguage(folder.language);
    return { ...files, ...opened, language: folder.language, rules: { tokensPerSecond }, hasSpaces };
  } catch (cause) {
    throw unusable(folder.directory, cause);
  }
}

function unusable(directory: string, cause: unknown): ParleyError {
  const { message } = asParleyError(cause, 'ENGINE_UNAVAILABLE');
  const text = `the Moonshine model of ${directory} cannot be used: ${message}`;
  return new ParleyError('ENGINE_UNAVAILABLE', text, { cause });
}
