// The server's voice in the bench of conversations: flite, whose sound of each text is made once and then
// comes after a fixed time, as from a fast voice. So a busy machine does not decide about the figures.
import { PcmRing } from '../../../src/audio/pcm-ring.js';
import {
  keepRingContract,
  type SpeechEnd,
  type SpeechEngine,
  type SynthesisRequest,
} from '../../../src/engines/engine.js';
import { fliteEngine } from '../../../src/engines/flite/flite.js';
import { systemTime } from '../../../src/time.js';

interface Rendering {
  readonly samples: Float32Array;
  readonly end: SpeechEnd;
}

/** From a sentence to its first sound. */
export const FIRST_SOUND_MS = 60;
const LONGEST_S = 30;

export class PreparedVoice implements SpeechEngine {
  readonly #flite = fliteEngine({ maxWaiting: 100, renderTimeoutMs: 20_000 });
  readonly #renderings = new Map<string, Promise<Rendering>>();
  readonly name = this.#flite.name;
  readonly capabilities = this.#flite.capabilities;

  get usable(): boolean {
    return this.#flite.usable;
  }

  get loaded(): boolean {
    return this.#flite.loaded;
  }

  /** Makes the sound of these sentences now. */
  async prepare(sentences: readonly string[], voice: string): Promise<void> {
    await Promise.all(sentences.map((text) => this.#rendering({ text, voice, language: 'en' })));
  }

  voices(): ReturnType<SpeechEngine['voices']> {
    return this.#flite.voices();
  }

  sampleRate(voice: string): number {
    return this.#flite.sampleRate(voice);
  }

  synthesize(request: SynthesisRequest, out: PcmRing, signal: AbortSignal): Promise<SpeechEnd> {
    return keepRingContract(out, signal, async () => {
      const [{ samples, end }] = await Promise.all([this.#rendering(request), waited(FIRST_SOUND_MS)]);
      await out.writeAll(samples, signal);
      out.end();
      return end;
    });
  }

  device(): ReturnType<SpeechEngine['device']> {
    return this.#flite.device();
  }

  load(): Promise<void> {
    return this.#flite.load();
  }

  unload(): Promise<void> {
    return this.#flite.unload();
  }

  close(): Promise<void> {
    return this.#flite.close();
  }

  #rendering(request: SynthesisRequest): Promise<Rendering> {
    const key = `${request.voice} ${request.text}`;
    let rendering = this.#renderings.get(key);
    if (rendering === undefined) this.#renderings.set(key, (rendering = this.#render(request)));
    return rendering;
  }

  async #render(request: SynthesisRequest): Promise<Rendering> {
    const rate = this.sampleRate(request.voice);
    const ring = PcmRing.open(rate, rate * LONGEST_S);
    const end = await this.#flite.synthesize(request, ring, new AbortController().signal);
    const samples = new Float32Array(rate * LONGEST_S);
    const count = ring.read(samples);
    ring.close();
    return { samples: samples.slice(0, count), end };
  }
}

const waited = (ms: number): Promise<void> => new Promise((resolve) => systemTime.after(ms, resolve));
