// What every engine owes the ring it was given, in one place: an abort aborts
// it and is answered at once, a failure ends it with the error's code.
import type { PcmRing } from '../audio/pcm-ring.js';
import { asParleyError, isAborted, ParleyError } from '../errors.js';
import type { SpeechEnd } from './engine.js';

/**
 * Runs the work, which writes the sound and ends the ring itself when it is complete. After an abort the work's
 * own outcome is of no interest any more: it finds the ring aborted.
 */
export function keepRingContract(
  out: PcmRing,
  signal: AbortSignal,
  work: () => Promise<SpeechEnd>,
): Promise<SpeechEnd> {
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      out.abort();
      reject(new ParleyError('ABORTED', 'the synthesis was given up'));
    };
    if (signal.aborted) return giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    work()
      .finally(() => signal.removeEventListener('abort', giveUp))
      .then(resolve, (cause: unknown) => {
        const error = asParleyError(cause, 'ENGINE_FAILED');
        if (isAborted(error)) out.abort();
        else out.end(error.code);
        reject(error);
      });
  });
}
