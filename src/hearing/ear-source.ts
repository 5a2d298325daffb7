// The source of the callers' sound: the ears of the media plane (src/media/ears.ts), or a script in tests.
import { Ears, WINDOW_SAMPLES } from '../media/ears.js';

export const SAMPLE_RATE = 16_000;
export const WINDOW_MS = (1000 * WINDOW_SAMPLES) / SAMPLE_RATE;
/** Level of digital silence, in dBFS. */
export const SILENCE_DB = -120;
/** Samples of one row of `take`: the caller's window, then ours. */
export const ROW_SAMPLES = 2 * WINDOW_SAMPLES;

export type EarSource = Pick<Ears, 'add' | 'remove' | 'take' | 'onWindows' | 'close'>;

/** The ears that the main thread opened, to be taken by this thread. */
export function openEars(handle: number): EarSource {
  return Ears.attach(handle);
}
