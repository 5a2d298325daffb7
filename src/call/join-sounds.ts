// The sounds of calls that are joined or wait: music of the sound library, the ring-back of this server's
// country, keys, and the two sounds of a room. Each but the music is made once.
import { type Country, keySound, progressSound } from '../audio/country-tones.js';
import type { PlayedSound } from '../speaking/speech-piece.js';
import type { SoundLibrary } from '../voices/sound-library.js';
import type { JoinSounds } from './bridges.js';

const RATE = 16_000; // Hz
const CHIME_MS = 120;
const CHIME_LEVEL = 0.08; // of full scale, about -22 dBFS: a chime stays behind voices
const EDGE_MS = 12; // without it the edges of a sound click
const A3_HZ = 220;
const KEY = { durationMs: 120, pauseMs: 60 };

export interface JoinSoundParts {
  readonly library: Pick<SoundLibrary, 'sound'>;
  /** Of the ring-back. */
  readonly country: Country;
}

export function joinSounds({ library, country }: JoinSoundParts): JoinSounds {
  const [entry, exit] = [notes([12, 19], CHIME_MS), notes([19, 12], CHIME_MS)];
  const ringBack = progressSound(country, 'ring_back');
  return {
    music: (name) => library.sound(name, 'music'),
    ringBack: () => ringBack,
    keyTone: (digit) => keySound(digit, KEY),
    entry: () => entry,
    exit: () => exit,
  };
}

/**
 * Soft notes, as semitones above A3. Each decays over two beats. The last one sounds into the first, so that
 * a loop has no seam.
 */
function notes(semitones: readonly number[], beatMs: number): PlayedSound {
  const [beat, edge] = [samplesIn(beatMs), samplesIn(EDGE_MS)];
  const samples = new Float32Array(beat * semitones.length);
  for (const [index, semitone] of semitones.entries()) {
    const radians = (2 * Math.PI * A3_HZ * 2 ** (semitone / 12)) / RATE;
    for (let at = 0; at < 2 * beat; at++) {
      const gate = Math.min(1, at / edge) * (1 - at / (2 * beat)) ** 2;
      const place = (index * beat + at) % samples.length;
      samples[place] = (samples[place] as number) + CHIME_LEVEL * gate * Math.sin(radians * at);
    }
  }
  return { samples, sampleRate: RATE };
}

function samplesIn(ms: number): number {
  return Math.round((RATE * ms) / 1000);
}
