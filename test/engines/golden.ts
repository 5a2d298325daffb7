// Vectors of the official implementation, as safetensors hold them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const GOLDEN = join(import.meta.dirname, '../../../native/test/golden');

interface Entry {
  readonly dtype: string;
  readonly data_offsets: readonly [number, number];
}

/** One tensor of float32. */
export function goldenFloats(vectors: string, tensor: string): Float32Array {
  const bytes = readFileSync(join(GOLDEN, 'vectors', `${vectors}.safetensors`));
  const headerBytes = Number(bytes.readBigUInt64LE(0));
  const header = JSON.parse(bytes.toString('utf8', 8, 8 + headerBytes)) as Record<string, Entry>;
  const entry = header[tensor];
  if (entry?.dtype !== 'F32') throw new Error(`${vectors} has no float32 tensor ${tensor}`);
  const [from, to] = entry.data_offsets;
  const values = bytes.subarray(8 + headerBytes + from, 8 + headerBytes + to);
  return new Float32Array(new Uint8Array(values).buffer);
}
