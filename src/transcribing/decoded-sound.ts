// Opens the rings that a decoder writes a sound into.
import { PcmRing } from '../audio/pcm-ring.js';
import { checkSoundRate } from '../codecs/sound-kind.js';
import { ParleyError } from '../errors.js';
import type { Time } from '../time.js';

/** A sound that a decoder writes in mono. Its rings end with it. The caller of `open` closes them. */
export interface DecodedSound {
  readonly ring: PcmRing;
  /** The same sound once more, if it was asked for. Both must be read. */
  readonly copy: PcmRing | undefined;
  /**
   * Channels of a file of which one was asked for, once `done` has resolved: 1 if it is mono, or if both are
   * the same. Else undefined.
   */
  readonly channels: () => number | undefined;
  /**
   * Resolves when all of it is in the rings. Rejects with AUDIO_INVALID, TOO_LARGE, ABORTED, or what the
   * upload broke off with.
   */
  readonly done: Promise<void>;
}

const RING_SECONDS = 4;

/** The rings of a sound whose rate is known. Throws AUDIO_INVALID for a rate that no sound has. */
export function openRings(rate: number, withCopy: boolean): readonly [PcmRing, PcmRing | undefined] {
  checkSoundRate(rate);
  const open = () => PcmRing.open(rate, rate * RING_SECONDS);
  return [open(), withCopy ? open() : undefined];
}

interface Progress {
  /** The rings, once they are there. */
  readonly rings: () => readonly PcmRing[];
  readonly stallMs: number;
  readonly time: Time;
  readonly onStall: (error: ParleyError) => void;
}

/**
 * Reports a decoder that writes nothing for `stallMs` although its rings have room. Returns the function that
 * ends the watch.
 */
export function watchProgress({ rings, stallMs, time, onStall }: Progress): () => void {
  const written = () => rings()[0]?.status()?.written ?? 0;
  // If a ring is full, the decoder waits for its reader.
  const isFull = () => rings().some((ring) => (ring.status()?.writable ?? 0) < ring.rate / 10);
  let before = written();
  const look = () => {
    if (!isFull() && written() === before) {
      const message = `the sound could not be decoded: nothing came within ${stallMs / 1000} s`;
      return onStall(new ParleyError('AUDIO_INVALID', message, { field: 'file' }));
    }
    before = written();
    cancel = time.after(stallMs, look);
  };
  let cancel = time.after(stallMs, look);
  return () => cancel();
}

/** The refusal of a file of more than two channels, if one of them is asked for. */
export function noSpeakers(count: number): ParleyError {
  const message = `the file has ${count} channels: speakers are told apart in a file of two`;
  return new ParleyError('AUDIO_INVALID', message);
}
