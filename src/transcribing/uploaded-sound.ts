// The bytes of a sound as they are uploaded, and their kind, which the first of them tell.
import {
  endOfTag,
  findSound,
  KIND_BYTES,
  MOST_JUNK,
  type OtherKind,
  type SoundKind,
  soundKind,
  TAG_HEAD_BYTES,
} from '../codecs/sound-kind.js';
import { ParleyError } from '../errors.js';

const MOST_TAG = 1 << 20; // bytes of a tag behind which the kind is looked for; behind longer ones is MP3
const PIECE_BYTES = 65_536;
const MOST_KEPT = 4 << 20; // bytes that are kept until it is clear who decodes them

export class UploadedSound {
  readonly kind: SoundKind | OtherKind | undefined;
  readonly #rest: Upload;
  /** The bytes read, from the first one on; undefined if the sound cannot begin again. */
  #kept: Uint8Array[] | undefined;
  #keptBytes: number;

  private constructor(head: Uint8Array, rest: Upload) {
    this.#rest = rest;
    const tag = endOfTag(head);
    const found = tag > MOST_TAG ? { kind: 'mp3' as const, start: 0 } : findSound(head.subarray(tag));
    this.kind = found?.kind;
    // Bytes before the first frame of MPEG audio are left out, with the tag.
    const start = found === undefined || found.start === 0 ? 0 : tag + found.start;
    this.#kept = [head.subarray(start)];
    this.#keptBytes = head.length - start;
  }

  /** Reads what it takes to tell the kind. Rejects as the upload does, and with ABORTED. */
  static async open(upload: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<UploadedSound> {
    const rest = new Upload(upload, signal);
    let head: Uint8Array = new Uint8Array(0);
    for (;;) {
      const tag = Math.min(head.length < TAG_HEAD_BYTES ? 0 : endOfTag(head), MOST_TAG);
      const isKnown = tag === MOST_TAG || soundKind(head.subarray(tag)) !== undefined;
      if (head.length >= tag + (isKnown ? KIND_BYTES : MOST_JUNK)) break;
      const bytes = await rest.next();
      if (bytes === undefined) break;
      head = Buffer.concat([head, bytes]);
    }
    return new UploadedSound(head, rest);
  }

  /** True while `pieces` can be called once more, and yields all bytes again. */
  get isKept(): boolean {
    return this.#kept !== undefined;
  }

  /** Its decoder can read it: the bytes are needed once only. */
  forget(): void {
    this.#kept = undefined;
  }

  /** All bytes, in pieces that own their memory. Rejects as `open` does. */
  async *pieces(): AsyncGenerator<Uint8Array> {
    for (const bytes of this.#kept ?? []) yield* cut(bytes);
    for (;;) {
      const bytes = await this.#rest.next();
      if (bytes === undefined) return;
      this.#keep(bytes);
      yield* cut(bytes);
    }
  }

  #keep(bytes: Uint8Array): void {
    this.#keptBytes += bytes.length;
    if (this.#keptBytes > MOST_KEPT) this.#kept = undefined;
    this.#kept?.push(bytes);
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
