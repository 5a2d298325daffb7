// Decodes sound that comes with a request: into a voice reference for an engine, or into samples that are
// played.
import { hash } from 'node:crypto';
import type { VoiceReference } from '../engines/engine.js';
import { renderingKey } from '../engines/rendering-key.js';
import type { VoiceAbilities } from '../engines/routing.js';
import { ParleyError } from '../errors.js';
import { audioBytes, type AudioSourceOptions } from './audio-source.js';
import { type DecodedSound, REFERENCE_RATE, type ReferenceAudio } from './reference-audio.js';
import type { SoundLibrary } from './sound-library.js';

export interface VoiceSample {
  /** The file itself; or a data URL of it, or another where the server allows it. */
  readonly source: string | Uint8Array;
  /** Transcript of the sample. */
  readonly text?: string;
  readonly xVectorOnly?: boolean;
  /** BCP 47 tag of the language to be spoken, if known. */
  readonly language?: string;
}

export interface ReferencesOptions extends AudioSourceOptions {
  readonly audio: Pick<ReferenceAudio, 'decode'>;
  readonly engines: Pick<VoiceAbilities, 'checkAble'>;
  readonly cache: VoiceCache;
}

const FIELD = 'ref_audio';

export class References {
  readonly #options: ReferencesOptions;
  readonly #decodes: SharedDecodes;

  constructor(options: ReferencesOptions) {
    this.#options = options;
    this.#decodes = new SharedDecodes(options.audio, options.cache, 'voice');
  }

  /**
   * Rejects with CAPABILITY_MISSING and LANGUAGE_UNAVAILABLE before the sample is read, INVALID_FIELD,
   * AUDIO_INVALID, TOO_LARGE, QUEUE_FULL or ABORTED.
   */
  async reference(
    { source, text, xVectorOnly, language }: VoiceSample,
    signal: AbortSignal,
    field = FIELD,
  ): Promise<VoiceReference> {
    this.#options.engines.checkAble('sample', language, field);
    const bytes = await audioBytes(source, this.#options, field, signal);
    const content = hash('sha256', bytes, 'hex');
    const samples = await this.#decodes.samplesOf(`file ${content}`, bytes, field, signal);
    this.#options.engines.checkAble('sample', language, field, samples.length / REFERENCE_RATE);
    return {
      kind: 'sample',
      hash: sampleHash(content, text, xVectorOnly),
      samples,
      rate: REFERENCE_RATE,
      text,
      xVectorOnly,
    };
  }
}

/** A hash of everything that changes the sound of the voice. */
export function sampleHash(content: string, text?: string, xVectorOnly?: boolean): string {
  return renderingKey(['sample', content, text, xVectorOnly]);
}

interface PlayedSoundsOptions extends AudioSourceOptions {
  readonly audio: Pick<ReferenceAudio, 'decode'>;
  readonly library: Pick<SoundLibrary, 'sound'>;
  /** Bytes of decoded sounds that are kept. */
  readonly cacheBytes?: number;
}

const CACHE_BYTES = 32 * 1024 * 1024; // 349 s

/**
 * Decodes sound files that are played in a call unchanged. The same file is decoded once while it is kept.
 */
export class PlayedSounds {
  readonly #options: PlayedSoundsOptions;
  readonly #decodes: SharedDecodes;

  constructor(options: PlayedSoundsOptions) {
    this.#options = options;
    const cache = new VoiceCache(Infinity, options.cacheBytes ?? CACHE_BYTES);
    this.#decodes = new SharedDecodes(options.audio, cache, 'play');
  }

  /**
   * Reads the file itself, or fetches it from its URL. The samples are shared: they must not be changed.
   * Rejects with INVALID_FIELD, AUDIO_INVALID, TOO_LARGE, QUEUE_FULL or ABORTED.
   * @param field request field that errors name
   */
  async read(source: string | Uint8Array, field: string, signal: AbortSignal) {
    const bytes = await audioBytes(source, this.#options, field, signal);
    const content = hash('sha256', bytes, 'base64');
    const samples = await this.#decodes.samplesOf(content, bytes, field, signal);
    return { samples, sampleRate: REFERENCE_RATE };
  }

  /** A sound of the library. Rejects as SoundLibrary.sound. */
  named(name: string, field: string): Promise<DecodedSound> {
    return this.#options.library.sound(name, field);
  }
}

interface RunningDecode {
  readonly samples: Promise<Float32Array>;
  /** Ends the decoding. */
  readonly abandoned: AbortController;
  waiting: number;
}

/** Decodes each file once for all requests that want it at the same time, and keeps its samples. */
class SharedDecodes {
  readonly #audio: Pick<ReferenceAudio, 'decode'>;
  readonly #cache: VoiceCache;
  readonly #use: 'voice' | 'play';
  readonly #running = new Map<string, RunningDecode>();

