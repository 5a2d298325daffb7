// Opens a folder with a Moonshine model: graphs, tokenizer and configuration, and the rules of its language.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkPulled, checksumsIn } from '../../config/onnx-cache.js';
import { asParleyError, ParleyError } from '../../errors.js';
import { primaryTag } from '../language-names.js';
import type { MoonshineGraphs } from './graphs.js';
import type { StreamRules } from './moonshine-stream.js';
import { type FileHashes, OnnxGraphs } from './onnx-graphs.js';
import { readStreamingConfig, type StreamingConfig } from './streaming-config.js';
import { MoonshineTokenizer } from './tokenizer.js';

const CONFIG = 'streaming_config.json';
const TOKENIZER = 'tokenizer.bin';

const NOT_LATIN = new Set('ar fa he hi ja ko ru th uk ur zh'.split(' '));
const WITHOUT_SPACES = new Set('ja th zh'.split(' '));

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
  /** They are of all files that were read. */
  readonly hashes: FileHashes;
}

interface LanguageRules {
  /**
   * Most tokens of a second of sound. It stops endless texts; the vendor uses 6.5, and 13 where the letters
   * are not Latin ones.
   */
  readonly tokensPerSecond: number;
  /** Spaces stand between words. */
  readonly hasSpaces: boolean;
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

/** `language` is a BCP 47 tag. */
export function rulesOfLanguage(language: string): LanguageRules {
  const tag = primaryTag(language);
  // The vocabularies of the other Latin languages are a third of the English one, so their words need more.
  const latin = tag === 'en' ? 6.5 : 9;
  return {
    tokensPerSecond: NOT_LATIN.has(tag) ? 13 : latin,
    hasSpaces: !WITHOUT_SPACES.has(tag),
  };
}
