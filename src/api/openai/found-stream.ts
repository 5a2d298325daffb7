// A sound that is there whole, in pieces: for answers that are made of pieces.
import type { Sound, SoundOutcome, SoundSource } from '../../speaking/sound.js';

// Of one event in base64 this is 16 KiB; readers in the wild give up lines above 64 KiB. A multiple of three needs no padding.
const PIECE_BYTES = 12 * 1024;

export class FoundStream implements SoundSource {
  readonly contentType: string;
  readonly cache = 'hit';
  readonly outcome: Promise<SoundOutcome | undefined>;
  readonly #bytes: Uint8Array;
  readonly #sentences: SoundOutcome['sentences'];
  #at = 0;

  constructor({ contentType, bytes, outcome }: Sound) {
    this.contentType = contentType;
    this.#bytes = bytes;
    this.#sentences = outcome.sentences;
    this.outcome = Promise.resolve(outcome);
  }

  placed(): SoundOutcome['sentences'] {
    return this.#sentences;
  }

  cancel(): void {
    this.#at = this.#bytes.byteLength;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    while (this.#at < this.#bytes.byteLength) {
      yield this.#bytes.subarray(this.#at, (this.#at += PIECE_BYTES));
    }
  }
}