  constructor(audio: Pick<ReferenceAudio, 'decode'>, cache: VoiceCache, use: 'voice' | 'play') {
    this.#audio = audio;
    this.#cache = cache;
    this.#use = use;
  }

  /**
   * Rejects as `ReferenceAudio.decode`. An abort ends the decoding if no other request waits for it.
   * @param key hash of the file
   */
  async samplesOf(key: string, bytes: Uint8Array, field: string, signal: AbortSignal): Promise<Float32Array> {
    const known = this.#cache.find(key);
    if (known !== undefined) return known;
    if (signal.aborted) throw unwanted();
    const run = this.#running.get(key) ?? this.#start(key, bytes, field);
    run.waiting++;
    let leave: () => void = () => undefined;
    const left = new Promise<never>((_, reject) => {
      leave = () => reject(unwanted());
      signal.addEventListener('abort', leave, { once: true });
    });
    try {
      return await Promise.race([run.samples, left]);
    } catch (error) {
      if (!(error instanceof ParleyError) || error.field === undefined || error.field === field) throw error;
      throw new ParleyError(error.code, error.message, { field, cause: error }); // the first request's field
    } finally {
      signal.removeEventListener('abort', leave);
      if (--run.waiting === 0) this.#abandon(key, run);
    }
  }

  #start(key: string, bytes: Uint8Array, field: string): RunningDecode {
    const abandoned = new AbortController();
    const samples = this.#decode(key, bytes, field, abandoned.signal);
    const run = { samples, abandoned, waiting: 0 };
    this.#running.set(key, run);
    return run;
  }

  async #decode(key: string, bytes: Uint8Array, field: string, signal: AbortSignal): Promise<Float32Array> {
    const samples = await this.#audio.decode(bytes, field, signal, this.#use);
    this.#cache.keep(key, samples);
    return samples;
  }

  /** A request that comes later begins anew. */
  #abandon(key: string, run: RunningDecode): void {
    if (this.#running.get(key) === run) this.#running.delete(key);
    run.abandoned.abort();
    run.samples.catch(() => undefined);
  }
}

function unwanted(): ParleyError {
  return new ParleyError('ABORTED', 'the sound is not wanted any more');
}

interface VoiceCacheFigures {
  readonly entries: number;
  readonly maxEntries: number;
  readonly hits: number;
}

/**
 * Keeps decoded samples in memory; drops the least recently used first. One minute takes 5.5 MiB.
 */
export class VoiceCache {
  readonly #maxEntries: number;
  readonly #maxBytes: number;
  readonly #samples = new Map<string, Float32Array>(); // least recently used first
  #bytes = 0;
  #hits = 0;

  constructor(maxEntries: number, maxBytes = Infinity) {
    this.#maxEntries = maxEntries;
    this.#maxBytes = maxBytes;
  }

  get figures(): VoiceCacheFigures {
    return { entries: this.#samples.size, maxEntries: this.#maxEntries, hits: this.#hits };
  }

  /** @param key source of the samples */
  find(key: string): Float32Array | undefined {
    const samples = this.#samples.get(key);
    if (samples === undefined) return undefined;
    this.#samples.delete(key);
    this.#samples.set(key, samples);
    this.#hits++;
    return samples;
  }

  /** Samples that are larger than the whole cache are not kept, and drop no others. */
  keep(key: string, samples: Float32Array): void {
    this.drop(key);
    if (samples.byteLength > this.#maxBytes) return;
    this.#samples.set(key, samples);
    this.#bytes += samples.byteLength;
    for (const oldest of this.#samples.keys()) {
      if (this.#samples.size <= this.#maxEntries && this.#bytes <= this.#maxBytes) break;
      this.drop(oldest);
    }
  }

  drop(key: string): void {
    this.#bytes -= this.#samples.get(key)?.byteLength ?? 0;
    this.#samples.delete(key);
  }
}
