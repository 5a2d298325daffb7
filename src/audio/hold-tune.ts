// Music for callers who wait, made by this program: plucked chords of C, A minor, F and G, slow and soft. The
// sound of the last notes rings on in the first, so that the tune repeats without a seam.
import type { ToneSound } from './country-tones.js';

const RATE = 16_000; // Hz
const BEAT = RATE / 2; // samples: 120 beats a minute
const BEATS_OF_CHORD = 8;
const LEVEL = 0.11; // of one note; seldom more than three sound at once
const RING_SECONDS = 2.4;
const DECAY_SECONDS = 0.55;
const ATTACK = RATE / 100;
const OVERTONES = [1, 0.35, 0.12]; // amplitudes of the harmonics
const A4_HZ = 440;
const A4_KEY = 69; // MIDI

/** Keys (MIDI) of each chord from its bass on, and the order in which they are plucked. */
const CHORDS = [
  [48, 60, 64, 67, 72],
  [45, 57, 60, 64, 69],
  [41, 53, 57, 60, 65],
  [43, 55, 59, 62, 67],
] as const;
const ORDER = [0, 2, 3, 4, 3, 2, 1, 2] as const;

export function holdTune(): ToneSound {
  const samples = new Float32Array(CHORDS.length * BEATS_OF_CHORD * BEAT);
  for (const [bar, chord] of CHORDS.entries()) {
    for (const [beat, place] of ORDER.entries()) {
      pluck(samples, (bar * BEATS_OF_CHORD + beat) * BEAT, chord[place]);
    }
  }
  return { samples, sampleRate: RATE };
}

function pluck(samples: Float32Array, from: number, key: number): void {
  const radians = (2 * Math.PI * A4_HZ * 2 ** ((key - A4_KEY) / 12)) / RATE;
  const length = RING_SECONDS * RATE;
  for (let n = 0; n < length; n++) {
    const fade = Math.min(1, n / ATTACK) * Math.exp(-n / (DECAY_SECONDS * RATE)) * (1 - n / length);
    const wave = OVERTONES.reduce(
      (sum, level, index) => sum + level * Math.sin((index + 1) * radians * n),
      0,
    );
    const at = (from + n) % samples.length;
    samples[at] = (samples[at] ?? 0) + LEVEL * fade * wave;
  }
}
