// A rendering that is there whole, as a stream: what makes something else of
// sound takes one kind of source.
import type { AudioOutcome, AudioStream } from './audio-replies.js';

export interface WholeSound {
  readonly contentType: string;
  readonly bytes: Uint8Array;
  readonly outcome: AudioOutcome;
}

// Of one event in base64 this is 16 KiB: readers in the wild give up long lines. Whole samples of any width, and no padding.
const PIECE_BYTES = 12 * 1024;

export class FoundStream implements AudioStream {
  readonly contentType: string;
  readonly outcome: Promise<AudioOutcome>;
  readonly cache = 'hit';
  readonly #sound: WholeSound;

  constructor(sound: WholeSound) {
    this.contentType = sound.contentType;
    this.outcome = Promise.resolve(sound.outcome);
    this.#sound = sound;
  }

  placed(): AudioOutcome['sentences'] {
    return this.#sound.outcome.sentences;
  }

  cancel(): void {}

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    const { bytes } = this.#sound;
    for (let at = 0; at < bytes.byteLength; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
  }
}
