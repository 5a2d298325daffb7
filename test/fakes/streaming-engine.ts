// A scripted engine whose text may follow while it speaks. It makes the sound of
// what it has read, and waits where it has read everything, as a model does that
// is starved. How long a character sounds is what an unhurried speaker takes, so
// that estimates of places are exact where nothing else is said.
import type { PcmRing } from '../../src/audio/pcm-ring.js';
import { asParleyError, ParleyError } from '../../src/errors.js';
import type { EngineCapabilities, SpeechEnd, SpeechRequest, WordTime } from '../../src/engines/engine.js';
import type { ResolvedVoice, VoiceWish } from '../../src/engines/routing.js';
import { buzz, ENGINE_RATE, ScriptedEngine } from './scripted-engine.js';

export interface Generation {
  /** What it was asked for; without what followed. */
  readonly request: SpeechRequest;
  /** All text that it has read. */
  text: string;
  state: 'speaking' | 'starved' | 'over';
}

export interface StreamingEngineOptions {
  readonly mostText?: number;
  readonly msPerCharacter?: number;
  readonly wordTimes?: boolean;
  /** Of the sound of what it has read, what it makes before it has read on; all of it at the end. */
  readonly share?: number;
}

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
  override resolve({ language = 'en' }: VoiceWish = {}): ResolvedVoice {
    return { engine: this, voice: 'buzz', language };
  }

  /** What each generation has read, in the order in which they began. */
  get texts(): string[] {
    return this.generations.map(({ text }) => text);
  }

  override async synthesize(request: SpeechRequest, out: PcmRing, signal: AbortSignal): Promise<SpeechEnd> {
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
