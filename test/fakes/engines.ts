// Speech engines that tests control. ScriptedEngine speaks sound that the test states, StreamingEngine takes
// text while it speaks, and InstantEngine has its sound ready at once.
import type { PcmRing } from '../../src/audio/pcm-ring.js';
import {
  type EngineCapabilities,
  type EngineDevice,
  keepRingContract,
  type SpeechEnd,
  type SpeechEngine,
  type SynthesisRequest,
  type Voice,
  type WordTime,
} from '../../src/engines/engine.js';
import type { ResolvedVoice, SpeechRouting, VoiceRequest } from '../../src/engines/routing.js';
import { asParleyError, type ErrorCode, ParleyError } from '../../src/errors.js';

export const ENGINE_RATE = 8000;

/** `ms` milliseconds of a sound that never trims: one value, alternating in sign. */
export function buzz(ms: number, level: number): Float32Array {
  return Float32Array.from({ length: (ENGINE_RATE * ms) / 1000 }, (_, n) => (n % 2 === 0 ? level : -level));
}

/**
 * An engine whose sound the test states sample by sample, at 8 kHz, so that G.711 calls carry exactly these
 * samples. It can be held, and can fail.
 */
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

  resolve(_request?: VoiceRequest): ResolvedVoice {
    return { engine: this, voice: 'buzz', language: 'en' };
  }

  async synthesize({ text }: SynthesisRequest, out: PcmRing, signal: AbortSignal): Promise<SpeechEnd> {
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

interface Generation {
  /** The request, without the text that followed. */
  readonly request: SynthesisRequest;
  /** All text that it has read. */
  text: string;
  state: 'speaking' | 'starved' | 'over';
}

export interface StreamingEngineOptions {
  readonly mostText?: number;
  readonly msPerCharacter?: number;
  readonly wordTimes?: boolean;
  /** Fraction of the sound of the text so far that it makes before it reads on; at the end it makes all. */
  readonly share?: number;
}

/**
 * A scripted engine whose text may follow while it speaks. It makes the sound of the text that it has read,
 * and waits when it has read everything, as a starved model does. By default a character takes as long as for
 * an unhurried speaker, so that estimates of places are exact.
 */
export class StreamingEngine extends ScriptedEngine {
  override readonly capabilities: EngineCapabilities;
  readonly mostText: number;
  readonly generations: Generation[] = [];
  /** Ends, failing, where the text that it reads has this in it. */
  failsAt: string | undefined;
  readonly #msPerCharacter: number;
  readonly #share: number;

  constructor({
    mostText = 1000,
    msPerCharacter = 65,
    wordTimes = false,
    share = 1,
  }: StreamingEngineOptions = {}) {
    super();
    this.mostText = mostText;
    this.#msPerCharacter = msPerCharacter;
    this.#share = share;
    this.capabilities = {
      clone: false,
      design: false,
      instruct: false,
      sampling: false,
      wordTimes,
      textStreaming: true,
      languages: ['en', 'fr'],
    };
  }

  /** One voice for each language. */
  override resolve({ language = 'en' }: VoiceRequest = {}): ResolvedVoice {
    return { engine: this, voice: 'buzz', language };
  }

  /** The text that each generation has read, in the order in which they began. */
  get texts(): string[] {
    return this.generations.map(({ text }) => text);
  }

  override async synthesize(
    request: SynthesisRequest,
    out: PcmRing,
    signal: AbortSignal,
  ): Promise<SpeechEnd> {
    const generation: Generation = { request, text: '', state: 'speaking' };
    this.generations.push(generation);
    try {
      const samples = await this.#speak(generation, out, signal);
      out.end();
      return { samples, words: this.capabilities.wordTimes ? this.#wordsOf(generation.text) : [] };
    } catch (cause) {
      const error = asParleyError(cause, 'ENGINE_FAILED');
      if (error.code === 'ABORTED') out.abort();
      else out.end(error.code);
      throw error;
    } finally {
      generation.state = 'over';
    }
  }

  async #speak(generation: Generation, out: PcmRing, signal: AbortSignal): Promise<number> {
    const { text, more } = generation.request;
    const further = more?.[Symbol.asyncIterator]();
    const gaveUp = new Promise<never>((_, reject) => {
      const fail = () => reject(new ParleyError('ABORTED', 'the synthesis was given up'));
      if (signal.aborted) fail();
      signal.addEventListener('abort', fail, { once: true });
    });
    gaveUp.catch(() => undefined);
    let samples = 0;
    const speakUpTo = async (end: number) => {
      await out.writeAll(buzz((1000 * (end - samples)) / ENGINE_RATE, 0.5), signal);
      samples = end;
    };
    try {
      for (let piece: string | undefined = text; piece !== undefined;) {
        generation.text += piece;
        generation.state = 'speaking';
        await Promise.race([this.gate(piece), gaveUp]);
        const share = more === undefined ? 1 : this.#share;
        await speakUpTo(Math.floor(this.#samplesOf(generation.text) * share));
        if (this.failsAt !== undefined && piece.includes(this.failsAt)) {
          throw new ParleyError('ENGINE_FAILED', `the engine died at "${piece}"`);
        }
        generation.state = 'starved';
        const next = further === undefined ? undefined : await Promise.race([further.next(), gaveUp]);
        piece = next === undefined || next.done === true ? undefined : next.value;
      }
      await speakUpTo(this.#samplesOf(generation.text));
      return samples;
    } finally {
      further?.return?.().then(undefined, () => undefined);
    }
  }

  #samplesOf({ length }: string): number {
    return (length * this.#msPerCharacter * ENGINE_RATE) / 1000;
  }

  #wordsOf(text: string): WordTime[] {
    return [...text.matchAll(/\S+/g)].map((found) => ({
      word: found[0],
      textOffset: found.index,
      startMs: found.index * this.#msPerCharacter,
    }));
  }
}

type Behaviour =
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

/**
 * An engine without speech: the sound of a text is known in advance, and is in the ring before synthesize()
 * returns. Tests and benches have it hang, fail, stop half-way or pace itself.
 */
export class InstantEngine implements SpeechEngine, SpeechRouting {
  readonly name: string = 'instant';
  readonly capabilities: EngineCapabilities;
  usable = true;
  loaded = true;
  /** The behaviour for all further requests. */
  behaviour: Behaviour = { kind: 'speak' };
  /** Every request so far, in order. */
  readonly requests: SynthesisRequest[] = [];
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

  /** Implements SpeechRouting: its one voice speaks every request that is not for another language. */
  resolve(request: VoiceRequest): ResolvedVoice {
    const [first = 'en'] = this.#options.languages;
    const language = request.language ?? first;
    if (!this.#options.languages.includes(language)) {
      throw new ParleyError('LANGUAGE_UNAVAILABLE', `instant does not speak ${language}`);
    }
    if (request.voice !== undefined && request.voice !== 'instant') {
      throw new ParleyError('VOICE_UNKNOWN', `there is no voice "${request.voice}"`);
    }
    return { engine: this, voice: 'instant', language };
  }

  /** Samples of one character, so that a test can say how long a text is. */
  get samplesPerCharacter(): number {
    return Math.round((this.#options.rate * this.#options.msPerCharacter) / 1000);
  }

  /** The sound of a text: the beginning of one sound that is made once, with a length by its characters. */
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

  async synthesize(request: SynthesisRequest, out: PcmRing, signal: AbortSignal): Promise<SpeechEnd> {
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
