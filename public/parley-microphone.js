// Asks the browser for the microphone, and says in words why it does not give it.
import { CallError } from './parley-http.js';

// A voice that comes out of a loudspeaker returns to the microphone. The echo canceller of the browser keeps
// the voice from interrupting itself.
const PROCESSING = { echoCancellation: true, noiseSuppression: true, autoGainControl: true };

export const INSECURE =
  'The browser gives the microphone only to pages over HTTPS and to pages of this machine (localhost).';
/** @type {Record<string, string>} */
export const REASONS = {
  NotAllowedError: 'The browser may not use the microphone. Allow it for this page and try again.',
  NotFoundError: 'There is no microphone. Connect one and try again.',
  NotReadableError: 'The microphone cannot be opened. Another program may use it.',
  OverconstrainedError: 'No microphone has the properties that the page asks for.',
};

/** Rejects with CallError of the code `MICROPHONE`. @param {MediaTrackConstraints} constraints */
export async function openMicrophone(constraints = {}) {
  const code = 'MICROPHONE';
  if (navigator.mediaDevices === undefined) throw new CallError(INSECURE, 0, { code });
  try {
    return await navigator.mediaDevices.getUserMedia({ audio: { ...PROCESSING, ...constraints } });
  } catch (cause) {
    const { name, message } = /** @type {DOMException} */ (cause);
    throw new CallError(REASONS[name] ?? `The microphone cannot be opened: ${message}`, 0, { cause, code });
  }
}

/** Releases the device. @param {MediaStream | undefined} stream */
export function closeMicrophone(stream) {
  for (const track of stream?.getTracks() ?? []) track.stop();
}
