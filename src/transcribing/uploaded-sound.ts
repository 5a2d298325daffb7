// The bytes of a sound as they are uploaded, and their kind, which the first of them tell.
import {
  endOfTag,
  KIND_BYTES,
  type OtherKind,
  type SoundKind,
  soundKind,
  TAG_HEAD_BYTES,
} from '../codecs/sound-kind.js';
import { ParleyError } from '../errors.js';

const MOST_TAG = 1 << 20; // bytes of a tag behind which the kind is looked for; behind longer ones is MP3
const PIECE_BYTES = 65_536;

export class UploadedSound {
  readonly kind: SoundKind | OtherKind | undefined;
  readonly #head: Uint8Array;
  readonly #rest: Upload;

  private constructor(head: Uint8Array, rest: Upload) {
    this.#head = head;
    this.#rest = rest;
    const tag = endOfTag(head);
    this.kind = tag > MOST_TAG ? 'mp3' : soundKind(head.subarray(tag));
  }

  /** Reads what it takes to tell the kind. Rejects as the upload does, and with ABORTED. */
  static async open(upload: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<UploadedSound> {
    const rest = new Upload(upload, signal);
    let head: Uint8Array = new Uint8Array(0);
    for (;;) {
      const tag = head.length < TAG_HEAD_BYTES ? 0 : endOfTag(head);
      if (head.length >= KIND_BYTES + Math.min(tag, MOST_TAG)) break;
      const bytes = await rest.next();
      if (bytes === undefined) break;
      head = Buffer.concat([head, bytes]);
    }
    return new UploadedSound(head, rest);
  }

  /** All bytes, in pieces that own their memory. Rejects as `open` does. */
  async *pieces(): AsyncGenerator<Uint8Array> {
    yield* cut(this.#head);
    for (;;) {
      const bytes = await this.#rest.next();
      if (bytes === undefined) return;
      yield* cut(bytes);
    }
  }
}

/** An upload that may stall: the signal ends the wait for it. */
class Upload {
  readonly #bytes: AsyncIterator<Uint8Array>;
  readonly #aborted: Promise<never>;

  constructor(upload: AsyncIterable<Uint8Array>, signal: AbortSignal) {
    this.#bytes = upload[Symbol.asyncIterator]();
    this.#aborted = new Promise((_, reject) => {
      const giveUp = () => reject(new ParleyError('ABORTED', 'the sound is not wanted any more'));
      signal.addEventListener('abort', giveUp, { once: true });
      if (signal.aborted) giveUp();
    });
    this.#aborted.catch(() => undefined); // `next` awaits it
  }

  /** Undefined at the end. */
  async next(): Promise<Uint8Array | undefined> {
    const { value, done } = await Promise.race([this.#bytes.next(), this.#aborted]);
    return done === true ? undefined : value;
  }
}

function* cut(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES)
    yield Uint8Array.from(bytes.subarray(at, at + PIECE_BYTES));
}
