// Keeps the payloads of one segment at a time, from its first frame to its last,
// which may be put after the segment itself has ended.
import { FrameCollector, type KeptFrames } from './kept-frames.js';

const MAX_KEPT_MS = 60_000; // of one segment; a sentence that long is not asked for twice

/** `index` is the segment's own. */
export type KeptSizes = Omit<KeptFrames, 'packed'> & { readonly index: number };

export class SegmentKeeper {
  readonly #most: number;
  readonly #kept: (index: number, kept: KeptFrames) => void;
  #collector: FrameCollector | undefined;
  #sizes: KeptSizes | undefined;

  /** `kept` is told each segment that was kept whole. */
  constructor(frameMs: number, kept: (index: number, kept: KeptFrames) => void) {
    this.#most = Math.floor(MAX_KEPT_MS / frameMs);
    this.#kept = kept;
  }

  begin(): void {
    this.#collector = new FrameCollector(this.#most);
    this.#sizes = undefined;
  }

  /** The segment failed. */
  drop(): void {
    this.#collector = undefined;
  }

  frame(payload: Uint8Array): void {
    if (this.#collector === undefined) return;
    if (this.#collector.add(payload)) this.#tell(this.#collector);
    else this.drop();
  }

  /** Nothing of the segment follows but the frames that it still has coming. */
  ended(sizes: KeptSizes): void {
    this.#sizes = sizes;
    if (this.#collector !== undefined) this.#tell(this.#collector);
  }

  #tell(collector: FrameCollector): void {
    if (this.#sizes === undefined || collector.frames < this.#sizes.frames) return;
    this.drop();
    const { index, ...sizes } = this.#sizes;
    this.#kept(index, { ...sizes, packed: collector.pack() });
  }
}
