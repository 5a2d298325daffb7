// Sound as it comes, cut into pieces of a wanted length in time.
//
// The last piece must be known as the last one when it goes out, so a piece is
// cut only where at least one byte (or page) is there beyond it.
import { ParleyError } from '../../errors.js';
import type { SocketFormat } from './elevenlabs-format.js';

export interface SoundPiece {
  readonly bytes: Uint8Array;
  readonly ms: number;
  readonly last: boolean;
}

export interface SoundCutter {
  push(bytes: Uint8Array): void;
  /** Nothing follows. */
  end(): void;
  /** A piece of at most `ms` (one page of Ogg at least); undefined until as much is there, and after the last. */
  take(ms: number): SoundPiece | undefined;
}

export function openCutter({ bytesPerMs, sampleBytes }: SocketFormat): SoundCutter {
  return bytesPerMs === undefined ? new OggCutter() : new RateCutter(bytesPerMs, sampleBytes);
}

const NOTHING = new Uint8Array(0);

/** Where every byte is as long as every other. */
class RateCutter implements SoundCutter {
  readonly #bytesPerMs: number;
  readonly #sampleBytes: number;
  #waiting: Uint8Array = NOTHING;
  #state: 'open' | 'ended' | 'over' = 'open';

  constructor(bytesPerMs: number, sampleBytes: number) {
    this.#bytesPerMs = bytesPerMs;
    this.#sampleBytes = sampleBytes;
  }

  push(bytes: Uint8Array): void {
    this.#waiting = this.#waiting.length === 0 ? bytes : Buffer.concat([this.#waiting, bytes]);
  }

  end(): void {
    this.#state = 'ended';
  }

  take(ms: number): SoundPiece | undefined {
    const samples = Math.max(1, Math.floor((ms * this.#bytesPerMs) / this.#sampleBytes));
    const length = samples * this.#sampleBytes;
    if (this.#waiting.length > length) return this.#piece(length, false);
    if (this.#state !== 'ended') return undefined;
    this.#state = 'over';
    return this.#piece(this.#waiting.length, true);
  }

  #piece(length: number, last: boolean): SoundPiece {
    const bytes = this.#waiting.subarray(0, length);
    this.#waiting = this.#waiting.subarray(length);
    return { bytes, ms: length / this.#bytesPerMs, last };
  }
}

const PAGE_HEADER_BYTES = 27; // RFC 3533, section 6, without the table of segments
const GRANULES_PER_MS = 48; // of Opus, at every rate (RFC 7845, section 4)

/** Opus in Ogg, page by page: a page tells where it ends. */
class OggCutter implements SoundCutter {
  #waiting: Uint8Array = NOTHING;
  readonly #pages: { readonly bytes: Uint8Array; readonly ms: number }[] = [];
  /** Granule at which the pages so far end; those before the pre-skip are never heard. */
  #endGranule = 0;
  #state: 'open' | 'ended' | 'over' = 'open';

  push(bytes: Uint8Array): void {
    this.#waiting = Buffer.concat([this.#waiting, bytes]);
    for (let page = this.#nextPage(); page !== undefined; page = this.#nextPage()) {
      this.#pages.push({ bytes: page, ms: this.#lengthOf(page) });
    }
  }

  end(): void {
    this.#state = 'ended';
  }

  take(ms: number): SoundPiece | undefined {
    if (this.#state === 'over') return undefined;
    const ended = this.#state === 'ended';
    let count = 0;
    let totalMs = 0;
    for (const page of this.#pages) {
      if (totalMs > 0 && totalMs + page.ms > ms) break;
      totalMs += page.ms;
      count++;
    }
    const last = count === this.#pages.length;
    if (last && !ended) return undefined;
    if (last) this.#state = 'over';
    const bytes = Buffer.concat(this.#pages.splice(0, count).map((page) => page.bytes));
    return { bytes, ms: totalMs, last };
  }

  #nextPage(): Uint8Array | undefined {
    const waiting = this.#waiting;
    if (waiting.length < PAGE_HEADER_BYTES) return undefined;
    if (Buffer.from(waiting.subarray(0, 4)).toString('latin1') !== 'OggS') {
      throw new ParleyError('ENCODER_FAILED', 'the sound is no sequence of Ogg pages');
    }
    const segments = waiting[26] ?? 0;
    const table = waiting.subarray(PAGE_HEADER_BYTES, PAGE_HEADER_BYTES + segments);
    const length = PAGE_HEADER_BYTES + segments + table.reduce((sum, bytes) => sum + bytes, 0);
    if (table.length < segments || waiting.length < length) return undefined;
    this.#waiting = waiting.subarray(length);
    return waiting.subarray(0, length);
  }

  #lengthOf(page: Uint8Array): number {
    const view = Buffer.from(page.buffer, page.byteOffset, page.byteLength);
    const body = view.subarray(PAGE_HEADER_BYTES + (view[26] ?? 0));
    if (body.subarray(0, 8).toString('latin1') === 'OpusHead') {
      this.#endGranule = body.readUInt16LE(10); // what a decoder drops
      return 0;
    }
    const granule = Number(view.readBigInt64LE(6));
    const ms = Math.max(0, granule - this.#endGranule) / GRANULES_PER_MS;
    this.#endGranule = Math.max(this.#endGranule, granule);
    return ms;
  }
}
