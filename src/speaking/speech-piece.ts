// The pieces that a speech pipeline makes sound of, one after another: sentences, recorded sound, tones and
// silence.
import type { PcmRing } from '../audio/pcm-ring.js';
import type { SpeechEnd, SpeechHint, SynthesisRequest } from '../engines/engine.js';
import type { ResolvedVoice } from '../engines/routing.js';
import { asParleyError, ParleyError } from '../errors.js';
import type { Normalized } from '../text/normalize/spoken-text.js';

/** Delivery of a piece, apart from its words. */
export interface Delivery {
  /** Factor of the voice's own pace, at the same pitch. */
  readonly speed?: number;
  /** Factor of the amplitude. */
  readonly gain?: number;
  /** Milliseconds of silence before it, instead of the usual pause. */
  readonly pauseBeforeMs?: number;
  /** Names of marks, reported when the piece begins to be heard. */
  readonly marksBefore?: readonly string[];
  /** Names of marks, reported when the piece was heard. */
  readonly marksAfter?: readonly string[];
}

/** A sentence as it was written, as events report it, and the words that are spoken for it. */
export interface WrittenSentence {
  readonly text: string;
  /** Absent if the sentence is spoken as it is written. */
  readonly spoken?: Normalized | undefined;
  readonly delivery?: Delivery | undefined;
  /** True if the piece before it is the first clause of the same sentence. */
  readonly continues?: boolean;
}

export interface SpokenSentence extends WrittenSentence {
  readonly voice: ResolvedVoice;
  /** For its words; only of kinds that the voice's engine follows. */
  readonly hints?: readonly SpeechHint[];
}

/** Sound that is not made from a text. */
export interface SoundPiece {
  /** Hz. */
  readonly sampleRate: number;
  /** Writes all samples in order. It keeps the rules of SpeechEngine.synthesize for the ring. */
  write(out: PcmRing, signal: AbortSignal, onRendered: SynthesisRequest['onRendered']): Promise<SpeechEnd>;
  readonly delivery?: Delivery | undefined;
}

/** The words that the engine gets for a sentence. */
export function wordsOf({ text, spoken }: WrittenSentence): string {
  return spoken?.text ?? text;
}

/** Decoded sound that an application plays as it is. */
export interface PlayedSound {
  /** Mono, in [-1, 1]. */
  readonly samples: Float32Array;
  /** Hz. */
  readonly sampleRate: number;
  /** Number of times that it is played; 1 if absent. Infinity plays it until it is interrupted. */
  readonly times?: number;
}

/** Hz: the rates that the resampler has filters for. */
const PLAYED_RATES: readonly number[] = [
  8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000,
];
const MOST_MINUTES = 10; // length of the samples; 115 MB of them at 48 kHz
const MOST_TIMES = 10_000;

/**
 * The samples are read while they are played and must not be changed before. Throws INVALID_FIELD, and
 * TOO_LARGE for more than ten minutes of samples.
 */
export function soundPiece({ samples, sampleRate, times = 1 }: PlayedSound): SoundPiece {
  if (!PLAYED_RATES.includes(sampleRate)) {
    throw invalid('sampleRate', `sampleRate must be one of ${PLAYED_RATES.join(', ')} Hz, not ${sampleRate}`);
  }
  if (!(samples instanceof Float32Array) || samples.length === 0) {
    throw invalid('samples', 'samples must be a Float32Array with at least one sample');
  }
  if (times !== Infinity && (!Number.isInteger(times) || times < 1 || times > MOST_TIMES)) {
    throw invalid('times', `times must be a whole number from 1 to ${MOST_TIMES}, not ${times}`);
  }
  const most = MOST_MINUTES * 60 * sampleRate;
  if (samples.length > most) {
    const message = `samples are ${samples.length}, more than the ${most} of ${MOST_MINUTES} minutes`;
    throw new ParleyError('TOO_LARGE', message, { field: 'samples' });
  }
  return { sampleRate, write: (out, signal) => writeTimes(samples, times, out, signal) };
}

function invalid(field: string, message: string): ParleyError {
  return new ParleyError('INVALID_FIELD', message, { field });
}

const TONE_RATE = 16_000; // Hz
const TONE_HZ = 1000; // the usual censor bleep
const TONE_LEVEL = 0.2; // about as loud as speech
const FADE_MS = 5; // without it the edges of a tone click

/** A tone that stands for a word. */
export function tonePiece(ms: number): SoundPiece {
  return { sampleRate: TONE_RATE, write: (out, signal) => writeTimes(tone(ms), 1, out, signal) };
}

function tone(ms: number): Float32Array {
  const length = Math.round((TONE_RATE * ms) / 1000);
  const fade = (TONE_RATE * FADE_MS) / 1000;
  return Float32Array.from({ length }, (_, index) => {
    const level = TONE_LEVEL * Math.min(1, (index + 1) / fade, (length - index) / fade);
    return level * Math.sin((2 * Math.PI * TONE_HZ * index) / TONE_RATE);
  });
}

/** A piece without samples: only the pause before it is heard. */
export const SILENCE: SoundPiece = {
  sampleRate: TONE_RATE,
  write: (out, signal) => writeTimes(new Float32Array(0), 1, out, signal),
};

async function writeTimes(
  samples: Float32Array,
  times: number,
  out: PcmRing,
  signal: AbortSignal,
): Promise<SpeechEnd> {
  try {
    for (let time = 0; time < times; time++) await out.writeAll(samples, signal);
    out.end();
    return { samples: times * samples.length, words: [] };
  } catch (error) {
    out.abort();
    throw asParleyError(error, 'ABORTED');
  }
}
