// Tells a chat server that is loading its model from one that cannot be used, and waits for it. llama.cpp
// answers 503 until then; other servers listen only when they are ready.
import { isFields } from '../config/fields.js';
import type { Time } from '../time.js';

/** From one question to the next one. */
export const LOADING_PAUSE_MS = 1000;
const UNAVAILABLE = 503;

/** `text` is the body of an answer. */
export function isLoading(status: number, text: string): boolean {
  if (status !== UNAVAILABLE) return false;
  try {
    const body: unknown = JSON.parse(text);
    const error = isFields(body) ? body['error'] : undefined;
    if (!isFields(error)) return false;
    return error['type'] === 'unavailable_error' || /\bloading\b/i.test(String(error['message']));
  } catch {
    return false;
  }
}

/** Resolves after LOADING_PAUSE_MS, or when `signal` aborts. */
export async function loadingPause(time: Time, signal?: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = () => {
      cancelTimer();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const cancelTimer = time.after(LOADING_PAUSE_MS, end);
    signal?.addEventListener('abort', end);
    if (signal?.aborted === true) end();
  });
}
