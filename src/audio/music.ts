// Music that this program makes of plucked notes: a tune for callers who wait, and the chimes of rooms. The
// sound of the last notes rings on in the first, so that a tune repeats without a seam.
import type { ToneSound } from './country-tones.js';

const RATE = 16_000; // Hz
const BEAT = RATE / 2; // samples: 120 beats a minute
const BEATS_OF_CHORD = 8;
const ATTACK = RATE / 100; // without it the edges of a note click
const A4_HZ = 440;
const A4_KEY = 69; // MIDI

interface Timbre {
  /** Amplitude of the first harmonic; 1 is full scale. */
  readonly level: number;
  readonly ringSeconds: number;
  /** Time in which the amplitude falls to 1/e. */
  readonly decaySeconds: number;
  /** Amplitudes of the harmonics. */
  readonly overtones: readonly number[];
}

/** Seldom more than three notes of the tune sound at once. */
const TUNE: Timbre = { level: 0.11, ringSeconds: 2.4, decaySeconds: 0.55, overtones: [1, 0.35, 0.12] };
/** A chime stays behind voices. */
const CHIME: Timbre = { level: 0.08, ringSeconds: 0.24, decaySeconds: 0.1, overtones: [1] };
const CHIME_NOTE = RATE * 0.12; // samples

/** Keys (MIDI) of each chord from its bass on, and the order in which they are plucked. */
const CHORDS = [
  [48, 60, 64, 67, 72],
  [45, 57, 60, 64, 69],
  [41, 53, 57, 60, 65],
  [43, 55, 59, 62, 67],
] as const;
const ORDER = [0, 2, 3, 4, 3, 2, 1, 2] as const;

/** Chords of C, A minor, F and G, slow and soft, for callers who wait. */
export function holdTune(): ToneSound {
  const samples = new Float32Array(CHORDS.length * BEATS_OF_CHORD * BEAT);
  for (const [bar, chord] of CHORDS.entries()) {
    for (const [beat, place] of ORDER.entries()) {
      pluck(samples, (bar * BEATS_OF_CHORD + beat) * BEAT, chord[place], TUNE);
    }
  }
  return { samples, sampleRate: RATE };
}

/** One note after the other, each 120 ms behind the one before. `keys` are of MIDI. */
export function chime(keys: readonly number[]): ToneSound {
  const samples = new Float32Array(keys.length * CHIME_NOTE);
  for (const [place, key] of keys.entries()) pluck(samples, place * CHIME_NOTE, key, CHIME);
  return { samples, sampleRate: RATE };
}

/** The note goes on at the beginning of the samples where it rings behind their end. */
function pluck(samples: Float32Array, from: number, key: number, timbre: Timbre): void {
  const { level, ringSeconds, decaySeconds, overtones } = timbre;
  const radians = (2 * Math.PI * A4_HZ * 2 ** ((key - A4_KEY) / 12)) / RATE;
  const length = ringSeconds * RATE;
  for (let n = 0; n < length; n++) {
    const fade = Math.min(1, n / ATTACK) * Math.exp(-n / (decaySeconds * RATE)) * (1 - n / length);
    const wave = overtones.reduce(
      (sum, amplitude, index) => sum + amplitude * Math.sin((index + 1) * radians * n),
      0,
    );
    const at = (from + n) % samples.length;
    samples[at] = (samples[at] ?? 0) + level * fade * wave;
  }
}
