// The bytes of a sound as they are uploaded, and their kind, which the first of them tell.
import {
  endOfTag,
  KIND_BYTES,
  type OtherKind,
  type SoundKind,
  soundKind,
  TAG_HEAD_BYTES,
} from '../codecs/sound-kind.js';

const MOST_TAG = 1 << 20; // bytes of a tag behind which the kind is looked for; behind longer ones is MP3
const PIECE_BYTES = 65_536;

export class UploadedSound {
  readonly kind: SoundKind | OtherKind | undefined;
  readonly #head: Uint8Array;
  readonly #rest: AsyncIterator<Uint8Array>;

  private constructor(head: Uint8Array, rest: AsyncIterator<Uint8Array>) {
    this.#head = head;
    this.#rest = rest;
    const tag = endOfTag(head);
    this.kind = tag > MOST_TAG ? 'mp3' : soundKind(head.subarray(tag));
  }

  /** Reads what it takes to tell the kind. Rejects as the upload does. */
  static async open(upload: AsyncIterable<Uint8Array>): Promise<UploadedSound> {
    const rest = upload[Symbol.asyncIterator]();
    let head: Uint8Array = new Uint8Array(0);
    for (;;) {
      const tag = head.length < TAG_HEAD_BYTES ? 0 : endOfTag(head);
      if (head.length >= KIND_BYTES + Math.min(tag, MOST_TAG)) break;
      const { value, done } = await rest.next();
      if (done === true) break;
      head = Buffer.concat([head, value as Uint8Array]);
    }
    return new UploadedSound(head, rest);
  }

  /** All bytes, in pieces that own their memory. */
  async *pieces(): AsyncGenerator<Uint8Array> {
    yield* cut(this.#head);
    for (;;) {
      const { value, done } = await this.#rest.next();
      if (done === true) return;
      yield* cut(value as Uint8Array);
    }
  }
}

function* cut(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES)
    yield Uint8Array.from(bytes.subarray(at, at + PIECE_BYTES));
}
