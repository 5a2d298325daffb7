// Finds the toy models of light ears, and reads what they hear and answer. Their README says what they are.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const TOYS = join(import.meta.dirname, '..', '..', '..', 'test', 'onnx', 'toys');

/** The path of a file or folder of the toys, for example `turn-1-mini/turn-1-mini.step.onnx`. */
export function toy(path: string): string {
  return join(TOYS, path);
}

/** The samples of `input/NAME.s16`, from -1 to 1. */
export function toySound(name: string): Float32Array {
  const bytes = readFileSync(toy(`input/${name}.s16`));
  return Float32Array.from({ length: bytes.length / 2 }, (_, n) => bytes.readInt16LE(2 * n) / 32768);
}

/** The content of `golden/NAME.json`. */
export function toyGolden<T>(name: string): T {
  return JSON.parse(readFileSync(toy(`golden/${name}.json`), 'utf8')) as T;
}

/** The numbers of `golden/NAME.f32`. */
export function toyNumbers(name: string): Float32Array {
  const { buffer, byteOffset, byteLength } = readFileSync(toy(`golden/${name}.f32`));
  return new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength));
}
