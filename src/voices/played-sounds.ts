// From a file of sound, as a request names or holds it, to samples that are
// played in a call as they are.
import { audioBytes, type AudioSourceOptions } from './audio-source.js';
import type { ReferenceAudio } from './reference-audio.js';
import { REFERENCE_RATE } from './reference-sound.js';

export interface PlayedSoundsOptions extends AudioSourceOptions {
  readonly audio: Pick<ReferenceAudio, 'decode'>;
}

export class PlayedSounds {
  readonly #options: PlayedSoundsOptions;

  constructor(options: PlayedSoundsOptions) {
    this.#options = options;
  }

  /**
   * Of the file itself, or of a URL of it. Rejects with INVALID_FIELD, AUDIO_INVALID, TOO_LARGE, QUEUE_FULL or ABORTED.
   * @param field of the request, for what is wrong with it
   */
  async read(source: string | Uint8Array, field: string, signal: AbortSignal) {
    const bytes = await audioBytes(source, this.#options, field, signal);
    const samples = await this.#options.audio.decode(bytes, field, signal, 'play');
    return { samples, sampleRate: REFERENCE_RATE };
  }
}
