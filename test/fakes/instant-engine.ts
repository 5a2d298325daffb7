// A speech engine without speech: the sound of a text is known in advance, and
// is in the ring before synthesize() returns. Tests and benches tell it to
// hang, fail, die half-way or pace itself.
import type { PcmRing } from '../../src/audio/pcm-ring.js';
import { ParleyError, type ErrorCode } from '../../src/errors.js';
import type {
  EngineCapabilities,
  EngineDevice,
  SpeechEnd,
  SpeechEngine,
  SpeechRequest,
  Voice,
  WordTime,
} from '../../src/engines/engine.js';
import { keepRingContract } from '../../src/engines/ring-contract.js';
import type { ResolvedVoice, SpeechRouting, VoiceWish } from '../../src/engines/routing.js';

export type Behaviour =
  | { readonly kind: 'speak' }
  /** Writes nothing, ends only by an abort. */
  | { readonly kind: 'hang' }
  /** Fails before the first sample. */
  | { readonly kind: 'fail'; readonly code?: ErrorCode }
  /** Fails after so many samples. */
  | { readonly kind: 'die'; readonly afterSamples: number }
  /** Writes `portion` samples after each time that `next` resolves. */
  | { readonly kind: 'pace'; readonly portion: number; readonly next: () => Promise<void> };

export interface InstantEngineOptions {
  /** Hz. */
  readonly rate?: number;
  readonly msPerCharacter?: number;
  /** A steady tone, or a single sample of full scale where each character begins. */
  readonly pattern?: 'tone' | 'impulses';
  readonly toneHz?: number;
  /** Report the time of each word. */
  readonly words?: boolean;
  readonly languages?: readonly string[];
  /** It speaks with voices of samples, or of descriptions: in the same tone. */
  readonly clone?: boolean;
  readonly design?: boolean;
}

const LEVEL = 0.5;

export class InstantEngine implements SpeechEngine, SpeechRouting {
  readonly name: string = 'instant';
  readonly capabilities: EngineCapabilities;
  usable = true;
  loaded = true;
  /** What the requests from now on meet. */
  behaviour: Behaviour = { kind: 'speak' };
  /** Every request so far, in order. */
  readonly requests: SpeechRequest[] = [];
  /** Requests being served now. */
  active = 0;
  readonly #options: Required<InstantEngineOptions>;
  #sound: Float32Array = new Float32Array(0);

  constructor(options: InstantEngineOptions = {}) {
    this.#options = {
      rate: 24_000,
      msPerCharacter: 60,
      pattern: 'tone',
      toneHz: 440,
      words: false,
      languages: ['en'],
      clone: false,
      design: false,
      ...options,
    };
    this.capabilities = {
      clone: this.#options.clone,
      design: this.#options.design,
      instruct: false,
      sampling: false,
      wordTimes: this.#options.words,
      textStreaming: false,
      languages: this.#options.languages,
    };
  }

  voices(): Promise<readonly Voice[]> {
    const { languages } = this.#options;
    return Promise.resolve([{ name: 'instant', engine: this.name, languages, description: 'a tone' }]);
  }

  sampleRate(): number {
    return this.#options.rate;
  }

  /** As a routing of its own: every wish that is not for another language is met by the one voice. */
  resolve(wish: VoiceWish): ResolvedVoice {
    const [first = 'en'] = this.#options.languages;
    const language = wish.language ?? first;
    if (!this.#options.languages.includes(language)) {
      throw new ParleyError('LANGUAGE_UNAVAILABLE', `instant does not speak ${language}`);
    }
    if (wish.voice !== undefined && wish.voice !== 'instant') {
      throw new ParleyError('VOICE_UNKNOWN', `there is no voice "${wish.voice}"`);
    }
    return { engine: this, voice: 'instant', language };
  }

  /** Samples of one character, so that a test can say how long a text is. */
  get samplesPerCharacter(): number {
    return Math.round((this.#options.rate * this.#options.msPerCharacter) / 1000);
  }

  /** What the text sounds like: the beginning of one sound, made once, as long as the text has characters. */
  soundOf(text: string): Float32Array {
    const samples = text.length * this.samplesPerCharacter;
    if (this.#sound.length < samples) this.#sound = this.#make(2 * samples);
    return this.#sound.subarray(0, samples);
  }

  #make(samples: number): Float32Array {
    const { rate, pattern, toneHz } = this.#options;
    const each = this.samplesPerCharacter;
    const step = (2 * Math.PI * toneHz) / rate;
    return Float32Array.from({ length: samples }, (_, i) => {
      if (pattern === 'tone') return LEVEL * Math.sin(step * i);
      return i % each === 0 ? 1 : 0;
    });
  }

  async synthesize(request: SpeechRequest, out: PcmRing, signal: AbortSignal): Promise<SpeechEnd> {
    this.requests.push(request);
    this.active++;
    try {
      return await keepRingContract(out, signal, () => this.#speak(request.text, out, signal));
    } finally {
      this.active--;
    }
  }

  device(): EngineDevice {
    return { name: 'cpu' };
  }

  load(): Promise<void> {
    return Promise.resolve();
  }

  unload(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async #speak(text: string, out: PcmRing, signal: AbortSignal): Promise<SpeechEnd> {
    const { behaviour } = this;
    if (behaviour.kind === 'hang') return await new Promise<never>(() => undefined);
    if (behaviour.kind === 'fail') throw new ParleyError(behaviour.code ?? 'ENGINE_FAILED', 'told to fail');
    const sound = this.soundOf(text);
    if (behaviour.kind === 'die') {
      await out.writeAll(sound.subarray(0, behaviour.afterSamples), signal);
      throw new ParleyError('ENGINE_FAILED', `told to die after ${behaviour.afterSamples} samples`);
    }
    const portion = behaviour.kind === 'pace' ? behaviour.portion : sound.length;
    for (let at = 0; at < sound.length; at += portion) {
      if (behaviour.kind === 'pace') await behaviour.next();
      await out.writeAll(sound.subarray(at, at + portion), signal);
    }
    out.end();
    return { samples: sound.length, words: this.#options.words ? this.#wordTimes(text) : [] };
  }

  #wordTimes(text: string): WordTime[] {
    return [...text.matchAll(/\S+/g)].map((found) => ({
      word: found[0],
      textOffset: found.index,
      startMs: found.index * this.#options.msPerCharacter,
    }));
  }
}
