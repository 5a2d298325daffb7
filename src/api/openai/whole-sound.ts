// Sounds that are sent at once, when all of them is there: gathered within a
// budget of bytes that all replies share.
import { ParleyError } from '../../errors.js';
import type { SoundOutcome } from '../../speaking/sound.js';

export interface WholeLimits {
  /** Bytes of one sound. */
  readonly maxBytes: number;
  /** Bytes of all that are being gathered or sent. */
  readonly maxTotalBytes: number;
}

export class WholeSounds {
  readonly #limits: WholeLimits;
  /** Replies that send each sound from where it lies. */
  readonly #shared = new Map<Uint8Array, number>();
  #held = 0;

  constructor(limits: WholeLimits) {
    this.#limits = limits;
  }

  /** Bytes held now. */
  get held(): number {
    return this.#held;
  }

  /** The sound, in a buffer of its own; `letGo` gives its bytes back. Rejects as its chunks do. */
  async gather(
    first: IteratorResult<Uint8Array>,
    rest: AsyncIterator<Uint8Array>,
  ): Promise<{ readonly bytes: Uint8Array; readonly letGo: () => void }> {
    const chunks: Uint8Array[] = [];
    let taken = 0;
    const letGo = () => {
      this.#held -= taken;
      taken = 0;
    };
    try {
      for (let next = first; next.done !== true; next = await rest.next()) {
        this.#checkRoom(taken, next.value.byteLength);
        taken += next.value.byteLength;
        this.#held += next.value.byteLength;
        chunks.push(next.value);
      }
    } catch (error) {
      letGo();
      throw error;
    }
    return { bytes: Buffer.concat(chunks), letGo };
  }

  /**
   * Counts a sound that is sent from where it lies, once however many replies send it. The function returned, which
   * may be called again, gives its bytes back. Throws QUEUE_FULL; a sound is never refused if nothing else is held.
   */
  share(bytes: Uint8Array): () => void {
    const replies = this.#shared.get(bytes) ?? 0;
    if (replies === 0) {
      if (this.#held > 0) this.#checkTotal(bytes.byteLength);
      this.#held += bytes.byteLength;
    }
    this.#shared.set(bytes, replies + 1);
    let held = true;
    return () => {
      if (held) this.#unshare(bytes);
      held = false;
    };
  }

  #unshare(bytes: Uint8Array): void {
    const left = (this.#shared.get(bytes) ?? 1) - 1;
    if (left > 0) {
      this.#shared.set(bytes, left);
      return;
    }
    this.#shared.delete(bytes);
    this.#held -= bytes.byteLength;
  }

  #checkRoom(taken: number, more: number): void {
    const { maxBytes } = this.#limits;
    if (taken + more > maxBytes) {
      const limit = `"stream" must not be false for a sound of more than ${maxBytes} bytes`;
      throw new ParleyError('INVALID_FIELD', limit, { field: 'stream' });
    }
    this.#checkTotal(more);
  }

  #checkTotal(more: number): void {
    const { maxTotalBytes } = this.#limits;
    if (this.#held + more <= maxTotalBytes) return;
    throw new ParleyError(
      'QUEUE_FULL',
      `${maxTotalBytes} bytes of whole sounds are being made or sent already`,
    );
  }
}

/** The pieces of a whole file: the beginning of a stream gives way to one that states the length, where the format has one. */
export function wholeFile(bytes: Uint8Array, header: SoundOutcome['header']): readonly Uint8Array[] {
  return header === undefined ? [bytes] : [header.bytes, bytes.subarray(header.replaced)];
}
