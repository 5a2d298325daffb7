// What a checkpoint's sound is known by on every machine that has a copy of it:
// a hash over the names, sizes and pieces of its files. Weights are gigabytes, so
// pieces of each stand for all of it: models of the same sizes that were trained
// otherwise differ in nearly every one of them.
import { createHash, type Hash } from 'node:crypto';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';

const FILE = /\.(?:json|txt|safetensors)$/;
const FOLDERS = ['', 'speech_tokenizer'];
const PIECES = 64; // of a file
const PIECE_BYTES = 4096;

/** Rejects where a file cannot be read. */
export async function checkpointIdentity(directory: string): Promise<string> {
  const hash = createHash('sha256');
  for (const folder of FOLDERS) {
    const names = (await readdir(join(directory, folder))).filter((name) => FILE.test(name)).toSorted();
    for (const name of names) await addFile(hash, directory, join(folder, name));
  }
  return hash.digest('hex');
}

/** Its beginning, its end, and what lies between them at even distances; all of a small one. */
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
