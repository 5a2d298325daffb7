// Decodes sound that comes with a request: into a voice reference for an engine, or into samples that are
// played.
import { hash } from 'node:crypto';
import type { VoiceReference } from '../engines/engine.js';
import { renderingKey } from '../engines/rendering-key.js';
import type { VoiceAbilities } from '../engines/routing.js';
import { audioBytes, type AudioSourceOptions } from './audio-source.js';
import { REFERENCE_RATE, type ReferenceAudio } from './reference-audio.js';

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

  constructor(options: ReferencesOptions) {
    this.#options = options;
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
    const samples = await this.#samplesOf(content, bytes, field, signal);
    return {
      kind: 'sample',
      hash: sampleHash(content, text, xVectorOnly),
      samples,
      rate: REFERENCE_RATE,
      text,
      xVectorOnly,
    };
  }

  async #samplesOf(
    content: string,
    bytes: Uint8Array,
    field: string,
    signal: AbortSignal,
  ): Promise<Float32Array> {
    const { audio, cache } = this.#options;
    const key = `file ${content}`;
    const known = cache.find(key);
    if (known !== undefined) return known;
    const samples = await audio.decode(bytes, field, signal);
    cache.keep(key, samples);
    return samples;
  }
}

/** A hash of everything that changes the sound of the voice. */
export function sampleHash(content: string, text?: string, xVectorOnly?: boolean): string {
  return renderingKey(['sample', content, text, xVectorOnly]);
}

interface PlayedSoundsOptions extends AudioSourceOptions {
  readonly audio: Pick<ReferenceAudio, 'decode'>;
}

/** Decodes sound files that are played in a call unchanged. */
export class PlayedSounds {
  readonly #options: PlayedSoundsOptions;

  constructor(options: PlayedSoundsOptions) {
    this.#options = options;
  }

  /**
   * Reads the file itself, or fetches it from its URL. Rejects with INVALID_FIELD, AUDIO_INVALID, TOO_LARGE,
   * QUEUE_FULL or ABORTED.
   * @param field request field that errors name
   */
  async read(source: string | Uint8Array, field: string, signal: AbortSignal) {
    const bytes = await audioBytes(source, this.#options, field, signal);
    const samples = await this.#options.audio.decode(bytes, field, signal, 'play');
    return { samples, sampleRate: REFERENCE_RATE };
  }
}

interface VoiceCacheFigures {
  readonly entries: number;
  readonly maxEntries: number;
  readonly hits: number;
}

/**
 * Keeps decoded samples of voices in memory; drops the least recently used first. One minute takes 5.5 MiB.
 */
export class VoiceCache {
  readonly #maxEntries: number;
  readonly #samples = new Map<string, Float32Array>(); // least recently used first
  #hits = 0;

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
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

  keep(key: string, samples: Float32Array): void {
    this.#samples.delete(key);
    this.#samples.set(key, samples);
    for (const oldest of this.#samples.keys()) {
      if (this.#samples.size <= this.#maxEntries) break;
      this.#samples.delete(oldest);
    }
  }

  drop(key: string): void {
    this.#samples.delete(key);
  }
}
