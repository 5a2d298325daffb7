// Sound that an application brings, as a piece of an utterance: judged, and
// written into the line's ring as often as it is to be heard.
import type { PcmRing } from '../audio/pcm-ring.js';
import { asParleyError, ParleyError } from '../errors.js';
import type { SpeechEnd } from '../engines/engine.js';
import type { PlayedSound } from './phone-calls.js';
import type { SoundPiece } from '../speaking/line-piece.js';

/** Hz: what the resampler has filters for. */
const RATES: readonly number[] = [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000];
const MOST_MINUTES = 10; // of samples; 115 MB of them at 48 kHz
const MOST_TIMES = 10_000;

function invalid(field: string, message: string): ParleyError {
  return new ParleyError('INVALID_FIELD', message, { field });
}

/**
 * The samples are read while they are played and must not be changed before. Throws INVALID_FIELD, and TOO_LARGE for
 * more than ten minutes of samples.
 */
export function soundPiece({ samples, sampleRate, times = 1 }: PlayedSound): SoundPiece {
  if (!RATES.includes(sampleRate)) {
    throw invalid('sampleRate', `sampleRate must be one of ${RATES.join(', ')} Hz, not ${sampleRate}`);
  }
  if (!(samples instanceof Float32Array) || samples.length === 0) {
    throw invalid('samples', 'samples must be a Float32Array with at least one sample');
  }
  if (!Number.isInteger(times) || times < 1 || times > MOST_TIMES) {
    throw invalid('times', `times must be a whole number from 1 to ${MOST_TIMES}, not ${times}`);
  }
  const most = MOST_MINUTES * 60 * sampleRate;
  if (samples.length > most) {
    const message = `samples are ${samples.length}, more than the ${most} of ${MOST_MINUTES} minutes`;
    throw new ParleyError('TOO_LARGE', message, { field: 'samples' });
  }
  return { sampleRate, write: (out, signal) => writeTimes(samples, times, out, signal) };
}

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
