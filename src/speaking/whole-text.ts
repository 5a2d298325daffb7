// Turns a whole text, plain or SSML, into pieces for a speech pipeline. A long text is read in turns
// (text-source.ts).
import type { SpeechRouting } from '../engines/routing.js';
import { ParleyError } from '../errors.js';
import {
  type MarkedBleep,
  type MarkedSentence,
  type MarkedSpeech,
  sentencesOfMarkup,
} from '../text/markup/marked-sentences.js';
import { PlaceFinder } from '../text/markup/markup-error.js';
import { readMarkup } from '../text/markup/read-markup.js';
import { type Delivery, SILENCE, tonePiece } from './speech-piece.js';
import type { SpeechPiece, SpeechPieces } from './sentence-run.js';
import type { TextSettings } from './speech-request.js';
import {
  atOnce,
  inTurns,
  nothingToSay,
  sentencesOf,
  SLICE,
  type TextLimits,
  type TextSteps,
  type TextTurns,
  tooLong,
  type Turn,
} from './text-source.js';
import { VoicePlan } from './voice-plan.js';

/**
 * Throws TEXT_TOO_LONG, TEXT_EMPTY, VOICE_UNKNOWN, LANGUAGE_UNAVAILABLE, and INVALID_FIELD with line and
 * column for invalid SSML.
 */
export function wholeText(...request: Parameters<typeof piecesOf>): SpeechPiece[] {
  return atOnce(piecesOf(...request));
}

/** The pieces of a whole text. Throws the errors of `wholeText`. */
export function* piecesOf(
  text: string,
  settings: TextSettings,
  routing: SpeechRouting,
  limits: TextLimits,
): TextSteps<SpeechPiece[]> {
  const plan = new VoicePlan(routing, settings, limits);
  const { markup = false, language, client } = settings;
  if (!markup) return yield* plan.whole(yield* sentencesOf(text, limits, settings));
  if (text.length > limits.maxTextLength) throw tooLong(limits.maxTextLength);
  yield;
  const tables = limits.tables?.layerFor(client);
  const marked = sentencesOfMarkup(readMarkup(text), language, tables);
  const pieces = yield* markedPieces(marked, text, plan);
  if (pieces.length === 0) throw nothingToSay();
  return pieces;
}

/** The parts that reading a text needs. A long text is read in `turns`. */
interface TextReader {
  readonly routing: SpeechRouting;
  readonly limits: TextLimits;
  readonly turns: TextTurns;
}

/** The pieces of a text of any length. Rejects as `wholeText` and `turns` do. */
export async function readPieces(
  text: string,
  settings: TextSettings,
  { routing, limits, turns }: TextReader,
  signal: AbortSignal,
): Promise<SpeechPiece[]> {
  if (text.length <= SLICE) return wholeText(text, settings, routing, limits);
  const work = (turn: Turn) => inTurns(piecesOf(text, settings, routing, limits), turn);
  return await turns.read(settings.client ?? '', text.length, work, signal);
}

/** Throws the errors of `wholeText`; for a long plain text only those that are known without reading it. */
export function checkText(
  text: string,
  settings: TextSettings,
  { routing, limits }: Pick<TextReader, 'routing' | 'limits'>,
): void {
  if (settings.markup === true || text.length <= SLICE)
    return void wholeText(text, settings, routing, limits);
  if (text.length > limits.maxTextLength) throw tooLong(limits.maxTextLength);
  if (!/[\p{L}\p{N}]/u.test(text)) throw nothingToSay();
  if (settings.voice !== undefined || settings.language !== undefined) routing.resolve(settings);
}

/** The pieces for a call. A long plain text is read in turns, and not before the pieces are requested. */
export function callPieces(
  text: string,
  settings: TextSettings,
  reader: TextReader,
): SpeechPieces | ((signal: AbortSignal) => SpeechPieces) {
  const { routing, limits } = reader;
  if (settings.markup === true || text.length <= SLICE) return wholeText(text, settings, routing, limits);
  checkText(text, settings, reader);
  return async function* inTurns(signal: AbortSignal) {
    yield* await readPieces(text, settings, reader, signal);
  };
}

/** The pieces of an SSML document; empty if nothing is heard. `source` is the document, for errors. */
function* markedPieces(
  { sentences, endPauseMs }: MarkedSpeech,
  source: string,
  plan: VoicePlan,
): TextSteps<SpeechPiece[]> {
  const pieces: SpeechPiece[] = [];
  const isOnly = sentences.length === 1;
  let skipped = NOTHING;
  for (const one of sentences) {
    yield;
    const spoken =
      one.kind === 'bleep' ? tonePiece(one.ms) : placed(one, source, () => plan.marked(one, isOnly));
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

/** The delivery of a piece. It takes over pauses and marks of skipped sentences before it. */
function deliveryOf(one: MarkedSentence | MarkedBleep, skipped: Delivery): Delivery {
  const { rate, gain } = one.style;
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

/** Adds the place in the document to errors about a sentence's voice or language. */
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
