// A text that is there whole, words or SSML, as pieces for a line.
import type { SpeechRouting } from '../engines/routing.js';
import { type MarkedSentence, sentencesOfMarkup } from '../text/markup/marked-sentences.js';
import { readMarkup } from '../text/markup/read-markup.js';
import { type Sentence, SentenceStream } from '../text/sentences.js';
import type { LinePiece, LinePieces, SpokenSentence } from './line-piece.js';
import { markedPieces } from './marked-pieces.js';
import { nothingToSay, sentencesOf, tooLong, type TextLimits } from './text-source.js';
import { SLICE, type TextTurns, type Turn } from './text-turns.js';
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

/** The same, a slice at each turn. Rejects as `wholeText` throws, and as `turn` does. */
export async function longText(
  text: string,
  wish: WholeTextWish,
  routing: SpeechRouting,
  limits: TextLimits,
  turn: Turn,
): Promise<LinePiece[]> {
  const plan = new VoicePlan(routing, wish, limits);
  if (text.length > limits.maxTextLength) throw tooLong(limits.maxTextLength);
  if (wish.markup !== true)
    return await plan.wholeInTurns(await sentencesInTurns(text, turn, wish.language), turn);
  await turn();
  const speech = sentencesOfMarkup(readMarkup(text), wish.language);
  const isOnly = speech.sentences.length === 1;
  const spoken = new Map<MarkedSentence, () => SpokenSentence | undefined>();
  for (const sentence of speech.sentences) {
    if (sentence.kind === 'bleep') continue;
    await turn();
    spoken.set(
      sentence,
      settled(() => plan.marked(sentence, isOnly)),
    );
  }
  const pieces = markedPieces(speech, text, (sentence) => spoken.get(sentence)?.());
  if (pieces.length === 0) throw nothingToSay();
  return pieces;
}

/** What texts are read with, and whose turns the long ones take. */
export interface TextReader {
  readonly routing: SpeechRouting;
  readonly limits: TextLimits;
  readonly turns: TextTurns;
}

/** The pieces of a text of any length: a long one is read in turns. Rejects as `longText` and `turns` do. */
export async function readPieces(
  text: string,
  wish: WholeTextWish & { readonly client?: string },
  { routing, limits, turns }: TextReader,
  signal: AbortSignal,
): Promise<LinePiece[]> {
  if (text.length <= SLICE) return wholeText(text, wish, routing, limits);
  const work = (turn: Turn) => longText(text, wish, routing, limits, turn);
  return await turns.read(wish.client ?? '', text.length, work, signal);
}

/** As `wholeText`; of a long text without markup, throws only what can be known without reading it. */
export function checkText(
  text: string,
  wish: WholeTextWish,
  { routing, limits }: Pick<TextReader, 'routing' | 'limits'>,
): void {
  if (wish.markup === true || text.length <= SLICE) return void wholeText(text, wish, routing, limits);
  if (text.length > limits.maxTextLength) throw tooLong(limits.maxTextLength);
  if (!/[\p{L}\p{N}]/u.test(text)) throw nothingToSay();
  if (wish.voice !== undefined || wish.language !== undefined) routing.resolve(wish);
}

/** The pieces for a call. A long text without markup is read in turns, once the pieces are asked for. */
export function callPieces(
  text: string,
  wish: WholeTextWish & { readonly client: string },
  reader: TextReader,
): LinePieces | ((signal: AbortSignal) => LinePieces) {
  const { routing, limits } = reader;
  if (wish.markup === true || text.length <= SLICE) return wholeText(text, wish, routing, limits);
  checkText(text, wish, reader);
  return async function* inTurns(signal: AbortSignal) {
    yield* await readPieces(text, wish, reader, signal);
  };
}

/** Does the work now. What it throws is thrown by the function returned: only `markedPieces` knows its place. */
function settled<T>(work: () => T): () => T {
  try {
    const value = work();
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** The sentences of a text are the same however it is cut into tokens. */
async function sentencesInTurns(text: string, turn: Turn, language?: string): Promise<Sentence[]> {
  const stream = new SentenceStream({ language });
  const sentences: Sentence[] = [];
  for (let at = 0; at < text.length; at += SLICE) {
    await turn();
    sentences.push(...stream.push(text.slice(at, at + SLICE)));
  }
  sentences.push(...stream.end());
  if (sentences.length === 0) throw nothingToSay();
  return sentences;
}
