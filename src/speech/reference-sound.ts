// What becomes of a sample of a voice while it is decoded: one channel, one
// rate, and no more of it than a voice can be made of.
import { Resampler } from '../audio/resampler.js';
import { asParleyError, ParleyError } from '../errors.js';

/** Hz; what the models that take samples take. */
export const REFERENCE_RATE = 24_000;
export const MIN_SECONDS = 1;
export const MAX_SECONDS = 60;

const MAX_SAMPLES = REFERENCE_RATE * MAX_SECONDS;
const SILENCE = 10 ** (-50 / 20); // a peak below it is the noise of an open input

export class ReferenceSound {
  readonly #samples = new Float32Array(MAX_SAMPLES);
  #filled = 0;
  #resampler: Resampler | undefined;

  /** More of it, as many samples of every channel as the first has. Throws AUDIO_INVALID. */
  add(channels: readonly Float32Array[], rate: number): void {
    const count = channels[0]?.length ?? 0;
    if (count === 0) return;
    const resampler = this.#resamplerFor(rate);
    const mono = mixed(channels, count);
    const output = new Float32Array(resampler.maxOutput(count));
    this.#keep(output.subarray(0, resampler.process(mono, count, output)));
  }

  /** All of it. Throws AUDIO_INVALID where no voice can be made of that. */
  finish(): Float32Array<ArrayBuffer> {
    const resampler = this.#resampler;
    if (resampler !== undefined) {
      const rest = new Float32Array(resampler.maxFlush);
      this.#keep(rest.subarray(0, resampler.flush(rest)));
    }
    const seconds = this.#filled / REFERENCE_RATE;
    if (seconds < MIN_SECONDS) {
      throw invalid(`it lasts ${seconds.toFixed(2)} s; ${MIN_SECONDS} to ${MAX_SECONDS} s are taken`);
    }
    const samples = this.#samples.slice(0, this.#filled);
    if (samples.every((sample) => Math.abs(sample) < SILENCE)) throw invalid('it is silent');
    return samples;
  }

  #resamplerFor(rate: number): Resampler {
    this.#resampler ??= resamplerFrom(rate);
    if (this.#resampler.inputRate !== rate) throw invalid('its sample rate changes on the way');
    return this.#resampler;
  }

  #keep(output: Float32Array): void {
    if (this.#filled + output.length > MAX_SAMPLES) {
      throw invalid(`it is longer than ${MAX_SECONDS} s; ${MIN_SECONDS} to ${MAX_SECONDS} s are taken`);
    }
    for (let i = 0; i < output.length; i++) {
      // The filter overshoots a little where the sound is at its loudest.
      this.#samples[this.#filled + i] = Math.max(-1, Math.min(1, output[i] as number));
    }
    this.#filled += output.length;
  }
}

function resamplerFrom(rate: number): Resampler {
  try {
    return new Resampler(rate, REFERENCE_RATE);
  } catch (error) {
    throw invalid(
      `its sample rate of ${rate} Hz is not read: ${asParleyError(error, 'AUDIO_INVALID').message}`,
    );
  }
}

function mixed(channels: readonly Float32Array[], count: number): Float32Array {
  const mono = new Float32Array(count);
  for (const channel of channels) {
    for (let i = 0; i < count; i++) mono[i] = (mono[i] as number) + (channel[i] ?? 0) / channels.length;
  }
  if (!mono.every((sample) => Number.isFinite(sample))) throw invalid('some of its samples are no numbers');
  return mono;
}

function invalid(what: string): ParleyError {
  return new ParleyError('AUDIO_INVALID', `no voice can be made of this audio: ${what}`);
}
