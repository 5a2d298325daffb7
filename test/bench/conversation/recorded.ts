// Recordings of people who read sentences, from Debian's package pocketsphinx-testdata (16 kHz).
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readWav } from '../../../src/codecs/wav.js';
import { atLevel } from '../../hearing/sounds.js';
import { type Spoken, spokenOf, trimmed } from './spoken.js';

const FOLDER = process.env['POCKETSPHINX_DATA'] ?? '/usr/share/pocketsphinx/test/data';
const LEVEL_DB = -21; // of all callers

const FILES = [
  { file: 'goforward.raw', text: 'Go forward ten meters.' },
  { file: 'cards/001.wav', text: 'Ten of clubs.' },
  { file: 'something.raw', text: 'Go somewhere and do something.' },
  {
    file: 'librivox/sense_and_sensibility_01_austen_64kb-0880.wav',
    text: 'He was not an ill-disposed young man.',
  },
] as const;

/** Empty where the package is not installed. */
export function recordedSpeech(): Spoken[] {
  return FILES.filter(({ file }) => existsSync(join(FOLDER, file))).map(({ file, text }) => {
    const samples = trimmed(atLevel(samplesOf(join(FOLDER, file)), LEVEL_DB));
    return spokenOf([{ text, samples }]);
  });
}

function samplesOf(path: string): Float32Array {
  const bytes = readFileSync(path);
  if (path.endsWith('.raw'))
    return Float32Array.from({ length: bytes.length / 2 }, (_, n) => bytes.readInt16LE(2 * n) / 32_768);
  const wav = readWav(bytes);
  const samples = new Float32Array(wav.frames);
  wav.read(0, 0, samples);
  return samples;
}
