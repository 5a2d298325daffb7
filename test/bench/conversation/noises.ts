// Sounds that are no words for us, 16 kHz mono, made by program from a seed: what a caller's microphone takes
// up while our voice speaks.
import { SAMPLE_RATE } from '../../../src/hearing/ear-source.js';
import { babble } from '../../hearing/echoes.js';
import { atLevel, breath, cough, joined, keyboard, noise, random, silence } from '../../hearing/sounds.js';
import type { CallerVoices } from './voices.js';

interface Noise {
  readonly name: string;
  readonly sound: (seed: number, voices: CallerVoices) => Promise<Float32Array> | Float32Array;
  readonly variants?: number;
  /** The text that a recogniser makes of it. */
  readonly text?: (seed: number) => string;
}

const SPEECH_DB = -21; // of callers
const OTHERS_VOICE = 1;
const FAR_DB = -14; // of somebody behind the caller
const BACKCHANNELS = ['Uh-huh.', 'Okay.', 'Mhm.', 'Yeah.', 'I see.', 'Right.'] as const;
const OTHERS = [
  'The weather will be fine tomorrow, with some clouds in the north.',
  'Have you seen my keys? I put them on the table this morning.',
  'And now the news of the day from all over the country.',
] as const;

/** So many sounds of each name. */
const VARIANTS = 6;

/** All sounds, which are made before a call begins: some take seconds. */
export class NoiseSounds {
  readonly #sounds: ReadonlyMap<string, readonly Float32Array[]>;

  private constructor(sounds: ReadonlyMap<string, readonly Float32Array[]>) {
    this.#sounds = sounds;
  }

  static async make(voices: CallerVoices): Promise<NoiseSounds> {
    const sounds = new Map<string, readonly Float32Array[]>();
    for (const { name, sound, variants = VARIANTS } of NOISES) {
      const made: Float32Array[] = [];
      for (let n = 0; n < variants; n++) made.push(await sound(n, voices));
      sounds.set(name, made);
    }
    return new NoiseSounds(sounds);
  }

  /** The sound of this number, and what a recogniser makes of it. */
  get({ name, text }: Noise, number: number): { samples: Float32Array; words: string | undefined } {
    const sounds = this.#sounds.get(name) ?? [];
    const variant = number % Math.max(1, sounds.length);
    return { samples: sounds[variant] ?? new Float32Array(0), words: text?.(variant) };
  }
}

const pick = <T>(list: readonly T[], seed: number): T => list[seed % list.length] as T;

export const NOISES: readonly Noise[] = [
  { name: 'cough', sound: (seed) => cough(SPEECH_DB, seed + 2) },
  { name: 'two coughs', sound: (seed) => joined(cough(-18, seed + 3), silence(250), cough(-20, seed + 4)) },
  { name: 'breath', sound: (seed) => breath(-30, seed + 3) },
  { name: 'keyboard', sound: (seed) => keyboard(2000, -26, seed + 4) },
  { name: 'music', sound: (seed) => music(4000, -26, seed + 5) },
  { name: 'hold tone', sound: (seed) => tones(2500, pick([[425], [350, 440], [480, 620]], seed), -22) },
  { name: 'street', sound: (seed) => street(3000, -30, seed + 6) },
  { name: 'babble', sound: () => babble(6, 4, -32), variants: 1 },
  {
    name: 'another voice',
    sound: (seed, voices) => voices.speech(pick(OTHERS, seed), OTHERS_VOICE, FAR_DB),
    text: (seed) => pick(OTHERS, seed),
  },
  {
    name: 'back-channel',
    sound: (seed, voices) => voices.speech(spokenAs(pick(BACKCHANNELS, seed)), seed),
    text: (seed) => pick(BACKCHANNELS, seed),
  },
];

/** flite spells words that have no vowel. */
const spokenAs = (text: string): string => (text === 'Mhm.' ? 'Uhm hum.' : text);

/** Steady tones, half a second on and a quarter off. */
function tones(ms: number, hertz: readonly number[], db: number): Float32Array {
  const sound = silence(ms).map((_, n) => {
    const seconds = n / SAMPLE_RATE;
    if (seconds % 0.75 > 0.5) return 0;
    return hertz.reduce((sum, hz) => sum + Math.sin(2 * Math.PI * hz * seconds), 0);
  });
  return atLevel(sound, db);
}

/** Four chords of plucked strings with a bass and a beat. */
function music(ms: number, db: number, seed: number): Float32Array {
  const next = random(seed);
  const all = silence(ms);
  const beat = noise(60, -14, seed);
  for (let atMs = 0; atMs < ms; atMs += 500) {
    const root = 110 * 2 ** (pick([0, 5, 7, 9], Math.floor(4 * next())) / 12);
    for (const ratio of [1, 2, 2.52, 3]) pluck(all, atMs, root * ratio, next);
    const start = Math.round((atMs * SAMPLE_RATE) / 1000);
    for (const [n, sample] of beat.entries())
      if (start + n < all.length) all[start + n] = (all[start + n] ?? 0) + sample * Math.exp(-n / 200);
  }
  return atLevel(all, db);
}

function pluck(all: Float32Array, atMs: number, hz: number, next: () => number): void {
  const start = Math.round(((atMs + 20 * next()) * SAMPLE_RATE) / 1000);
  for (let n = 0; start + n < all.length; n++) {
    const seconds = n / SAMPLE_RATE;
    const wave = [1, 0.5, 0.3, 0.2].reduce(
      (sum, level, k) => sum + level * Math.sin(2 * Math.PI * hz * (k + 1) * seconds),
      0,
    );
    all[start + n] = (all[start + n] ?? 0) + 0.2 * wave * Math.exp(-4 * seconds);
  }
}

/** Low noise that swells and fades as cars pass by. */
function street(ms: number, db: number, seed: number): Float32Array {
  let last = 0;
  const sound = noise(ms, -10, seed).map((sample, n) => {
    last += 0.08 * (sample - last);
    return last * (0.4 + Math.sin((Math.PI * n) / (SAMPLE_RATE * 1.5)) ** 2);
  });
  return atLevel(sound, db);
}

/** The telephone of a caller whose loudspeaker is heard by its microphone. */
export class LoudspeakerEcho {
  readonly #gain: number;
  /** Sound that has not returned yet. */
  #waiting: Float32Array;
  /** States of the filters: what the loudspeaker plays has neither low nor high tones. */
  #low = 0;
  #high = 0;

  constructor(delayMs: number, db: number) {
    this.#gain = 10 ** (db / 20);
    this.#waiting = silence(delayMs);
  }

  /** Our sound is played, at any rate that is a multiple of 8 kHz. */
  play(samples: Float32Array, rate: number): void {
    const played = new Float32Array(Math.round((samples.length * SAMPLE_RATE) / rate));
    for (let n = 0; n < played.length; n++) {
      const sample = samples[Math.floor((n * rate) / SAMPLE_RATE)] ?? 0;
      this.#high += 0.7 * (sample - this.#high);
      this.#low += 0.11 * (this.#high - this.#low); // 300 Hz
      played[n] = this.#gain * (this.#high - this.#low);
    }
    this.#waiting = joined(this.#waiting, played);
  }

  /** Adds what returns now. */
  addTo(frame: Float32Array): void {
    const returned = this.#waiting.subarray(0, frame.length);
    for (const [n, sample] of returned.entries()) frame[n] = (frame[n] ?? 0) + sample;
    this.#waiting = this.#waiting.subarray(returned.length);
  }
}
