// What a playout had queued, out of it: payloads and marks that go on elsewhere.
//
// One memory, as the addon wrote it (streamTake): kind (8 bits), track (32),
// mark or length of the payload (32), payload; little-endian.
const HEAD_BYTES = 9;
const KINDS = ['frame', 'mark', 'track-end', 'rest', 'sent'] as const;

export interface TakenEntry {
  /** `sent`: a frame that left just before the queue was taken. */
  readonly kind: (typeof KINDS)[number];
  readonly track: number;
  readonly mark: number;
  /** A view. */
  readonly payload: Uint8Array;
}

export const NOTHING_TAKEN = new Uint8Array(0);

export class TakenEntries {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isEmpty(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** The next one; undefined after the last. */
  next(): TakenEntry | undefined {
    if (this.isEmpty) return undefined;
    const kind = KINDS[this.#view.getUint8(this.#at)] ?? 'rest';
    const track = this.#view.getUint32(this.#at + 1, true);
    const value = this.#view.getUint32(this.#at + 5, true);
    const start = this.#at + HEAD_BYTES;
    const bytes = kind === 'frame' || kind === 'sent' ? value : 0;
    this.#at = start + bytes;
    return { kind, track, mark: value, payload: this.#bytes.subarray(start, this.#at) };
  }
}
