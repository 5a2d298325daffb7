// One sentence's place in the sound of its line, filled in while it is made.
import type { PcmRing } from '../audio/pcm-ring.js';
import type { KeptFrames } from '../rtp/kept-frames.js';
import type { SegmentEncoded } from '../rtp/line-messages.js';
import type { WordTime } from '../speech/engine.js';
import type { SpokenSegment } from './spoken-text.js';

/** A sentence whose place in the sound of its line is known once it is encoded. */
export interface PlacedSegment extends SpokenSegment {
  readonly place: { readonly startMs: number; readonly endMs: number } | undefined;
}

export class LineSegment implements PlacedSegment {
  readonly text: string;
  firstFrame: number | undefined;
  frames: number | undefined;
  soundMs: number | undefined;
  trimmedStartMs = 0;
  words: readonly WordTime[] = [];
  /** When its first payload was queued, in milliseconds of the monotonic clock. */
  queuedAtMs: number | undefined;
  /** Its place in the sound of the line, in milliseconds; undefined until it is encoded whole. */
  place: { readonly startMs: number; readonly endMs: number } | undefined;
  /** Told its payloads, where they were to be kept and all of them were made. */
  onKept: ((frames: KeptFrames) => void) | undefined;
  /** Undefined where its payloads were kept before. */
  readonly #ring: PcmRing | undefined;

  constructor(text: string, ring: PcmRing | undefined) {
    this.text = text;
    this.#ring = ring;
  }

  get madeMs(): number {
    return this.soundMs ?? this.#ringMs('written');
  }

  /** Made and not yet taken by the encoder. */
  get waitingMs(): number {
    if (this.#ring !== undefined) return this.#ringMs('readable');
    return this.place === undefined ? (this.soundMs ?? 0) : 0;
  }

  encoded(done: SegmentEncoded): void {
    this.firstFrame = done.firstFrame;
    this.frames = done.frames;
    this.trimmedStartMs = done.trimmedStartMs;
    this.place = { startMs: done.startMs, endMs: done.endMs };
  }

  #ringMs(count: 'written' | 'readable'): number {
    const ring = this.#ring;
    return ring === undefined ? 0 : ((ring.status()?.[count] ?? 0) * 1000) / ring.rate;
  }
}
