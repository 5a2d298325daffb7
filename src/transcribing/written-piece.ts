// Writes the text of a transcribed piece with figures. The words of one figure become one word with the time
// of all: "four two oh seven" is 4207. The piece keeps its words as they were heard.
import { type Rewriting, writtenForm } from '../text/inverse/inverse.js';
import type { TimedText } from './timed-text.js';
import type { TranscribedPiece } from './transcriber.js';

type TimedWord = TimedText['words'][number];

/** `stated`: the language of a piece in which none was found. */
export function writtenPiece(piece: TranscribedPiece, stated: string | undefined): TranscribedPiece {
  const language = piece.language ?? stated;
  if (language === undefined) return piece;
  const { text, rewritings } = writtenForm(piece.text, language);
  if (rewritings.length === 0) return piece;
  return { ...piece, text, words: placed(piece.words, rewritings), heard: piece };
}

/** The words with their places in the written text. */
function placed(words: readonly TimedWord[], rewritings: readonly Rewriting[]): TimedWord[] {
  const result: TimedWord[] = [];
  let moved = 0; // units that rewritings before have added
  let next = 0;
  let joined: Rewriting | undefined;
  for (const word of words) {
    for (let one = rewritings[next]; one !== undefined && one.end <= word.start; one = rewritings[++next]) {
      moved += one.written.length - (one.end - one.start);
    }
    const one = rewritings[next];
    if (one === undefined || word.end <= one.start) {
      result.push({ ...word, start: word.start + moved, end: word.end + moved });
      continue;
    }
    const last = result.at(-1);
    if (last !== undefined && joined === one) {
      result[result.length - 1] = { ...last, endSeconds: word.endSeconds };
    } else {
      const start = Math.min(word.start, one.start) + moved;
      const after = Math.max(0, word.end - one.end);
      result.push({ ...word, start, end: one.start + moved + one.written.length + after });
    }
    joined = one;
  }
  return result;
}
