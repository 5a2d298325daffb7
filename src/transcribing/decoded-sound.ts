// Opens the rings that a decoder writes a sound into.
import { PcmRing } from '../audio/pcm-ring.js';

/** A sound that a decoder writes in mono. Its rings end with it. The caller of `open` closes them. */
export interface DecodedSound {
  readonly ring: PcmRing;
  /** The same sound once more, if it was asked for. Both must be read. */
  readonly copy: PcmRing | undefined;
  /**
   * Resolves when all of it is in the rings. Rejects with AUDIO_INVALID, TOO_LARGE, ABORTED, or what the
   * upload broke off with.
   */
  readonly done: Promise<void>;
}

const RING_SECONDS = 4;

/** The rings of a sound whose rate is known. */
export function openRings(rate: number, withCopy: boolean): readonly [PcmRing, PcmRing | undefined] {
  const open = () => PcmRing.open(rate, rate * RING_SECONDS);
  return [open(), withCopy ? open() : undefined];
}
