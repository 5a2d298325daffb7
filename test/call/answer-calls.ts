// Generated calls that somebody or something answers: people, voicemails, faxes, screening services, lines
// without a sound. A seed draws texts, voices, pauses, beeps, noise, codec and loss of each call.
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { Resampler } from '../../src/audio/resampler.js';
import { ESPEAK_PACKAGE, espeakEngine, installedPackage } from '../../src/engines/espeak/espeak.js';
import type { SpeechEngine } from '../../src/engines/engine.js';
import { fliteEngine } from '../../src/engines/flite/flite.js';
import { babble, opusCoded } from '../hearing/echoes.js';
import {
  amplified,
  atLevel,
  companded,
  filtered,
  joined,
  mixed,
  noise,
  random,
  silence,
} from '../hearing/sounds.js';
import { GREETINGS } from './answer-greetings.js';

export type Answerer = 'human' | 'machine' | 'screening' | 'fax' | 'silence' | 'intercept';

/** A part of what the far end says. Times are of the sound. */
export interface SaidWords {
  readonly text: string;
  readonly beginMs: number;
  readonly endMs: number;
}

/** The classes that a call belongs to, by which a bench sorts its mistakes. */
export interface CallClasses {
  /** Flite, espeak with its language, `recorded`, or none. */
  readonly voice: string;
  readonly codec: 'G.711' | 'Opus' | 'mobile';
  readonly background: 'noise' | 'noise above -50 dB' | 'crowd';
  readonly loss: 'none' | 'up to 3 %' | 'more';
}

export interface AnsweredSound {
  readonly name: string;
  readonly answerer: Answerer;
  readonly classes: CallClasses;
  /** 16 kHz, from the early media on. */
  readonly sound: Float32Array;
  readonly answeredMs: number;
  readonly said: readonly SaidWords[];
  /** End of the greeting's speech; undefined without any. */
  readonly greetingEndMs?: number;
  readonly beep?: { readonly beginMs: number; readonly endMs: number; readonly hz: number };
}

const PER_MS = 16;
const LEVELS_DB = [-30, -17] as const;
const RECORDINGS = '/usr/share/pocketsphinx/test/data';
const FLITE = ['slt', 'rms', 'awb', 'kal16', 'kal'] as const;

/** Speaks the texts, each one once for a voice. Close it. */
export class Speakers {
  readonly #flite = fliteEngine({ maxWaiting: 100, renderTimeoutMs: 60_000 });
  readonly #espeak: SpeechEngine;
  readonly #spoken = new Map<string, Promise<Float32Array>>();

  constructor() {
    const packageFile = installedPackage(ESPEAK_PACKAGE);
    if (packageFile === undefined) throw new Error(`${ESPEAK_PACKAGE} is not installed`);
    this.#espeak = espeakEngine({ maxWaiting: 100, renderTimeoutMs: 60_000, packageFile });
  }

  /** Names of the voices of a language. */
  async voices(language: string): Promise<readonly string[]> {
    const tags = GREETINGS[language]?.voices ?? [];
    const all = await this.#espeak.voices();
    const own = all.filter(({ languages }) => languages.some((tag) => tags.includes(tag)));
    return [...(language === 'en' ? FLITE : []), ...own.map(({ name }) => name)];
  }

  /** Without the silence before and behind it. */
  speak(text: string, voice: string, language: string): Promise<Float32Array> {
    const key = `${voice} ${text}`;
    let spoken = this.#spoken.get(key);
    if (spoken === undefined) this.#spoken.set(key, (spoken = this.#speak(text, voice, language)));
    return spoken;
  }

  async #speak(text: string, voice: string, language: string): Promise<Float32Array> {
    const engine = FLITE.some((name) => name === voice) ? this.#flite : this.#espeak;
    const rate = engine.sampleRate(voice);
    const ring = PcmRing.open(rate, rate * 40);
    await this.#loaded(engine);
    await engine.synthesize({ text, voice, language }, ring, new AbortController().signal);
    const samples = new Float32Array(rate * 40);
    const count = ring.read(samples);
    ring.close();
    return trimmed(at16k(samples.subarray(0, count), rate));
  }

  /** On a busy machine an engine may not start in time at first. */
  async #loaded(engine: SpeechEngine): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await engine.load();
      } catch (error) {
        if (tries === 4) throw error;
        await sleep(3500);
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#flite.close(), this.#espeak.close()]);
  }
}

