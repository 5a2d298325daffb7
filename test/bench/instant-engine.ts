// An engine that costs nothing: the sound of a text is there at once, 60 ms of
// a modulated tone per character, at the rate of the real engines.
import type { PcmRing } from '../../src/audio/pcm-ring.js';
import type { SpeechEnd, SpeechEngine, SpeechRequest, Voice } from '../../src/speech/engine.js';

const RATE = 24_000;
const SAMPLES_PER_CHARACTER = (RATE * 60) / 1000;
const SECOND = Float32Array.from(
  { length: RATE },
  (_, at) => 0.4 * Math.sin(at / 9) * Math.sin(at / 700 + 1),
);

export class InstantEngine implements SpeechEngine {
  readonly name = 'instant';
  readonly capabilities = {
    clone: false,
    design: false,
    instruct: false,
    wordTimes: false,
    textStreaming: false,
    languages: ['en'],
  };

  sampleRate(): number {
    return RATE;
  }

  voices(): Promise<readonly Voice[]> {
    return Promise.resolve([
      { name: 'instant', engine: this.name, languages: ['en'], description: 'a tone' },
    ]);
  }

  async synthesize({ text }: SpeechRequest, out: PcmRing, signal: AbortSignal): Promise<SpeechEnd> {
    const samples = text.length * SAMPLES_PER_CHARACTER;
    try {
      for (let written = 0; written < samples; written += SECOND.length) {
        await out.writeAll(SECOND.subarray(0, Math.min(SECOND.length, samples - written)), signal);
      }
    } catch (error) {
      out.abort();
      throw error;
    }
    out.end();
    return { samples, words: [] };
  }

  async load(): Promise<void> {}
  async unload(): Promise<void> {}
  async close(): Promise<void> {}
}
