// From a sample of a voice, as a request names or holds it, to a voice that an
// engine can speak with.
import { hash } from 'node:crypto';
import { audioBytes, type AudioSourceOptions } from './audio-source.js';
import type { VoiceReference } from '../engines/engine.js';
import type { ReferenceAudio } from './reference-audio.js';
import { REFERENCE_RATE } from './reference-sound.js';
import type { VoiceAbilities } from '../engines/routing.js';
import { renderingKey } from '../engines/rendering-key.js';
import type { VoiceCache } from './voice-cache.js';

export interface SampleWish {
  /** The file itself, or a URL of it. */
  readonly source: string | Uint8Array;
  /** What is said in it. */
  readonly text?: string;
  readonly xVectorOnly?: boolean;
  /** BCP 47 tag that is to be spoken, where it is stated. */
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

  /** Rejects with CAPABILITY_MISSING and LANGUAGE_UNAVAILABLE before anything is looked at, INVALID_FIELD, AUDIO_INVALID, TOO_LARGE, QUEUE_FULL or ABORTED. */
  async reference(
    { source, text, xVectorOnly, language }: SampleWish,
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
      ...(text === undefined ? {} : { text }),
      ...(xVectorOnly === undefined ? {} : { xVectorOnly }),
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

/** Of everything that changes how the voice sounds. */
export function sampleHash(content: string, text?: string, xVectorOnly?: boolean): string {
  return renderingKey(['sample', content, text, xVectorOnly]);
}
