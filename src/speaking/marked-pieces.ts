// The sentences of an SSML document as pieces for a line: each with its voice and
// words, how it is delivered, tones, and the silence behind the last.
import type { PcmRing } from '../audio/pcm-ring.js';
import { asParleyError, ParleyError } from '../errors.js';
import type { SpeechEnd } from '../engines/engine.js';
import { PlaceFinder } from '../text/markup/markup-error.js';
import type { MarkedBleep, MarkedSentence, MarkedSpeech } from '../text/markup/marked-sentences.js';
import type { Delivery, LinePiece, SoundPiece, SpokenSentence } from './line-piece.js';

/** Undefined where nothing of the sentence is spoken. */
type SentenceOf = (sentence: MarkedSentence, isOnly: boolean) => SpokenSentence | undefined;

const TONE_RATE = 16_000; // Hz
const TONE_HZ = 1000; // the usual one
const TONE_LEVEL = 0.2; // about as loud as speech
const FADE_MS = 5; // a tone that begins at once clicks

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
      one.kind === 'bleep' ? bleepPiece(one) : placed(one, source, () => sentenceOf(one, isOnly));
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

function bleepPiece({ ms }: MarkedBleep): SoundPiece {
  return { sampleRate: TONE_RATE, write: (out, signal) => writeAll(tone(ms), out, signal) };
}

function tone(ms: number): Float32Array {
  const length = Math.round((TONE_RATE * ms) / 1000);
  const fade = (TONE_RATE * FADE_MS) / 1000;
  return Float32Array.from({ length }, (_, index) => {
    const level = TONE_LEVEL * Math.min(1, (index + 1) / fade, (length - index) / fade);
    return level * Math.sin((2 * Math.PI * TONE_HZ * index) / TONE_RATE);
  });
}

/** Has no sound of its own: what is heard of it is the pause before it. */
const SILENCE: SoundPiece = {
  sampleRate: TONE_RATE,
  write: (out, signal) => writeAll(new Float32Array(0), out, signal),
};

async function writeAll(samples: Float32Array, out: PcmRing, signal: AbortSignal): Promise<SpeechEnd> {
  try {
    await out.writeAll(samples, signal);
    out.end();
    return { samples: samples.length, words: [] };
  } catch (error) {
    out.abort();
    throw asParleyError(error, 'ABORTED');
  }
}
