// Tells checkpoints apart, on every machine with a copy.
import { createHash, type Hash } from 'node:crypto';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';

const FILE = /\.(?:json|txt|yaml|model|safetensors)$/;
const PIECES = 64; // samples taken from each file
const PIECE_BYTES = 4096;

/**
 * A hash over the names, sizes and samples of the files, equal on every machine with a copy. Weights are
 * gigabytes, so it samples each file: differently trained models of equal size differ in nearly every sample.
 * `folders`: those of its files within it; one that is absent has no files. Rejects if a file cannot be
 * read.
 */
export async function checkpointIdentity(directory: string, folders: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const folder of ['', ...folders]) {
    const all = await namesIn(join(directory, folder), folder !== '');
    const names = all.filter((name) => FILE.test(name)).toSorted();
    for (const name of names) await addFile(hash, directory, join(folder, name));
  }
  return hash.digest('hex');
}

async function namesIn(folder: string, mayBeAbsent: boolean): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (mayBeAbsent && (error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
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
