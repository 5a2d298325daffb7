// Follows the captions of a call on the server: what the caller says, while it is said.
import { authorization, CallError, eventsOf, refusalOf } from './parley-http.js';

const ATTEMPTS = 8; // in a row, without an event between them
const FIRST_BACK_OFF_MS = 500; // doubled for each attempt
const LONGEST_BACK_OFF_MS = 8000;
const LOST = 'The captions of the caller were lost.';

/**
 * @typedef {object} HeardText
 * @property {number} number Number of the turn of the caller.
 * @property {string} text
 * @property {boolean} isFinal
 * @property {string | undefined} language BCP 47 tag.
 */

/**
 * @typedef {object} HearingListener
 * @property {(isRecognised: boolean) => void} started
 * @property {(text: HeardText) => void} heard
 */

/**
 * Resolves at the end of the call, or if the server recognises no callers. Rejects with CallError if the
 * captions cannot be had.
 * @param {string} server URL of the server's root.
 * @param {string} id The call's.
 * @param {string} key
 * @param {AbortSignal} signal
 * @param {HearingListener} on
 */
export async function followCaller(server, id, key, signal, on) {
  const url = new URL(`v1/calls/${encodeURIComponent(id)}/captions`, server);
  let after = '0';
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (attempt > 0) await pause(FIRST_BACK_OFF_MS * 2 ** (attempt - 1), signal);
    if (signal.aborted) return;
    url.searchParams.set('after', after);
    try {
      const answer = await fetch(url, { headers: authorization(key), signal });
      if (!answer.ok || answer.body === null) throw await refusalOf(answer);
      for await (const event of eventsOf(answer.body)) {
        attempt = 0;
        after = event.id;
        if (!take(event.data, on)) return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof CallError && error.status < 500) throw error;
    }
  }
  throw new CallError(LOST);
}

/** False: nothing follows. @param {any} event @param {HearingListener} on */
function take(event, on) {
  switch (event.type) {
    case 'captions.started':
      on.started(event.caller_recognised);
      return event.caller_recognised;
    case 'caption': {
      const { side, number, text, final: isFinal, language } = event;
      if (side === 'caller') on.heard({ number, text, isFinal, language: language ?? undefined });
      return true;
    }
    default:
      return event.type !== 'captions.ended';
  }
}

/** @param {number} ms @param {AbortSignal} signal @returns {Promise<void>} */
function pause(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.min(ms, LONGEST_BACK_OFF_MS));
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}
