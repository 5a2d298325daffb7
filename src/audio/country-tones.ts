// Tones of the telephone networks of countries (ITU-T E.180, supplement 2), as data: what a caller hears
// while the far end rings, is busy, or cannot be reached. Also the tones of keys.
//
//   '440+480 2000/4000'            two sines, 2 s on, 4 s off
//   '400x25 400/200/400/2000'      400 Hz whose level goes up and down 25 times a second
import { ParleyError } from '../errors.js';

export const PROGRESS_TONES = ['ring_back', 'busy', 'reorder'] as const;
export type ProgressTone = (typeof PROGRESS_TONES)[number];

type CountryTones = Readonly<Record<ProgressTone, string>>;

// prettier-ignore
const COUNTRIES = {
  AT: { ring_back: '420 1000/5000', busy: '420 400/400', reorder: '420 200/200' },
  AU: { ring_back: '413+438 400/200/400/2000', busy: '425 375/375', reorder: '425 375/375' },
  BR: { ring_back: '425 1000/4000', busy: '425 250/250', reorder: '425 250/250/750/250' },
  CA: { ring_back: '440+480 2000/4000', busy: '480+620 500/500', reorder: '480+620 250/250' },
  CH: { ring_back: '425 1000/4000', busy: '425 500/500', reorder: '425 200/200' },
  CN: { ring_back: '450 1000/4000', busy: '450 350/350', reorder: '450 700/700' },
  DE: { ring_back: '425 1000/4000', busy: '425 480/480', reorder: '425 240/240' },
  ES: { ring_back: '425 1500/3000', busy: '425 200/200', reorder: '425 200/200/200/200/200/600' },
  FR: { ring_back: '440 1500/3500', busy: '440 500/500', reorder: '440 250/250' },
  GB: { ring_back: '400+450 400/200/400/2000', busy: '400 375/375', reorder: '400 400/350/225/525' },
  IN: { ring_back: '400x25 400/200/400/2000', busy: '400 750/750', reorder: '400 250/250' },
  IT: { ring_back: '425 1000/4000', busy: '425 500/500', reorder: '425 200/200' },
  JP: { ring_back: '400x16 1000/2000', busy: '400 500/500', reorder: '400 500/500' },
  KR: { ring_back: '440+480 1000/2000', busy: '480+620 500/500', reorder: '480+620 300/200' },
  MX: { ring_back: '425 1000/4000', busy: '425 250/250', reorder: '425 250/250' },
  NL: { ring_back: '425 1000/4000', busy: '425 500/500', reorder: '425 250/250' },
  PT: { ring_back: '425 1000/5000', busy: '425 500/500', reorder: '425 200/200' },
  RU: { ring_back: '425 1000/4000', busy: '425 350/350', reorder: '425 175/175' },
  US: { ring_back: '440+480 2000/4000', busy: '480+620 500/500', reorder: '480+620 250/250' },
} as const satisfies Readonly<Record<string, CountryTones>>;

/** ISO 3166-1 code of a country whose tones are known. */
export type Country = keyof typeof COUNTRIES;

export const TONE_COUNTRIES = Object.keys(COUNTRIES) as readonly Country[];

/** Three tones before a spoken announcement of the network (E.180, special information tone). */
const SIT = ['950 330/0', '1400 330/0', '1800 330/1000'];

/** A tone as sines and their cadence. */
export interface Cadence {
  /** Hz: one sine, or two. */
  readonly hz: readonly number[];
  /** Hz by which the level of the sine goes up and down; 0 leaves it steady. */
  readonly modulation: number;
  /** Milliseconds of sound, silence, sound, … */
  readonly ms: readonly number[];
}

export function cadenceOf(country: Country, tone: ProgressTone): Cadence {
  return cadenceIn(COUNTRIES[country][tone]);
}

function cadenceIn(text: string): Cadence {
  const [sines = '', steps = ''] = text.split(' ');
  const [carrier = '', modulation = '0'] = sines.split('x');
  return {
    hz: carrier.split('+').map(Number),
    modulation: Number(modulation),
    ms: steps.split('/').map(Number),
  };
}

/** Sound of one cycle. Cycles follow each other without a seam. */
export interface ToneSound {
  readonly samples: Float32Array;
  /** Hz. */
  readonly sampleRate: number;
}

const RATE = 8000; // Hz
const FULL_DBM0 = 3.14; // level of a sine of full scale (ITU-T G.711)
const PROGRESS_DBM0 = -13; // of each sine (E.180: -10 ± 5 in all)
const EDGE_MS = 2; // without it the edges of a tone click

export function progressSound(country: Country, tone: ProgressTone): ToneSound {
  return { samples: cycleOf(cadenceOf(country, tone)), sampleRate: RATE };
}

/** The same everywhere. */
export function informationSound(): ToneSound {
  return { samples: joined(SIT.map((text) => cycleOf(cadenceIn(text)))), sampleRate: RATE };
}

function cycleOf({ hz, modulation, ms }: Cadence): Float32Array {
  const level = amplitudeOf(PROGRESS_DBM0);
  const sines = hz.map((one) => ({ hz: one, level }));
  return joined(
    ms.map((step, index) =>
      index % 2 === 0 ? burst(sines, step, modulation) : new Float32Array(samplesIn(step)),
    ),
  );
}

interface Sine {
  readonly hz: number;
  readonly level: number;
}

function burst(sines: readonly Sine[], ms: number, modulation = 0): Float32Array {
  const length = samplesIn(ms);
  const edge = samplesIn(EDGE_MS);
  return Float32Array.from({ length }, (_, n) => {
    const radians = (2 * Math.PI * n) / RATE;
    const swing = modulation === 0 ? 1 : (1 + Math.sin(modulation * radians)) / 2;
    const gate = Math.min(1, (n + 1) / edge, (length - n) / edge);
    return gate * swing * sines.reduce((sum, { hz, level }) => sum + level * Math.sin(hz * radians), 0);
  });
}

function amplitudeOf(dbm0: number): number {
  return 10 ** ((dbm0 - FULL_DBM0) / 20);
}

function samplesIn(ms: number): number {
  return Math.round((RATE * ms) / 1000);
}

function joined(parts: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

const LOW_HZ = [697, 770, 852, 941]; // ITU-T Q.23
const HIGH_HZ = [1209, 1336, 1477, 1633];
const KEYS = '123A456B789C*0#D';
const LOW_DBM0 = -8; // the lines weaken high frequencies more
const HIGH_DBM0 = -6;
const COMMA_MS = 500;

/**
 * The tones of keys, one after another; a comma is half a second of silence. Throws INVALID_FIELD for what is
 * no key.
 */
export function keySound(digits: string, { durationMs, pauseMs }: KeyTimes): ToneSound {
  const parts = Array.from(digits.toUpperCase()).flatMap((digit) => {
    if (digit === ',') return [new Float32Array(samplesIn(COMMA_MS))];
    const key = KEYS.indexOf(digit);
    if (key < 0) throw new ParleyError('INVALID_FIELD', `there is no key ${digit}`, { field: 'digits' });
    const low = { hz: LOW_HZ[key >> 2] ?? 0, level: amplitudeOf(LOW_DBM0) };
    const high = { hz: HIGH_HZ[key & 3] ?? 0, level: amplitudeOf(HIGH_DBM0) };
    return [burst([low, high], durationMs), new Float32Array(samplesIn(pauseMs))];
  });
  return { samples: joined(parts), sampleRate: RATE };
}

export interface KeyTimes {
  readonly durationMs: number;
  readonly pauseMs: number;
}
