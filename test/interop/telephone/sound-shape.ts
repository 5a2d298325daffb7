// Compares the speech of two recordings by loudness over time, which codecs, resamplers and jitter buffers
// keep. It also reads and writes the WAV files of 16-bit samples that peers record and play.
import { readFileSync, writeFileSync } from 'node:fs';

const QUIET = 0.01; // share of full scale: below all speech, above the noise of G.711
const WINDOW_MS = 20;

/** Root mean square of each window. */
export function loudness(samples: Float32Array, rate: number, windowMs = 100): number[] {
  const window = Math.round((rate * windowMs) / 1000);
  return Array.from({ length: Math.floor(samples.length / window) }, (_, n) => {
    const part = samples.subarray(n * window, (n + 1) * window);
    return Math.sqrt(part.reduce((sum, sample) => sum + sample * sample, 0) / window);
  });
}

/** The samples without the silence at both ends. */
export function voiced(samples: Float32Array, rate: number): Float32Array {
  const window = Math.round((rate * WINDOW_MS) / 1000);
  const loud = loudness(samples, rate, WINDOW_MS).map((level) => level > QUIET);
  const [first, last] = [loud.indexOf(true), loud.lastIndexOf(true)];
  return first < 0 ? new Float32Array() : samples.subarray(first * window, (last + 1) * window);
}

export interface Sound {
  readonly samples: Float32Array;
  /** Hz. */
  readonly rate: number;
}

interface Likeness {
  /** Correlation of loudness at the best alignment, -1 to 1. */
  readonly correlation: number;
  /** Length of what sounds, of the first less that of the second. */
  readonly longerMs: number;
  /** Loudness of the first as a share of that of the second. */
  readonly gain: number;
}

/** Compares the speech in two recordings, without the silence around it. */
export function likeness(first: Sound, second: Sound): Likeness {
  const [one, other] = [first, second].map(({ samples, rate }) => {
    const speech = voiced(samples, rate);
    return { levels: loudness(speech, rate, WINDOW_MS), ms: (1000 * speech.length) / rate };
  });
  if (one === undefined || other === undefined) throw new Error('two recordings are compared');
  const correlation = best(one.levels, other.levels);
  return { correlation, longerMs: one.ms - other.ms, gain: mean(one.levels) / mean(other.levels) };
}

/** At the best alignment within 200 ms. */
function best(one: readonly number[], other: readonly number[]): number {
  let correlation = -1;
  for (let shift = -10; shift <= 10; shift++) {
    const length = Math.max(one.length, other.length);
    const pairs = Array.from({ length }, (_, n) => [one[n] ?? 0, other[n + shift] ?? 0] as const);
    correlation = Math.max(correlation, correlationOf(pairs));
  }
  return correlation;
}

/** Compares with as much of the text, from its beginning, as was heard. */
export function likenessSoFar(heard: Sound, text: Sound): Likeness {
  const speech = voiced(heard.samples, heard.rate);
  const length = Math.round((speech.length * text.rate) / heard.rate);
  const begun = { samples: voiced(text.samples, text.rate).subarray(0, length), rate: text.rate };
  return likeness({ samples: speech, rate: heard.rate }, begun);
}

/**
 * True if the parts, one after the other, are the beginning of a text: correlation of loudness, with the
 * quiet taken out of both, so that pauses between the parts count for nothing.
 */
export function partsLikeness(parts: readonly Sound[], text: Sound): number {
  const loud = ({ samples, rate }: Sound): number[] =>
    loudness(samples, rate, WINDOW_MS).filter((level) => level > QUIET);
  const heard = parts.flatMap(loud);
  return best(heard, loud(text).slice(0, heard.length));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function correlationOf(pairs: readonly (readonly [number, number])[]): number {
  const [meanX, meanY] = [mean(pairs.map(([x]) => x)), mean(pairs.map(([, y]) => y))];
  let [both, squareX, squareY] = [0, 0, 0];
  for (const [x, y] of pairs) {
    both += (x - meanX) * (y - meanY);
    squareX += (x - meanX) ** 2;
    squareY += (y - meanY) ** 2;
  }
  return squareX === 0 || squareY === 0 ? 0 : both / Math.sqrt(squareX * squareY);
}

// A program that still records may not have written the lengths of its WAV file. Its data then goes on to the
// end.

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
