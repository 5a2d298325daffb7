// A sentence that the tiny recogniser knows, as clients send it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toBytesS16le } from '../../src/audio/pcm16.js';
import { Resampler } from '../../src/audio/resampler.js';
import { readWav } from '../../src/codecs/wav.js';
import { GOLDEN } from '../engines/golden.js';

export const FOX = 'The quick brown fox jumps over the lazy dog.';

interface Cut {
  /** Hz. */
  readonly rate?: number;
  readonly pieceMs?: number;
  /** Silence before the sentence. */
  readonly beforeMs?: number;
}

/** Samples of 16 bits, the least significant byte first, with 1.5 s of silence at the end, in pieces. */
export function spoken({ rate = 24_000, pieceMs = 100, beforeMs = 500 }: Cut = {}): Buffer[] {
  const wav = readWav(readFileSync(join(GOLDEN, 'clips/odd37.wav')));
  const before = 16 * beforeMs;
  const samples = new Float32Array(before + wav.frames + 24_000);
  wav.read(0, 0, samples.subarray(before, before + wav.frames));
  const resampler = new Resampler(16_000, rate);
  const converted = new Float32Array(resampler.maxOutput(samples.length));
  const count = resampler.process(samples, samples.length, converted);
  const bytes = Buffer.alloc(2 * count);
  toBytesS16le(converted, count, bytes);
  const pieceBytes = (2 * rate * pieceMs) / 1000;
  return Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, n) =>
    bytes.subarray(n * pieceBytes, (n + 1) * pieceBytes),
  );
}
