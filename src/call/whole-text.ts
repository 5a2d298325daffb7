// A text that is there whole, words or SSML, as pieces for a line.
import type { SpeechRouting } from '../speech/routing.js';
import { sentencesOfMarkup } from '../text/markup/marked-sentences.js';
import { readMarkup } from '../text/markup/read-markup.js';
import type { LinePiece } from './line-piece.js';
import { markedPieces } from './marked-pieces.js';
import { nothingToSay, sentencesOf, tooLong, type TextLimits } from './text-source.js';
import { VoicePlan, type ReadingWish } from './voice-plan.js';

export interface WholeTextWish extends ReadingWish {
  /** The text is SSML. */
  readonly markup?: boolean;
}

/**
 * Throws TEXT_TOO_LONG, TEXT_EMPTY, VOICE_UNKNOWN, LANGUAGE_UNAVAILABLE, and INVALID_FIELD with line and column for
 * SSML that is none.
 */
export function wholeText(
  text: string,
  wish: WholeTextWish,
  routing: SpeechRouting,
  limits: TextLimits,
): LinePiece[] {
  const plan = new VoicePlan(routing, wish, limits);
  if (wish.markup !== true) return plan.whole(sentencesOf(text, limits, wish.language));
  if (text.length > limits.maxTextLength) throw tooLong(limits.maxTextLength);
  const speech = sentencesOfMarkup(readMarkup(text), wish.language);
  const pieces = markedPieces(speech, text, (sentence, isOnly) => plan.marked(sentence, isOnly));
  if (pieces.length === 0) throw nothingToSay();
  return pieces;
}
