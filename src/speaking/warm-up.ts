// The first text of a process pays for what every later one has for free: code
// not compiled yet, dictionaries not loaded. Better before the first caller.
import { ParleyError } from '../errors.js';
import type { SpeechRouting } from '../engines/routing.js';
import { spokenText } from './spoken-text.js';
import { sentencesOf } from './text-source.js';
import { VoicePlan } from './voice-plan.js';

const TEXT = 'Good morning, Dr. Smith. It costs 3.14 at 9 a.m., as you know! Is that all right?';
const ROUNDS = 20; // enough for the first tier of the compiler; measured 25 ms in all

/** Nothing where the server has no voice but those that requests name or bring. */
export function warmUpTexts(routing: SpeechRouting): void {
  try {
    speakWithoutSound(routing);
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'VOICE_UNKNOWN') throw error;
  }
}

/** Does to a text what is done on the main thread before an engine sees it, and after an interruption. */
function speakWithoutSound(routing: SpeechRouting): void {
  for (let round = 0; round < ROUNDS; round++) {
    const plan = new VoicePlan(routing, {});
    const sentences = sentencesOf(TEXT, { maxTextLength: TEXT.length, textIdleMs: 1 });
    for (const { text } of plan.whole(sentences)) {
      const segment = {
        text,
        firstFrame: 0,
        frames: 10,
        soundMs: 200,
        madeMs: 200,
        trimmedStartMs: 0,
        words: [],
      };
      spokenText([segment], 5, 20);
    }
  }
}
