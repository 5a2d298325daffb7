// Folders of a tiny model of Pocket TTS with random weights, under names that the engine knows.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GOLDEN } from '../golden.js';

const POCKET = join(GOLDEN, 'pocket');
export const TINY_POCKET = join(POCKET, 'tiny-current');

/** Files of the golden voices. */
const FILES = ['mono24k', 'stereo16k', 'tiny24k'];

/** A voice of a model with other layers. */
export const VOICE_OF_ANOTHER_MODEL = join(POCKET, 'tiny-first', 'embeddings', 'mono24k.safetensors');

/** Names of voices by the names of their models' folders: `english`, or `german`. */
export type Models = Readonly<Record<string, readonly string[]>>;

/** They are gone when the test ends; with `after` of node:test, when the file ends. */
export function pocketFolders(t: { readonly after: (end: () => void) => void }, models: Models) {
  const base = mkdtempSync(join(tmpdir(), 'parley-pocket-'));
  t.after(() => rmSync(base, { recursive: true }));
  return Object.entries(models).map(([name, voices]) => {
    const directory = join(base, name);
    cpSync(TINY_POCKET, directory, { recursive: true });
    rmSync(join(directory, 'embeddings'), { recursive: true });
    for (const [index, voice] of voices.entries())
      addVoice(directory, voice, join(TINY_POCKET, 'embeddings', `${FILES[index]}.safetensors`));
    return { directory, language: name === 'german' ? 'de' : 'en' };
  });
}

/**
 * Puts zeros in the place of the encoder's first convolution, as the open repositories have them: the model
 * then clones no voice.
 */
export function dropEncoder(directory: string): void {
  const path = join(directory, 'model.safetensors');
  const bytes = readFileSync(path);
  const headerBytes = 8 + Number(bytes.readBigUInt64LE(0));
  const header = JSON.parse(bytes.toString('utf8', 8, headerBytes)) as Record<
    string,
    { readonly data_offsets: readonly [number, number] }
  >;
  const [from, to] = header['mimi.encoder.model.0.conv.weight']?.data_offsets ?? [0, 0];
  if (from === to) throw new Error(`${path} has no encoder`);
  writeFileSync(path, bytes.fill(0, headerBytes + from, headerBytes + to));
}

/** Copies a voice into the folder of a model. Returns its path. */
export function addVoice(directory: string, name: string, file: string): string {
  const path = join(directory, 'embeddings', `${name}.safetensors`);
  cpSync(file, path);
  return path;
}
