// Scripted callers say sentences of one or more parts with pauses between them. Each word has its end.
import { silence, joined } from '../../hearing/sounds.js';
import { SAMPLE_RATE } from '../../../src/hearing/ear-source.js';

/** Words without a pause, 16 kHz mono. */
export interface SpokenPart {
  readonly text: string;
  readonly samples: Float32Array;
}

export interface Spoken {
  readonly sound: Float32Array;
  /** Milliseconds from the beginning of the sound to the end of each word. */
  readonly words: readonly { readonly word: string; readonly endMs: number }[];
  /** The pauses between the parts, in milliseconds from the beginning of the sound. */
  readonly pauses: readonly { readonly fromMs: number; readonly toMs: number }[];
}

const QUIET = 0.003; // -50 dBFS
const MARGIN = SAMPLE_RATE / 100; // 10 ms, so that nothing is cut off

/** Without the silence at both ends. */
export function trimmed(samples: Float32Array): Float32Array {
  const isHeard = (sample: number) => Math.abs(sample) > QUIET;
  const [first, last] = [samples.findIndex(isHeard), samples.findLastIndex(isHeard)];
  return samples.slice(Math.max(0, first - MARGIN), Math.min(samples.length, last + MARGIN));
}

/** `pausesMs`: the silence after each part but the last. */
export function spokenOf(parts: readonly SpokenPart[], pausesMs: readonly number[] = []): Spoken {
  const sounds: Float32Array[] = [];
  const words: Spoken['words'][number][] = [];
  const pauses: Spoken['pauses'][number][] = [];
  let atMs = 0;
  for (const [n, { text, samples }] of parts.entries()) {
    const lengthMs = (1000 * samples.length) / SAMPLE_RATE;
    for (const { word, endMs } of timed(text, lengthMs)) words.push({ word, endMs: atMs + endMs });
    sounds.push(samples);
    atMs += lengthMs;
    const pauseMs = n < parts.length - 1 ? (pausesMs[n] ?? 0) : 0;
    if (pauseMs === 0) continue;
    sounds.push(silence(pauseMs));
    pauses.push({ fromMs: atMs, toMs: atMs + pauseMs });
    atMs += pauseMs;
  }
  return { sound: joined(...sounds), words, pauses };
}

/** Each word takes a share of the time by its letters. The last one ends with the sound. */
function timed(text: string, lengthMs: number) {
  const words = text.split(' ').filter((word) => word !== '');
  const letters = words.reduce((sum, { length }) => sum + length, 0);
  let before = 0;
  return words.map((word) => {
    before += word.length;
    return { word, endMs: (lengthMs * before) / letters };
  });
}
