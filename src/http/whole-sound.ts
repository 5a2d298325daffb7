// Sounds that are sent at once, when all of them is there: gathered within a
// budget of bytes that all replies share.
import { ParleyError } from '../errors.js';
import type { AudioOutcome } from './audio-replies.js';

export interface WholeLimits {
  /** Bytes of one sound. */
  readonly maxBytes: number;
  /** Bytes of all that are being gathered or sent. */
  readonly maxTotalBytes: number;
}

export class WholeSounds {
  readonly #limits: WholeLimits;
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

  #checkRoom(taken: number, more: number): void {
    const { maxBytes, maxTotalBytes } = this.#limits;
    if (taken + more > maxBytes) {
      const limit = `"stream" must not be false for a sound of more than ${maxBytes} bytes`;
      throw new ParleyError('INVALID_FIELD', limit, { field: 'stream' });
    }
    if (this.#held + more > maxTotalBytes) {
      throw new ParleyError('QUEUE_FULL', `${maxTotalBytes} bytes of whole sounds are being made already`);
    }
  }
}

/** The pieces of a whole file: the beginning of a stream gives way to one that states the length, where the format has one. */
export function wholeFile(bytes: Uint8Array, header: AudioOutcome['header']): readonly Uint8Array[] {
  return header === undefined ? [bytes] : [header.bytes, bytes.subarray(header.replaced)];
}
