// Describes a Qwen3-TTS checkpoint: its identity, voices, languages and capabilities.
import { createHash, type Hash } from 'node:crypto';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { EngineCapabilities, Voice } from '../engine.js';
import { primaryTag, tagOfName } from '../language-names.js';
import type { ModelFacts } from '../native/native-speech.js';

/** BCP 47 primary tags of the languages that published models speak. */
export const QWEN3_LANGUAGES: readonly string[] = [
  'de',
  'en',
  'es',
  'fr',
  'it',
  'ja',
  'ko',
  'pt',
  'ru',
  'zh',
];

/** Native languages of speakers, listed first among those of the voice. */
const NATIVE: Readonly<Record<string, string>> = {
  aiden: 'en',
  ono_anna: 'ja',
  ryan: 'en',
  sohee: 'ko',
};

/** Tags of the model's languages. */
function tagsOf(facts: ModelFacts): string[] {
  return [...new Set(facts.languages.map(tagOf))].sort();
}

/** The model's name of a language; undefined if the model does not speak it. */
export function languageOf(facts: ModelFacts, tag: string): string | undefined {
  return facts.languages.find((name) => tagOf(name) === tag);
}

/** A language without a tag keeps the name of the checkpoint. */
function tagOf(name: string): string {
  return tagOfName(name) ?? primaryTag(name);
}

export function voicesOf(facts: ModelFacts): Voice[] {
  const tags = tagsOf(facts);
  return facts.speakers.map((name) => {
    const native = NATIVE[name];
    const languages =
      native !== undefined && tags.includes(native)
        ? [native, ...tags.filter((tag) => tag !== native)]
        : tags;
    return { name, engine: 'qwen3', languages, description: `Qwen3-TTS, the speaker ${name}` };
  });
}

export function capabilitiesOf(facts: ModelFacts): EngineCapabilities {
  return {
    clone: facts.modelType === 'base',
    design: facts.modelType === 'voice_design',
    instruct: facts.modelType === 'custom_voice' && facts.takesInstruction,
    sampling: true,
    wordTimes: false,
    textStreaming: true,
    languages: tagsOf(facts),
  };
}

const FILE = /\.(?:json|txt|safetensors)$/;
const FOLDERS = ['', 'speech_tokenizer'];
const PIECES = 64; // samples taken from each file
const PIECE_BYTES = 4096;

/**
 * A hash over the names, sizes and samples of the files, equal on every machine with a copy. Weights are
 * gigabytes, so it samples each file: differently trained models of equal size differ in nearly every sample.
 * Rejects if a file cannot be read.
 */
export async function checkpointIdentity(directory: string): Promise<string> {
  const hash = createHash('sha256');
  for (const folder of FOLDERS) {
    const names = (await readdir(join(directory, folder))).filter((name) => FILE.test(name)).toSorted();
    for (const name of names) await addFile(hash, directory, join(folder, name));
  }
  return hash.digest('hex');
}

/** Adds pieces of a file at even distances, with its beginning and end; a small file is read whole. */
async function addFile(hash: Hash, directory: string, name: string): Promise<void> {
  const file = await open(join(directory, name));
  try {
    const { size } = await file.stat();
    hash.update(JSON.stringify([name, size]));
    const last = Math.max(0, size - PIECE_BYTES);
    const step = Math.max(PIECE_BYTES, Math.floor(last / (PIECES - 1)));
    const piece = Buffer.alloc(PIECE_BYTES);
    for (let at = 0; at < last + step; at += step) {
      const { bytesRead } = await file.read(piece, 0, PIECE_BYTES, Math.min(at, last));
      hash.update(piece.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}
