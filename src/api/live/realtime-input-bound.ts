// The most sound that a client of OpenAI's realtime events may leave uncommitted where it ends the turns
// itself, in conversations and in transcriptions.

/** Milliseconds. */
export const MOST_INPUT_MS = 600_000;
/** Why more is refused, or lost. */
export const FULL = `the input audio buffer has ${MOST_INPUT_MS / 60_000} minutes of sound`;
