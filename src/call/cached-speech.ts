// The speech service behind its cache: what was rendered before costs neither an
// engine nor an encoder.
import type { LineSettings } from '../rtp/line-messages.js';
import type { AudioCache, AudioCacheFigures } from '../speech/audio-cache.js';
import type { Voice } from '../speech/engine.js';
import { keyFields, renderingKey } from '../speech/rendering-key.js';
import type { SpeechRouting } from '../speech/routing.js';
import type { Sound, SoundSource } from '../speech/sound.js';
import type { FrameCache } from './frame-cache.js';
import { SENTENCE_PAUSE_MS } from './speech-line.js';
import type { SpeechStreamRequest } from './speech-stream.js';

const FORM = 2; // of the bytes; a change in how sound is made that no field tells raises it

interface Speech {
  openStream(request: SpeechStreamRequest, signal: AbortSignal): Promise<SoundSource>;
  voices(): Promise<readonly Voice[]>;
}

export interface CachedSpeechRequest extends SpeechStreamRequest {
  /** False neither looks in the cache nor leaves anything there. */
  readonly cache?: boolean;
}

export interface CachedSpeechParts {
  readonly cache: AudioCache;
  readonly routing: SpeechRouting;
  /** Those of the encoders: servers that share renderings may have others. */
  readonly settings: LineSettings;
  /** Forgotten together with the renderings. */
  readonly frames?: FrameCache;
}

export class CachedSpeech {
  readonly #speech: Speech;
  readonly #cache: AudioCache;
  readonly #routing: SpeechRouting;
  readonly #frames: FrameCache | undefined;
  /** Stands for what is the same in every request, so that it is hashed once. */
  readonly #own: string;

  constructor(speech: Speech, { cache, routing, settings, frames }: CachedSpeechParts) {
    this.#speech = speech;
    this.#cache = cache;
    this.#routing = routing;
    this.#frames = frames;
    this.#own = renderingKey([FORM, SENTENCE_PAUSE_MS, ...keyFields(settings)]);
  }

  voices(): Promise<readonly Voice[]> {
    return this.#speech.voices();
  }

  /** The rendering, if it is there whole. Throws VOICE_UNKNOWN and LANGUAGE_UNAVAILABLE. */
  find(request: CachedSpeechRequest): Sound | undefined {
    return this.#uses(request) ? this.#cache.find(this.#key(request)) : undefined;
  }

  /** Rejects as the speech service does. Its `cache` is absent where the cache was not asked. */
  openStream(
    { cache, ...request }: CachedSpeechRequest,
    signal: AbortSignal,
  ): Promise<SoundSource & { readonly cache?: 'hit' | 'miss' }> {
    if (!this.#uses({ ...request, cache: cache ?? true })) return this.#speech.openStream(request, signal);
    const start = (own: AbortSignal) => this.#speech.openStream(request, own);
    return this.#cache.follow(this.#key(request), start, signal);
  }

  /** Answers how many renderings went from this server's memory, and sentences kept for its calls. */
  clear(): number {
    return this.#cache.clear() + (this.#frames?.clear() ?? 0);
  }

  figures(): AudioCacheFigures {
    return this.#cache.figures;
  }

  // A voice that somebody brought along is nobody else's business.
  #uses({ cache, reference }: CachedSpeechRequest): boolean {
    return this.#cache.enabled && cache !== false && reference === undefined;
  }

  // Every field that a request has or will have, but for who asks: one that is
  // forgotten here would give somebody the wrong sound.
  #key({ client: _client, cache: _cache, kind: _kind, ...request }: CachedSpeechRequest): string {
    const { engine, voice, language, reference } = this.#routing.resolve(request);
    const voiced = [engine.name, voice, language, reference?.kind, reference?.hash];
    return renderingKey([this.#own, ...voiced, ...keyFields(request)]);
  }
}