function at16k(samples: Float32Array, rate: number): Float32Array {
  if (rate === 16_000) return samples.slice();
  const resampler = new Resampler(rate, 16_000, samples.length);
  const all = new Float32Array(resampler.maxOutput(samples.length) + resampler.maxFlush);
  return all.slice(0, resampler.process(samples, samples.length, all));
}

function trimmed(sound: Float32Array): Float32Array {
  const peak = sound.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  const isLoud = (sample: number) => Math.abs(sample) > peak / 30;
  return sound.slice(Math.max(0, sound.findIndex(isLoud)), sound.findLastIndex(isLoud) + 1);
}

/** Numbers that a seed draws. */
class Draw {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = random(seed);
    for (let n = 0; n < 9; n++) this.#next(); // the first numbers of near seeds resemble each other
  }

  chance(share: number): boolean {
    return this.#next() < share;
  }

  between(least: number, most: number): number {
    return least + (most - least) * this.#next();
  }

  whole(least: number, most: number): number {
    return Math.round(this.between(least, most));
  }

  of<T>(list: readonly T[]): T {
    return list[Math.min(list.length - 1, Math.floor(this.#next() * list.length))] as T;
  }
}

/** The sound of one call while it is put together. */
class Track {
  readonly #parts: Float32Array[] = [];
  #samples = 0;
  readonly said: SaidWords[] = [];

  get ms(): number {
    return this.#samples / PER_MS;
  }

  add(sound: Float32Array, text?: string): { readonly beginMs: number; readonly endMs: number } {
    const beginMs = this.ms;
    this.#parts.push(sound);
    this.#samples += sound.length;
    const place = { beginMs, endMs: this.ms };
    if (text !== undefined) this.said.push({ text, ...place });
    return place;
  }

  pause(ms: number): void {
    this.add(silence(ms));
  }

  get sound(): Float32Array {
    return joined(...this.#parts);
  }
}

const tone = (ms: number, ...hz: readonly number[]): Float32Array =>
  silence(ms).map((_, n, all) => {
    const edge = Math.min(1, n / 80, (all.length - n) / 80);
    return edge * hz.reduce((sum, each) => sum + Math.sin((2 * Math.PI * each * n) / 16_000) / hz.length, 0);
  });

/** The countries' ring-back: frequencies, then sound and pause. */
const RING_BACKS = [
  { hz: [440, 480], on: 2000, off: 4000 },
  { hz: [425], on: 1000, off: 4000 },
  { hz: [400, 450], on: 400, off: 200 },
] as const;

export interface AnswerKit {
  readonly speakers: Speakers;
  /** Speech of people, cut at its pauses. Empty where Debian's pocketsphinx-testdata is not installed. */
  readonly recorded: { readonly short: readonly Float32Array[]; readonly long: readonly Float32Array[] };
  readonly crowd: Float32Array;
}

export async function answerKit(): Promise<AnswerKit> {
  const cut = (name: string) => stretchesOf(recording(name));
  const words = ['goforward.raw', 'numbers.raw', 'something.raw', ...cards()].flatMap(cut);
  const books = [870, 880, 890, 920, 930].flatMap((n) => cut(`${BOOK}-0${n}.wav`));
  const short = words.filter(({ length }) => length > 250 * PER_MS && length < 1800 * PER_MS);
  const long = books.filter(({ length }) => length > 600 * PER_MS);
  return { speakers: new Speakers(), recorded: { short, long }, crowd: await babble(6, 30, -45) };
}

const BOOK = 'librivox/sense_and_sensibility_01_austen_64kb';
const cards = () => [1, 2, 3, 4, 5].map((n) => `cards/00${n}.wav`);

function recording(name: string): Float32Array {
  const path = `${RECORDINGS}/${name}`;
  if (!existsSync(path)) return new Float32Array();
  const bytes = readFileSync(path);
  const from = name.endsWith('.wav') ? 44 : 0;
  return Float32Array.from(
    { length: (bytes.length - from) >> 1 },
    (_, n) => bytes.readInt16LE(from + 2 * n) / 32_768,
  );
}

/** The parts of a recording between pauses of 200 ms. */
function stretchesOf(sound: Float32Array): Float32Array[] {
  const block = 20 * PER_MS;
  const levels = Array.from({ length: Math.floor(sound.length / block) }, (_, n) =>
    Math.sqrt(
      sound.subarray(n * block, (n + 1) * block).reduce((sum, sample) => sum + sample ** 2, 0) / block,
    ),
  );
  const loudest = levels.reduce((most, level) => Math.max(most, level), 0);
  const parts: Float32Array[] = [];
  let begin = -1;
  let quiet = 0;
  for (const [n, level] of [...levels, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0].entries()) {
    if (level > loudest / 20) {
      if (begin < 0) begin = n;
      quiet = 0;
    } else if (begin >= 0 && ++quiet === 10) {
      parts.push(sound.slice(begin * block, (n - 9) * block));
      begin = -1;
    }
  }
  return parts;
}

/** Silence behind what is said. */
const TAILS_MS = { human: 2500, machine: 3000, screening: 2500, fax: 1500, silence: 6000 } as const;

/** Languages: half of the calls are in English. */
const LANGUAGES = ['en', 'en', 'en', 'en', 'en', 'de', 'fr', 'es', 'it', 'pt'] as const;

export interface CallPlan {
  readonly answerer: Answerer;
  readonly seed: number;
  /** Only every second text. */
  readonly half?: boolean;
}

export async function answeredCall(
  { answerer, seed, half = false }: CallPlan,
  kit: AnswerKit,
): Promise<AnsweredSound> {
  const draw = new Draw(seed);
  const track = new Track();
  const isRinging = draw.chance(0.6);
  if (isRinging) ringBack(track, draw);
  if (answerer === 'intercept') {
    await intercept(track, draw, kit);
    const { sound, ...line } = lined(track.sound, draw, kit);
    const classes = { voice: 'none', ...line };
    return { name: `intercept ${seed}`, answerer, classes, sound, answeredMs: Infinity, said: track.said };
  }
  const answeredMs = track.ms;
  // The network's ring-back may last a little longer than the ringing.
  if (isRinging && draw.chance(0.3)) track.add(amplified(tone(draw.between(40, 300), 440, 480), -18));
  track.pause(draw.between(150, answerer === 'machine' ? 2000 : 1600));
  const more = await ADDITIONS[answerer](track, draw, { kit, half });
  track.pause(TAILS_MS[answerer]);
  const { sound, ...line } = lined(track.sound, draw, kit);
  return {
    name: `${answerer} ${seed}: ${more.name}`,
    answerer,
    classes: { voice: more.voice ?? 'none', ...line },
    sound,
    answeredMs,
    said: track.said,
    ...more.found,
  };
}

interface Material {
  readonly kit: AnswerKit;
  readonly half: boolean;
}

interface Addition {
  readonly name: string;
  readonly voice?: string;
  readonly found?: Partial<Pick<AnsweredSound, 'greetingEndMs' | 'beep'>>;
}

type Add = (track: Track, draw: Draw, material: Material) => Promise<Addition>;

const ADDITIONS: Readonly<Record<Exclude<Answerer, 'intercept'>, Add>> = {
  human: person,
  machine: voicemail,
  screening,
  fax: async (track, draw) => {
    if (draw.chance(0.5)) {
      track.add(amplified(tone(draw.between(2600, 4000), 2100), -15));
      return { name: 'CED' };
    }
    for (let n = 0; n < 3; n++) {
      track.add(amplified(tone(500, 1100), -15));
      track.pause(3000);
    }
    return { name: 'CNG' };
  },
  silence: async () => ({ name: 'nothing' }),
};

const kindOf = (voice: string, language: string): string =>
  FLITE.some((name) => name === voice) ? 'flite' : `espeak ${language}`;

function among<T>(list: readonly T[], draw: Draw, half: boolean): T {
  const kept = half && list.length > 1 ? list.filter((_, n) => n % 2 === 0) : list;
  return draw.of(kept);
}

async function person(track: Track, draw: Draw, { kit, half }: Material): Promise<Addition> {
  const level = draw.between(...LEVELS_DB);
  const { recorded, speakers } = kit;
  if (recorded.short.length > 0 && draw.chance(0.15)) {
    const { endMs } = track.add(atLevel(draw.of(recorded.short), level), '');
    return { name: 'recorded', voice: 'recorded', found: { greetingEndMs: endMs } };
  }
  const language = draw.of(LANGUAGES);
  const texts = GREETINGS[language] as (typeof GREETINGS)[string];
  const kind = draw.chance(0.55) ? 'hello' : draw.chance(0.5) ? 'named' : 'business';
  const text = among(texts[kind], draw, half);
  const voice = draw.of(await speakers.voices(language));
  const { endMs } = track.add(atLevel(await speakers.speak(text, voice, language), level), text);
  return { name: `${voice} "${text}"`, voice: kindOf(voice, language), found: { greetingEndMs: endMs } };
}

async function voicemail(track: Track, draw: Draw, { kit, half }: Material): Promise<Addition> {
  const level = draw.between(...LEVELS_DB);
  const { recorded, speakers } = kit;
  let [name, kind, endMs] = ['recorded', 'recorded', 0];
  if (recorded.long.length > 0 && draw.chance(0.15)) {
    for (let n = draw.whole(2, 5); n > 0; n--) {
      ({ endMs } = track.add(atLevel(draw.of(recorded.long), level), ''));
      if (n > 1) track.pause(draw.between(200, 700));
    }
  } else {
    const language = draw.of(LANGUAGES);
    const sentences = among((GREETINGS[language] as (typeof GREETINGS)[string]).machine, draw, half);
    const voice = draw.of(await speakers.voices(language));
    for (const [n, text] of sentences.entries()) {
      if (n > 0) track.pause(draw.between(150, draw.chance(0.15) ? 1000 : 650));
      ({ endMs } = track.add(atLevel(await speakers.speak(text, voice, language), level), text));
    }
    name = `${voice} "${sentences.join(' ')}"`;
    kind = kindOf(voice, language);
  }
  if (draw.chance(0.08)) return { name: `${name}, no beep`, voice: kind, found: { greetingEndMs: endMs } };
  track.pause(draw.chance(0.85) ? draw.between(100, 900) : draw.between(900, 2000));
  const hz = draw.whole(440, 2000);
  const beep = { ...track.add(amplified(tone(draw.between(150, 1000), hz), draw.between(-26, -12))), hz };
  return { name: `${name}, ${hz} Hz`, voice: kind, found: { greetingEndMs: endMs, beep } };
}

async function screening(track: Track, draw: Draw, { kit, half }: Material): Promise<Addition> {
  const language = draw.of(LANGUAGES);
  const sentences = among((GREETINGS[language] as (typeof GREETINGS)[string]).screening, draw, half);
  const voice = draw.of(await kit.speakers.voices(language));
  let endMs = 0;
  for (const [n, text] of sentences.entries()) {
    if (n > 0) track.pause(draw.between(150, 500));
    const sound = atLevel(await kit.speakers.speak(text, voice, language), -22);
    ({ endMs } = track.add(sound, text));
  }
  return { name: `${voice} "${sentences.join(' ')}"`, found: { greetingEndMs: endMs } };
}

function ringBack(track: Track, draw: Draw): void {
  const { hz, on, off } = draw.of(RING_BACKS);
  for (let n = draw.whole(1, 2); n > 0; n--) {
    track.add(amplified(tone(on, ...hz), -18));
    track.pause(Math.min(off, 1500));
  }
}

/** The network's announcement of a number that is not in use. */
async function intercept(track: Track, draw: Draw, { speakers }: AnswerKit): Promise<void> {
  for (const hz of [950, 1400, 1800]) track.add(amplified(tone(330, hz), -18));
  track.pause(draw.between(200, 800));
  const text = 'The number that you have dialled is not in service. Please check the number and dial again.';
  track.add(atLevel(await speakers.speak(text, draw.of(FLITE), 'en'), -20), text);
  track.pause(3000);
}

/** The damage of a line to the sound: noise, a codec, lost packets. */
function lined(
  sound: Float32Array,
  draw: Draw,
  { crowd }: AnswerKit,
): Omit<CallClasses, 'voice'> & { readonly sound: Float32Array } {
  const ms = sound.length / PER_MS;
  const isCrowded = draw.chance(0.15);
  const noiseDb = isCrowded ? -draw.between(0, 8) : -draw.between(45, 70);
  const background = isCrowded
    ? amplified(repeatedTo(crowd, sound.length), noiseDb)
    : noise(ms, noiseDb, draw.whole(1, 100_000));
  const band = (all: Float32Array) => filtered(all, (hz) => (hz < 250 || hz > 3500 ? -60 : 0));
  const together = mixed(sound, background);
  const kind = draw.between(0, 1);
  const coded =
    kind < 0.4
      ? companded(band(together))
      : kind < 0.7
        ? opusCoded(together, draw.of([12_000, 16_000, 24_000]))
        : companded(band(opusCoded(band(together), 8000))); // a mobile telephone behind a gateway
  const lost = draw.chance(0.4) ? draw.between(0.01, 0.06) : 0;
  return {
    sound: lost > 0 ? lossy(coded, lost, draw) : coded,
    codec: kind < 0.4 ? 'G.711' : kind < 0.7 ? 'Opus' : 'mobile',
    background: isCrowded ? 'crowd' : noiseDb > -50 ? 'noise above -50 dB' : 'noise',
    loss: lost === 0 ? 'none' : lost <= 0.03 ? 'up to 3 %' : 'more',
  };
}

function repeatedTo(sound: Float32Array, samples: number): Float32Array {
  return Float32Array.from({ length: samples }, (_, n) => sound[n % sound.length] as number);
}

/** Loses packets of 20 ms, sometimes several in a row, and conceals them as G.711, appendix I, does. */
function lossy(sound: Float32Array, share: number, draw: Draw): Float32Array {
  const frame = 20 * PER_MS;
  const heard = sound.slice();
  let lost = 0;
  for (let at = 4 * frame; at + frame <= heard.length; at += frame) {
    lost = draw.chance(lost > 0 ? 0.3 : share) ? lost + 1 : 0;
    if (lost > 0) conceal(heard, at, (lost - 1) * frame);
  }
  return heard;
}

/** Repeats the last period, and falls by a fifth in each 10 ms from the second on. `gone`: samples before. */
function conceal(heard: Float32Array, at: number, gone: number): void {
  const period = periodBefore(heard, at);
  for (let n = 0; n < 20 * PER_MS; n++) {
    const gain = Math.min(1, Math.max(0, 1.2 - (0.2 * (gone + n)) / (10 * PER_MS)));
    const before = heard[at + n - period] as number;
    heard[at + n] = n + gone < 10 * PER_MS ? before : before * (gone === 0 ? gain : 0.85);
  }
}

/** The lag of 5 to 15 ms at which the sound is most like itself. */
function periodBefore(heard: Float32Array, at: number): number {
  const length = 20 * PER_MS;
  let [best, most] = [5 * PER_MS, -Infinity];
  for (let lag = 5 * PER_MS; lag <= 15 * PER_MS; lag++) {
    let [product, energy] = [0, 1e-9];
    for (let n = at - length; n < at; n += 2) {
      const earlier = heard[n - lag] as number;
      product += (heard[n] as number) * earlier;
      energy += earlier * earlier;
    }
    const likeness = product / Math.sqrt(energy);
    if (likeness > most) [best, most] = [lag, likeness];
  }
  return best;
}
