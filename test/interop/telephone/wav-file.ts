// WAV files of 16-bit samples, as peers play and record them. What records may
// not have written the lengths yet: the data then goes on to the end.
import { readFileSync, writeFileSync } from 'node:fs';
import type { Sound } from './sound-shape.js';

const HEADER_BYTES = 44;

export function writeWav(path: string, sound: Sound): void {
  writeFileSync(path, wavBytes(sound));
}

/** Mono, 16 bits. */
export function wavBytes({ samples, rate }: Sound): Buffer {
  const head = Buffer.alloc(HEADER_BYTES);
  const dataBytes = 2 * samples.length;
  head.write('RIFF', 0);
  head.writeUInt32LE(HEADER_BYTES - 8 + dataBytes, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20); // PCM
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(2 * rate, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(dataBytes, 40);
  const data = Buffer.alloc(dataBytes);
  samples.forEach((sample, n) =>
    data.writeInt16LE(Math.round(Math.max(-1, Math.min(1, sample)) * 32_767), 2 * n),
  );
  return Buffer.concat([head, data]);
}

/** The first channel in [-1, 1]. Throws for a file that is no WAV of 16 bits. */
export function readWav(path: string): Sound {
  const file = readFileSync(path);
  let channels = 0;
  let rate = 0;
  for (let at = 12; at + 8 <= file.length;) {
    const name = file.toString('latin1', at, at + 4);
    const length = file.readUInt32LE(at + 4);
    if (name === 'fmt ') {
      if (file.readUInt16LE(at + 22) !== 16) throw new Error(`${path} does not hold 16-bit samples`);
      [channels, rate] = [file.readUInt16LE(at + 10), file.readUInt32LE(at + 12)];
    }
    if (name === 'data' && channels > 0) {
      const known = length > 0 && at + 8 + length <= file.length;
      return {
        samples: firstChannel(file.subarray(at + 8, known ? at + 8 + length : undefined), channels),
        rate,
      };
    }
    at += 8 + length + (length % 2);
  }
  throw new Error(`${path} is no WAV file`);
}

function firstChannel(data: Buffer, channels: number): Float32Array {
  const frames = Math.floor(data.length / (2 * channels));
  return Float32Array.from({ length: frames }, (_, n) => data.readInt16LE(2 * channels * n) / 32_768);
}
