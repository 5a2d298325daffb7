// The voices of scripted callers: three of flite, and one of espeak-ng where its package is installed. Our
// own voice is another one. Each text is synthesised once.
import { PcmRing } from '../../../src/audio/pcm-ring.js';
import { Resampler } from '../../../src/audio/resampler.js';
import type { SpeechEngine } from '../../../src/engines/engine.js';
import { ESPEAK_PACKAGE, espeakEngine, installedPackage } from '../../../src/engines/espeak/espeak.js';
import { FliteProgram } from '../../../src/engines/flite/flite-program.js';
import { SAMPLE_RATE } from '../../../src/hearing/ear-source.js';
import { amplified, atLevel } from '../../hearing/sounds.js';
import { trimmed } from './spoken.js';

/** Voices of the server. */
export const OUR_VOICE = 'slt';
const FLITE_VOICES = ['rms', 'awb', 'kal16'] as const;
const ESPEAK_VOICE = 'espeak-en-gb-x-rp';
const LEVEL_DB = -21;
const LONGEST_S = 30;

export class CallerVoices {
  readonly #flite: FliteProgram;
  readonly #espeak: SpeechEngine | undefined;
  readonly #spoken = new Map<string, Promise<Float32Array>>();

  private constructor(flite: FliteProgram, espeak: SpeechEngine | undefined) {
    this.#flite = flite;
    this.#espeak = espeak;
  }

  static async load(): Promise<CallerVoices> {
    const packageFile = installedPackage(ESPEAK_PACKAGE);
    const limits = { maxWaiting: 100, renderTimeoutMs: 10_000 };
    const espeak = packageFile === undefined ? undefined : espeakEngine({ packageFile, ...limits });
    await espeak?.load();
    return new CallerVoices(await FliteProgram.load(), espeak);
  }

  get count(): number {
    return FLITE_VOICES.length + (this.#espeak === undefined ? 0 : 1);
  }

  /** 16 kHz mono without silence at its ends, by the voice of this number; `db` louder than -21 dBFS. */
  async speech(text: string, number: number, db = 0): Promise<Float32Array> {
    const voice = number % this.count;
    const key = `${voice} ${text}`;
    let spoken = this.#spoken.get(key);
    if (spoken === undefined) this.#spoken.set(key, (spoken = this.#synthesised(text, voice)));
    return amplified(await spoken, db);
  }

  async close(): Promise<void> {
    await this.#espeak?.close();
  }

  async #synthesised(text: string, voice: number): Promise<Float32Array> {
    const name = FLITE_VOICES[voice];
    const engine = this.#espeak;
    if (name === undefined && engine !== undefined) return leveled(await rendered(engine, text));
    const { samples } = this.#flite.speak(text, name ?? FLITE_VOICES[0]);
    return leveled(Float32Array.from(samples, (sample) => sample / 32_768));
  }
}

const leveled = (samples: Float32Array): Float32Array => trimmed(atLevel(samples, LEVEL_DB));

async function rendered(engine: SpeechEngine, text: string): Promise<Float32Array> {
  const rate = engine.sampleRate(ESPEAK_VOICE);
  const ring = PcmRing.open(rate, rate * LONGEST_S);
  await engine.synthesize({ text, voice: ESPEAK_VOICE, language: 'en' }, ring, new AbortController().signal);
  const samples = new Float32Array(rate * LONGEST_S);
  const count = ring.read(samples);
  ring.close();
  const resampler = new Resampler(rate, SAMPLE_RATE, count);
  const sound = new Float32Array(resampler.maxOutput(count) + resampler.maxFlush);
  const made = resampler.process(samples, count, sound);
  return sound.slice(0, made + resampler.flush(sound.subarray(made)));
}
