// An engine whose sound the test writes down sample by sample, at 8 kHz, so
// that G.711 calls carry exactly these samples. It can be held, and can fail.
import type { PcmRing } from '../../src/audio/pcm-ring.js';
import { ParleyError } from '../../src/errors.js';
import type {
  EngineCapabilities,
  EngineDevice,
  SpeechEnd,
  SpeechEngine,
  SpeechRequest,
  Voice,
  WordTime,
} from '../../src/engines/engine.js';
import type { ResolvedVoice, SpeechRouting, VoiceWish } from '../../src/engines/routing.js';

export const ENGINE_RATE = 8000;

/** `ms` milliseconds of a sound that never trims: one value, alternating in sign. */
export function buzz(ms: number, level: number): Float32Array {
  return Float32Array.from({ length: (ENGINE_RATE * ms) / 1000 }, (_, n) => (n % 2 === 0 ? level : -level));
}

export class ScriptedEngine implements SpeechEngine, SpeechRouting {
  readonly name = 'scripted';
  readonly capabilities: EngineCapabilities = {
    clone: false,
    design: false,
    instruct: false,
    sampling: false,
    wordTimes: false,
    textStreaming: false,
    languages: ['en'],
  };
  usable = true;
  loaded = true;
  /** The sound of each text; others have 20 ms a character. */
  readonly sounds = new Map<string, Float32Array>();
  /** The times of the words of each text; others have none. */
  readonly words = new Map<string, readonly WordTime[]>();
  /** Texts at which it fails once their sound was written. */
  readonly failing = new Set<string>();
  /** Texts that were begun, in order. */
  readonly begun: string[] = [];
  /** Awaited before each text; a test replaces it to hold the engine. */
  gate: (text: string) => Promise<void> = () => Promise.resolve();

  sampleRate(): number {
    return ENGINE_RATE;
  }

  voices(): Promise<readonly Voice[]> {
    return Promise.resolve([{ name: 'buzz', engine: this.name, languages: ['en'], description: 'one tone' }]);
  }

  resolve(_wish?: VoiceWish): ResolvedVoice {
    return { engine: this, voice: 'buzz', language: 'en' };
  }

  async synthesize({ text }: SpeechRequest, out: PcmRing, signal: AbortSignal): Promise<SpeechEnd> {
    this.begun.push(text);
    const sound = this.sounds.get(text) ?? buzz(20 * text.length, 0.5);
    try {
      await Promise.race([this.gate(text), aborted(signal)]);
      await out.writeAll(sound, signal);
      if (this.failing.has(text)) throw new ParleyError('ENGINE_FAILED', `the engine died at "${text}"`);
      out.end();
      return { samples: sound.length, words: this.words.get(text) ?? [] };
    } catch (error) {
      const { code } = error as ParleyError;
      if (code === 'ABORTED') out.abort();
      else out.end(code);
      throw error;
    }
  }

  device(): EngineDevice {
    return { name: 'cpu' };
  }

  async load(): Promise<void> {}
  async unload(): Promise<void> {}
  async close(): Promise<void> {}
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = () => reject(new ParleyError('ABORTED', 'the synthesis was given up'));
    if (signal.aborted) fail();
    signal.addEventListener('abort', fail, { once: true });
  });
}
