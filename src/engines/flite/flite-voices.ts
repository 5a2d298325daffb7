// The voices inside flite's binary, with how loud each is made.
import type { Voice } from '../engine.js';

export interface FliteVoice extends Voice {
  /** Hz. */
  readonly rate: number;
  /** Brings the voice to the loudness of `awb`; measured as RMS over a paragraph, and short of clipping. */
  readonly gain: number;
}

function voice(name: string, tag: string, rate: number, gain: number, description: string): FliteVoice {
  return { name, engine: 'flite', languages: [tag, 'en'], rate, gain, description };
}

/** The default first. */
export const FLITE_VOICES: readonly FliteVoice[] = [
  voice('slt', 'en-US', 16_000, 0.6, 'American woman'),
  voice('rms', 'en-US', 16_000, 1.05, 'American man'),
  voice('awb', 'en-GB', 16_000, 1, 'Scottish man'),
  voice('kal16', 'en-US', 16_000, 2.3, 'American man, older and more mechanical'),
  voice('kal', 'en-US', 8000, 0.95, 'American man, telephone quality, least work'),
];
