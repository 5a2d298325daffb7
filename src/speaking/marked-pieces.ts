// The sentences of an SSML document as pieces for a line: each with its voice and
// words, how it is delivered, tones, and the silence behind the last.
import { ParleyError } from '../errors.js';
import { PlaceFinder } from '../text/markup/markup-error.js';
import type { MarkedBleep, MarkedSentence, MarkedSpeech } from '../text/markup/marked-sentences.js';
import { type Delivery, type LinePiece, SILENCE, type SpokenSentence, tonePiece } from './line-piece.js';

/** Undefined where nothing of the sentence is spoken. */
type SentenceOf = (sentence: MarkedSentence, isOnly: boolean) => SpokenSentence | undefined;

/** None where nothing is heard; `source` is the document, for errors. */
export function markedPieces(
  { sentences, endPauseMs }: MarkedSpeech,
  source: string,
  sentenceOf: SentenceOf,
): LinePiece[] {
  const pieces: LinePiece[] = [];
  const isOnly = sentences.length === 1;
  let skipped = NOTHING;
  for (const one of sentences) {
    const spoken =
      one.kind === 'bleep' ? tonePiece(one.ms) : placed(one, source, () => sentenceOf(one, isOnly));
    const delivery = deliveryOf(one, skipped);
    skipped = spoken === undefined ? delivery : NOTHING;
    if (spoken !== undefined) pieces.push(delivery === NOTHING ? spoken : { ...spoken, delivery });
  }
  if (pieces.length === 0) return [];
  const marksBefore = [...(skipped.marksBefore ?? []), ...(skipped.marksAfter ?? [])];
  if (endPauseMs > 0 || marksBefore.length > 0) {
    pieces.push({ ...SILENCE, delivery: { pauseBeforeMs: endPauseMs, marksBefore } });
  }
  return pieces;
}

const NOTHING: Delivery = {};

/** Of a piece; pauses and marks of what was not spoken before it are its own. */
function deliveryOf(one: MarkedSentence | MarkedBleep, skipped: Delivery): Delivery {
  const { rate, gain } = one.manner;
  const [before, marksAfter] = one.kind === 'bleep' ? [[], []] : [one.marksBefore, one.marksAfter];
  const marksBefore = [...(skipped.marksBefore ?? []), ...(skipped.marksAfter ?? []), ...before];
  const pauses = [skipped.pauseBeforeMs, one.pauseBeforeMs].filter((pause) => pause !== undefined);
  const delivery: Delivery = {
    ...(rate === 1 ? {} : { speed: rate }),
    ...(gain === 1 ? {} : { gain }),
    ...(pauses.length === 0 ? {} : { pauseBeforeMs: pauses.reduce((sum, pause) => sum + pause) }),
    ...(marksBefore.length === 0 ? {} : { marksBefore }),
    ...(marksAfter.length === 0 ? {} : { marksAfter }),
  };
  return Object.keys(delivery).length === 0 ? NOTHING : delivery;
}

/** What is wrong with a sentence's voice or language, with its place in the document. */
function placed<T>(sentence: MarkedSentence, source: string, speak: () => T): T {
  try {
    return speak();
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    const { line, column } = new PlaceFinder(source).next(sentence.sourceSpan(0, 1).start);
    const message = `line ${line}, column ${column} of the SSML in "text": ${error.message}`;
    throw new ParleyError(error.code, message, { field: 'text', cause: error });
  }
}
