// Limits of the sound that a client of OpenAI's realtime events commits itself, in conversations and in
// transcriptions.

/** The most that it may leave uncommitted, in milliseconds. */
export const MOST_INPUT_MS = 600_000;
/** Why more is refused, or lost. */
export const FULL = `the input audio buffer has ${MOST_INPUT_MS / 60_000} minutes of sound`;
/** The least that it may commit, in milliseconds. */
const LEAST_INPUT_MS = 100;
/** OpenAI's code of the refusal of less. */
export const EMPTY_COMMIT = 'input_audio_buffer_commit_empty';

/** Why so much sound cannot be committed, in OpenAI's words; undefined: it can. */
export function commitRefusal(lengthMs: number): string | undefined {
  const ms = lengthMs.toFixed(2); // a sum of fractions is not exact
  if (Number(ms) >= LEAST_INPUT_MS) return undefined;
  const least = `Expected at least ${LEAST_INPUT_MS}ms of audio, but buffer only has ${ms}ms of audio.`;
  return `Error committing input audio buffer: buffer too small. ${least}`;
}
